// Binds signature and engine of fused attention on CUDA, whole tensors in one launch. No arithmetic and no loop order here.
#include "attention/engines/mma/mma.h"
#include "common/declared_arguments.h"
#include "variants/score/score_function.h"

namespace gyre::attention {

class AttentionCudaGenerator : public Halide::Generator<AttentionCudaGenerator> {
public:
    // Variant.
    GeneratorParam<bool> general{"general", false};
    GeneratorParam<int> head_dim{"head_dim", 64, 16, 256};
    GeneratorParam<bool> padded{"padded", false};
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::BFloat(16)};
    GeneratorParam<bool> as_stored{"as_stored", true};    // as all are here: others have rotated keys and values before
    GeneratorParam<bool> paged{"paged", false};           // from pages
    GeneratorParam<bool> partial{"partial", false};       // of a part of the keys, to be merged
    GeneratorParam<bool> warpgroups{"warpgroups", false}; // for compute capability 9.0a
    GeneratorParam<bool> dropout{"dropout", false};       // weights are dropped
    GeneratorParam<std::string> score{"score", ""};       // the score function compiled with this file
    GeneratorParam<std::string> facts{"facts", ""};
    GeneratorParam<std::string> device_code{"device_code", ""}; // where to write the CUDA C++

    // Knobs.
    GeneratorParam<int> warps{"warps", 0, 0, 16}, key_block{"key_block", 0, 0, 256}; // 0: what suits the variant
    GeneratorParam<int> row_tiles{"row_tiles", 0, 0, 2};
    GeneratorParam<int> stages{"stages", 2, 2, 4};
    GeneratorParam<int> copying{"copying", -1, -1, 4}; // -1: likewise
    GeneratorParam<int> blocks{"blocks", 0, 0, 8};     // 0: likewise

    DeclaredArguments arguments;
#include "attention_cuda_arguments.inc"

    void configure() {
        _halide_user_assert(!padded && head_dim % 16 == 0 && (!in_f32() || head_dim <= 128))
            << "no kernel for CUDA is padded, of head sizes that are no multiple of 16, or of f32 and more than 128\n";
        _halide_user_assert(as_stored) << "no kernel for CUDA rotates keys or values on the way\n";
        _halide_user_assert(row_tiles < 2 || !(general || paged || partial || in_f32()))
            << "two tiles of rows a warp are of plain kernels for 16 bits\n";
        _halide_user_assert(!paged || !(partial || general))
            << "whether keys are in pages is the call's choice in partial and general kernels\n";
        const bool scored = !score.value().empty();
        _halide_user_assert(score.value() == compiled_score_name())
            << "score=" << score.value() << ": this generator was compiled with score=" << compiled_score_name()
            << "\n";
        _halide_user_assert((general && !partial) || !(dropout || scored))
            << "dropout and score functions need general=true, and no parts of keys\n";
        _halide_user_assert(!dropout || !scored) << "dropout=true with score=" << score.value() << "\n";
        arguments.declare(*this, {{"partial", partial}, {"dropout", dropout}, {"score", scored}}, {{"dtype", dtype}});
    }

    void generate() {
        Mma engine({head_dim, dtype, general, paged, partial, warpgroups, device_code},
                   {warps, row_tiles, key_block, stages, copying, blocks});
        engine.define(bind(), out, lse);
        engine.schedule();
        engine.lower({*this, *k, *v, keys, {}});
        Facts known = facts_of(engine);
        known.emplace_back("most_pairs", engine.most_pairs());
        if (score_inputs) known.emplace_back("score_inputs", score_inputs->description());
        publish_facts(*this, facts, known);
    }

private:
    bool in_f32() const { return dtype.value() == Halide::Float(32); }

    CudaInputs bind() {
        bind_shapes();
        CudaInputs in;
        in.q = q;
        in.k = k;
        in.v = v;
        in.sequences = {q_bounds,
                        k_bounds,
                        packed_q,
                        packed_k,
                        sequences,
                        Halide::select(packed_q, sequences, 1),
                        key_counts,
                        has_key_counts,
                        q.dim(2).extent(),
                        keys,
                        bottom_right,
                        left,
                        right,
                        group,
                        partial,
                        parts,
                        q.dim(3).extent()};
        in.key_heads = k.dim(1).extent();
        in.key_tokens = k.dim(2).extent();
        in.page_table = page_table;
        in.page_bits = page_bits;
        in.pages = k.dim(3).extent();
        in.most_pages = page_table.dim(0).extent();
        in.scoring = {softcap,       alibi,    sinks,   has_alibi, has_sinks, has_f32_bias,      has_f16_bias,
                      has_bf16_bias, bias_f32, bias_16, mask,      has_mask,  q.dim(2).extent(), keys};
        in.first_entry = first_entry;
        if (dropout)
            in.dropout = {dropout_threshold, dropout_keep_scale, dropout_seed_low, dropout_seed_high, dropout_offset};
        if (score_inputs)
            in.scoring.score = [this](const ScorePoint &point, const ScoreInputs::Part &part) {
                score_inputs->bind(part);
                return compiled_score(point, *score_inputs);
            };
        in.has_pages = has_pages;
        in.out_stride = out.dim(2).stride();
        in.scale = scale;
        in.sign = sign;
        in.angles = {rope_frequencies,         rope_axis,       rope_cos,  rope_sin,
                     rope_cos.dim(1).extent(), rope_has_tables, rope_scale};
        in.value_angles = {value_frequencies,         value_axis,       value_cos,  value_sin,
                           value_cos.dim(1).extent(), value_has_tables, value_scale};
        in.rope = {rope_pairs, rope_interleaved};
        in.value_rope = {value_pairs, value_interleaved};
        in.q_positions = {q_positions, has_q_positions, q_positions.dim(2).extent()};
        return in;
    }

    void bind_shapes() {
        for (auto *t : {&q, &k, &v}) {
            t->dim(0).set_bounds(0, head_dim);
            for (int n = 1; n < 4; n++) t->dim(n).set_min(0);
        }
        out.dim(0).set_bounds(0, head_dim);
        for (int n = 1; n < 4; n++) out.dim(n).set_min(0);
        for (int n = 0; n < 3; n++) {
            lse.dim(n).set_min(0);
            q_positions.dim(n).set_min(0);
        }
        q_positions.dim(0).set_stride(Halide::Expr()); // words of 64-bit positions
        for (auto *t : {&rope_cos, &rope_sin, &value_cos, &value_sin})
            for (int n = 0; n < 2; n++) t->dim(n).set_min(0);
        for (auto *t : {&rope_frequencies, &value_frequencies}) t->dim(0).set_min(0);
        for (auto *t : {&rope_axis, &value_axis}) t->dim(0).set_min(0);
        for (auto *t : {&q_bounds, &k_bounds, &key_counts}) t->dim(0).set_min(0);
        for (auto *t : {&alibi, &sinks}) t->dim(0).set_min(0);
        const auto take_any_strides = [](auto &t) {
            for (int n = 0; n < 4; n++) t.dim(n).set_min(0);
            t.dim(0).set_stride(Halide::Expr());
        };
        take_any_strides(bias_f32);
        take_any_strides(bias_16);
        take_any_strides(mask);
        for (int n = 0; n < 2; n++) page_table.dim(n).set_min(0);
    }
};

} // namespace gyre::attention

HALIDE_REGISTER_GENERATOR(gyre::attention::AttentionCudaGenerator, attention_cuda)
