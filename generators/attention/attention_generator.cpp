// Binds signature, algorithm and engine of fused attention. No arithmetic and no loop order here.
#include "attention_algorithm.h"
#include "common/declared_arguments.h"
#include "common/estimates.h"
#include "common/facts.h"
#include "engines/engines.h"
#include "math/storage.h"
#include "passes/half_vectors.h"
#include "passes/small_stack.h"
#include "variants/score/score_function.h"

namespace gyre::attention {

class AttentionGenerator : public Halide::Generator<AttentionGenerator> {
public:
    // Variant: spelled in the kernel's name.
    GeneratorParam<bool> general{"general", false};
    GeneratorParam<bool> dropout{"dropout", false}; // general only
    GeneratorParam<int> head_dim{"head_dim", 64, 1, 512};
    GeneratorParam<bool> padded{"padded", false};
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::Float(32)};
    GeneratorParam<bool> partial{"partial", false};           // out is f32: to be merged with those of other keys
    GeneratorParam<bool> as_stored{"as_stored", false};       // keys and values are not rotated
    GeneratorParam<bool> value_blocks{"value_blocks", false}; // likewise, and values are in blocks: see KeyRows
    GeneratorParam<bool> formed{"formed", false};             // keys and values come from attention/operands
    GeneratorParam<bool> dense{"dense", false}; // rows in one dimension, keys without pages: see Inputs::row_step
    GeneratorParam<bool> int8_cache{"int8_cache", false};         // keys and values are int8, each row with a scale
    GeneratorParam<bool> integer_scores{"integer_scores", false}; // of them: keys and queries multiply as integers
    GeneratorParam<bool> half_cache{"half_cache", false};         // keys and values are float16, whatever dtype is
    GeneratorParam<bool> capped{"capped", false};                 // scores are capped, of kernels that are not general
    GeneratorParam<std::string> score{"score", ""}; // of the general family: the score function compiled with this file

    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    // Knobs: set from generators/tuning/<target>.json, never spelled in the name.
    GeneratorParam<int> row_vectors{"row_vectors", 3, 1, 8};
    GeneratorParam<int> key_unroll{"key_unroll", 8, 1, 64};
    GeneratorParam<int> feature_chunk{"feature_chunk", 8, 1, 32};
    GeneratorParam<int> row_tiles{"row_tiles", 1, 1, 8};
    GeneratorParam<int> key_block{"key_block", 128, 8, 4096};
    GeneratorParam<int> task_tiles{"task_tiles", 10, 1, 64};
    GeneratorParam<int> lanes{"lanes", 0, 0, 64};
    GeneratorParam<int> fold{"fold", 0, 0, 16};
    GeneratorParam<int> key_vector{"key_vector", 1, 1, 16};
    GeneratorParam<int> feature_unroll{"feature_unroll", 1, 1, 16};

    DeclaredArguments arguments;
#include "attention_arguments.inc"

    void configure() {
        const bool scored = !score.value().empty();
        _halide_user_assert(score.value() == compiled_score_name() && (general || !scored))
            << "score=" << score.value() << " general=" << general.value() << ": this generator was compiled "
            << (compiled_score_name().empty() ? "without a score function" : "with score=" + compiled_score_name())
            << ", which needs general=true\n";
        _halide_user_assert(general || !dropout) << "dropout=true needs general=true\n";
        _halide_user_assert(!general || !capped) << "general=true has a cap: capped=true is for others\n";
        _halide_user_assert(!half_cache || !int8_cache) << "half_cache=true with int8_cache=true\n";
        _halide_user_assert(!dropout || !scored) << "dropout=true with score=" << score.value() << "\n";
        arguments.declare(*this,
                          {{"general", general},
                           {"dropout", dropout},
                           {"partial", partial},
                           {"value_blocks", value_blocks},
                           {"formed", formed},
                           {"dense", dense},
                           {"int8_cache", int8_cache},
                           {"half_cache", half_cache},
                           {"capped", capped},
                           {"bounded", may_be_bounded(wanted())},
                           {"sinks", has_sinks()},
                           {"score", scored}},
                          {{"dtype", dtype}});
    }

    void generate() {
        const std::unique_ptr<Engine> engine = make_engine(wanted());
        const Sizes sizes = engine->shared().sizes;
        Inputs in = bind(sizes);
        in.q_rotation.lanes = in.out_rotation.lanes = engine->rotation_lanes();
        algorithm(*engine, in, out, lse, out_type());
        if (!padded) {
            for (auto *tensor : {&q, &k, &v}) tensor->dim(0).set_bounds(0, head_dim);
            out.dim(0).set_bounds(0, head_dim);
        }
        if (using_autoscheduler()) {
            estimate(sizes);
        } else {
            engine->schedule();
            engine->lower({*this, *k, *v, keys});
            specialize(engine->stages());
        }
        map_half_vectors(*this);
        if (get_target().os == Halide::Target::NoOS) use_small_stack(*this);
        publish_facts(*this, facts, known(*engine), using_autoscheduler());
    }

private:
    Wanted wanted() {
        Wanted w{head_dim,     padded, general,    partial,        dense,     as_stored,
                 value_blocks, formed, int8_cache, integer_scores, half_cache};
        w.dtype = dtype;
        w.knobs = {row_vectors, key_unroll, feature_chunk, row_tiles,  key_block,
                   task_tiles,  lanes,      fold,          key_vector, feature_unroll};
        if (w.knobs.lanes == 0) w.knobs.lanes = natural_vector_size<float>();
        w.target = get_target();
        w.autoscheduled = using_autoscheduler();
        return w;
    }

