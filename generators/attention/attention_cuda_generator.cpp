// Binds signature, algorithm and schedule of fused attention on CUDA, whole tensors in one launch. No arithmetic and no loop
// order here.
#include "attention/engines/mma/schedule.h"
#include "common/declared_arguments.h"
#include "common/facts.h"
#include "passes/cuda/lower.h"
#include "passes/cuda/warp_nest.h"

namespace gyre::attention {

class AttentionCudaGenerator : public Halide::Generator<AttentionCudaGenerator> {
public:
    // Variant.
    GeneratorParam<bool> general{"general", false};
    GeneratorParam<int> head_dim{"head_dim", 64, 16, 256};
    GeneratorParam<bool> padded{"padded", false};
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::BFloat(16)};
    GeneratorParam<bool> as_stored{"as_stored", false}; // keys and values are copied as they are
    GeneratorParam<bool> paged{"paged", false};         // from pages
    GeneratorParam<bool> partial{"partial", false};     // of a part of the keys, to be merged
    GeneratorParam<std::string> facts{"facts", ""};
    GeneratorParam<std::string> device_code{"device_code", ""}; // where to write the CUDA C++

    // Knobs.
    GeneratorParam<int> warps{"warps", 0, 0, 16}, key_block{"key_block", 0, 0, 256}; // 0: what suits the variant
    GeneratorParam<int> stages{"stages", 2, 2, 4};

    DeclaredArguments arguments;
#include "attention_cuda_arguments.inc"

    void configure() {
        _halide_user_assert(!padded && head_dim % 16 == 0 && (!in_f32() || head_dim <= 128))
            << "no kernel for CUDA is padded, of head sizes that are no multiple of 16, or of f32 and more than 128\n";
        _halide_user_assert(as_stored || !(paged || partial))
            << "keys in pages of plain kernels, and in parts, are copied as they are\n";
        _halide_user_assert(!partial || !(paged || general)) << "no general kernel is partial\n";
        arguments.declare(*this, {{"partial", partial}}, {{"dtype", dtype}});
    }

    void generate() {
        const CudaSizes sizes = choose_sizes();
        CudaInputs in;
        in.q = q;
        in.k = k;
        in.v = v;
        in.sequences = {
            q_bounds,   k_bounds,       packed_q,          packed_k, sequences,        select(packed_q, sequences, 1),
            key_counts, has_key_counts, q.dim(2).extent(), keys,     bottom_right,     left,
            right,      group,          partial,           parts,    q.dim(3).extent()};
        in.key_heads = k.dim(1).extent();
        in.key_tokens = k.dim(2).extent();
        in.page_table = page_table;
        in.page_bits = page_bits;
        in.pages = k.dim(3).extent();
        in.most_pages = page_table.dim(0).extent();
        in.scoring = {softcap,       alibi,    sinks,   has_alibi, has_sinks, has_f32_bias,      has_f16_bias,
                      has_bf16_bias, bias_f32, bias_16, mask,      has_mask,  q.dim(2).extent(), keys};
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
        in.key_angles = key_angles;
        in.value_key_angles = value_key_angles;
        in.key_pairs = key_pairs;
        in.value_pairs = value_key_pairs;
        in.angles_by_token = angles_by_token;

        for (auto *t : {&q, &k, &v}) {
            t->dim(0).set_bounds(0, head_dim);
            for (int n = 1; n < 4; n++) t->dim(n).set_min(0);
        }
        out.dim(0).set_bounds(0, head_dim);
        for (int n = 1; n < 4; n++) out.dim(n).set_min(0);
        for (int n = 0; n < 3; n++) lse.dim(n).set_min(0), q_positions.dim(n).set_min(0);
        q_positions.dim(0).set_stride(Halide::Expr()); // words of 64-bit positions
        for (auto *t : {&key_angles, &value_key_angles})
            for (int n = 0; n < 4; n++) t->dim(n).set_min(0);
        for (auto *t : {&rope_cos, &rope_sin, &value_cos, &value_sin}) t->dim(0).set_min(0), t->dim(1).set_min(0);
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

        CudaStages s = cuda_algorithm(in, sizes, out, lse, dtype);
        schedule_cuda(s, {stages});
        const int most_pairs = head_dim / 2;
        cuda::Lowering lowering;
        lowering.device_code = device_code;
        for (const char *of : {"rope", "value"})
            for (const char *what : {"_frequencies", "_axis"}) lowering.by_value[std::string(of) + what] = most_pairs;
        lowering.blocks_at_once = head_dim <= 64 && as_stored && !general && !partial && !paged && !in_f32() ? 2 : 0;
        if (as_stored) lowering.aligned = {"k", "v"};
        lowering.last_first = true; // causal tiles that see the most keys
        lowering.ranges["blocks"] = {s.tile.seen.name(), 0, 1};
        cuda::lower_to_cuda(*this, lowering);
        Facts known{{"row_tile", cuda::tile_rows},
                    {"task_rows", sizes.query_rows},
                    {"key_block", sizes.key_block},
                    {"most_pairs", most_pairs}};
        if (!in_f32()) known.emplace_back("operands", dtype.value().is_bfloat() ? "bf16" : "f16");
        publish_facts(*this, facts, known);
    }

private:
    bool in_f32() const { return dtype.value() == Halide::Float(32); }

    /// Few queries: a warp a block of threads, several of which share a multiprocessor. Large heads, and f32: what registers, and 99 KB
    /// of shared memory, hold.
    CudaSizes choose_sizes() const {
        const bool large = head_dim > 128, small_block = large || in_f32();
        const int own_block = key_block ? int(key_block)
                                        : (partial ? 32 : 64) / (large && !(as_stored || partial) ? 4
                                                                 : small_block                    ? 2
                                                                                                  : 1);
        int own_warps = warps ? int(warps) : partial ? 1 : small_block ? 4 : 8;
        // Whole warps share the copies of a block evenly.
        const int bytes = dtype.value().bytes(), copied = 16 / bytes * 32; // numbers, by a warp at once
        if (!warps)
            while (own_block * head_dim / copied % own_warps != 0) own_warps--;
        return {head_dim, head_dim, own_warps * cuda::tile_rows, own_block, bytes, as_stored, paged, general, partial};
    }
};

} // namespace gyre::attention

HALIDE_REGISTER_GENERATOR(gyre::attention::AttentionCudaGenerator, attention_cuda)