    /// They join last: parts are merged before.
    bool has_sinks() const { return !partial && !dense; }
    bool has_one_head() const { return (general && !partial) || dense; }
    Halide::Type out_type() const { return partial ? Halide::Float(32) : dtype.value(); }

    Facts known(const Engine &engine) {
        const Sizes &sizes = engine.shared().sizes;
        const Engine::Precision precision = engine.precision();
        Facts known{
            {"task_rows", sizes.row_tile * task_tiles}, {"row_tile", sizes.row_tile}, {"key_block", sizes.key_block}};
        if (engine.may_be_bounded()) known.emplace_back("bounded", 1);
        if (sinks) known.emplace_back("sinks", 1);
        if (engine.least_head_dim() > 0) known.emplace_back("least_head_dim", engine.least_head_dim());
        if (!precision.operands.empty()) known.emplace_back("operands", precision.operands);
        if (!precision.sum.empty()) known.emplace_back("sum", precision.sum);
        if (precision.terms > 0) known.emplace_back("terms", precision.terms);
        if (score_inputs) known.emplace_back("score_inputs", score_inputs->description());
        return known;
    }

    Inputs bind(const Sizes &sizes) {
        Inputs in;
        in.q = q;
        in.tokens = q.dim(2).extent();
        in.heads = has_one_head() ? Halide::Expr(1) : q.dim(1).extent();
        in.rows = Halide::unsafe_promise_clamped(in.tokens * in.heads, 1, sizes.row_tile * sizes.task_tiles);
        if (dense) in.row_step = row_step;
        in.head_dim = q.dim(0).extent();
        in.v_head_dim = v.dim(0).extent();
        in.scale = scale;
        in.first_visible = first_visible;
        in.last_visible = last_visible;
        if (key_gain) in.key_gain = key_gain;
        if (sinks) {
            sinks.dim(0).set_min(0).set_stride(Halide::Expr()); // 0 where there are none
            in.sinks = sinks;
        }
        bind_keys(in);
        bind_rotations(in);
        if (capped) in.softcap = score_cap;
        if (general) bind_general(in);
        bind_shapes();
        return in;
    }

    void bind_keys(Inputs &in) {
        in.keys = keys;
        in.k = {k, k.dim(1).extent(), k_slot_stride, k_page_stride};
        in.v = {v, v.dim(1).extent(), v_slot_stride, v_page_stride};
        if (!dense && !formed) in.pages = {pages, pages.dim(0).extent(), page_bits, first_slot};
        if (formed) {
            for (int d : {0, 1}) key_squares.dim(d).set_min(0);
            in.key_squares = key_squares;
        }
        if (int8_cache) {
            for (auto *scales : {&k_scales, &v_scales}) scales->dim(0).set_min(0).set_stride(Halide::Expr());
            in.k_scale = k_scales;
            in.v_scale = v_scales;
        }
    }

    void bind_rotations(Inputs &in) {
        for (auto *table : {&q_cos, &q_sin, &k_cos, &k_sin, &v_cos, &v_sin, &o_cos, &o_sin}) {
            table->dim(0).set_min(0);
            table->dim(1).set_min(0);
        }
        in.q_rotation = {q_cos, q_sin, q_half, q_interleaved, +1};
        in.k_rotation = {k_cos, k_sin, k_half, k_interleaved, +1};
        in.v_rotation = {v_cos, v_sin, v_half, v_interleaved, +1};
        in.out_rotation = {o_cos, o_sin, o_half, o_interleaved, -1};
    }

    void bind_shapes() {
        for (auto *tensor : {&q, &k, &v})
            for (int d = 0; d < (*tensor)->dimensions(); d++) tensor->dim(d).set_min(0);
        for (auto *tensor : {&k, &v}) tensor->dim(1).set_stride(1);
        pages.dim(0).set_min(0);
        for (int d : {0, 1, 2}) out.dim(d).set_min(0);
        for (int d : {0, 1}) lse.dim(d).set_min(0);
        if (dense) lse.dim(0).set_stride(Halide::Expr()); // rows may be heads
        const Halide::Expr heads = has_one_head() ? Halide::Expr(1) : q.dim(1).extent();
        if (has_one_head()) q.dim(1).set_extent(1);
        out.dim(1).set_extent(heads);
        lse.dim(1).set_extent(heads);
    }

    void bind_general(Inputs &in) {
        for (auto *tensor : {&bias_f32, &bias_16, &mask}) {
            tensor->dim(0).set_min(0).set_stride(Halide::Expr());
            for (int d : {1, 2}) tensor->dim(d).set_min(0);
        }
        Halide::Var j("j"), i("i"), h("h");
        in.bias = Halide::Func("bias");
        in.bias(j, i, h) = element_of_kind(bias_kind, bias_f32(j, i, h), bias_16(j, i, h));
        in.bias_masks = Halide::Func("bias_masks");
        in.bias_masks(j, i, h) = is_minus_infinity_of_kind(bias_kind, bias_f32(j, i, h), bias_16(j, i, h));
        in.has_bias = bias_kind != 0;
        in.mask = mask;
        in.has_mask = has_mask;
        in.softcap = softcap;
        alibi.dim(0).set_min(0).set_stride(Halide::Expr());
        in.has_alibi = has_alibi;
        in.alibi = alibi;
        in.alibi_origin = alibi_origin;
        if (dropout)
            in.dropout = {dropout_threshold, dropout_keep_scale, dropout_seed_low,  dropout_seed_high,
                          dropout_offset,    dropout_head,       dropout_first_row, dropout_first_key};
        if (score_inputs) bind_score(in, *score_inputs);
    }

    void bind_score(Inputs &in, ScoreInputs &inputs) const {
        inputs.bind();
        ScorePoint &p = in.score_origin;
        p.batch = score_batch;
        p.head = score_head;
        p.q_index = score_first_row;
        p.k_index = p.k_position = score_first_key;
        p.q_position = score_first_position;
        p.q_length = score_queries;
        p.k_length = score_keys;
        in.score = [&inputs](const ScorePoint &point) { return compiled_score(point, inputs); };
    }

    void specialize(Stages &stages) {
        if (general) specialize_bias(stages.general);
        if (score_inputs) specialize_score(stages, score_inputs->dense());
    }

    /// Tables are usually dense.
    void specialize_score(Stages &stages, const Halide::Expr &dense) {
        stages.masked.update(stages.score.update).specialize(dense);
        for (ScoreParts::Along &part : stages.score.parts.along)
            (part.rows.defined() ? Halide::Stage(part.rows) : part.kept.update()).specialize(dense);
    }

    /// A task of plain attention on a thousand keys, for autoschedulers. They fail at loops of no iteration (Adams2019)
    /// or of one (Mullapudi2016), hence a few rotated pairs.
    void estimate(const Sizes &sizes) {
        const int rows = sizes.row_tile * sizes.task_tiles, keys = 1024, pairs = sizes.head_dim / 2;
        estimate_extents({sizes.head_dim, 1, rows}, q, out);
        estimate_extents({sizes.head_dim, keys * sizes.head_dim}, k, v);
        estimate_value(sizes.head_dim, k_slot_stride, v_slot_stride);
        estimate_value(0, k_page_stride, v_page_stride);
        estimate_extents({1}, pages);
        estimate_value(keys, this->keys);
        estimate_value(30, page_bits);
        estimate_value(0, first_slot);
        estimate_extents({pairs, rows}, q_cos, q_sin, o_cos, o_sin);
        estimate_extents({pairs, keys}, k_cos, k_sin, v_cos, v_sin);
        estimate_extents({rows, 1}, lse);
        estimate_value(8, q_half, q_interleaved, k_half, k_interleaved, v_half, v_interleaved, o_half, o_interleaved);
        estimate_value(1.0f, scale);
        estimate_value(-keys, first_visible);
        estimate_value(keys, last_visible);
        if (sinks) estimate_extents({1}, sinks);
        if (!general) return;
        estimate_extents({keys, rows, 1}, bias_f32, bias_16, mask);
        estimate_extents({1}, alibi);
        estimate_value(0, bias_kind, alibi_origin);
        estimate_value(0.0f, softcap);
        has_mask.set_estimate(false);
        has_alibi.set_estimate(false);
    }

    /// One loop for each way in which a bias or a mask usually comes: dense rows of one type.
    void specialize_bias(GeneralStages &stages) {
        stages.bias_rows.specialize(bias_kind == 0);
        stages.bias_rows.specialize(bias_kind == 1 && bias_f32.dim(0).stride() == 1);
        stages.bias_rows.specialize(bias_kind == 2 && bias_16.dim(0).stride() == 1);
        stages.bias_rows.specialize(bias_kind == 3 && bias_16.dim(0).stride() == 1);
        stages.bias_rows.update().specialize(mask.dim(0).stride() == 1);
    }
};

} // namespace gyre::attention

HALIDE_REGISTER_GENERATOR(gyre::attention::AttentionGenerator, attention)
