// Binds signature, algorithm and schedule of fused attention. No arithmetic and no loop order here.
#include "attention/variants/score/score_function.h"
#include "attention_schedules.h"
#include "common/declared_arguments.h"
#include "common/estimates.h"
#include "common/facts.h"
#include "math/storage.h"
#include "passes/bf16_dot.h"
#include "passes/bf16_matrices.h"
#include "passes/bf16_roundings.h"
#include "passes/half_vectors.h"
#include "passes/register_values.h"
#include "passes/small_stack.h"
#include "passes/tile_products.h"

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
    GeneratorParam<bool> formed{"formed", false};             // keys and values come from generators/operands
    GeneratorParam<bool> dense{"dense", false}; // rows in one dimension, keys without pages: see Inputs::row_step
    GeneratorParam<bool> int8_cache{"int8_cache", false};         // keys and values are int8, each row with a scale
    GeneratorParam<bool> integer_scores{"integer_scores", false}; // of them: keys and queries multiply as integers
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
        _halide_user_assert(!dropout || !scored) << "dropout=true with score=" << score.value() << "\n";
        arguments.declare(*this,
                          {{"general", general},
                           {"dropout", dropout},
                           {"partial", partial},
                           {"value_blocks", value_blocks},
                           {"formed", formed},
                           {"dense", dense},
                           {"int8_cache", int8_cache},
                           {"bounded", may_be_bounded()},
                           {"sinks", has_sinks()},
                           {"score", scored}},
                          {{"dtype", dtype}});
    }

    void generate() {
        Knobs knobs{row_vectors, key_unroll, feature_chunk, row_tiles,  key_block,
                    task_tiles,  lanes,      fold,          key_vector, feature_unroll};
        if (knobs.lanes == 0) knobs.lanes = natural_vector_size<float>();
        Sizes sizes;
        sizes.head_dim = sizes.v_head_dim = head_dim;
        sizes.padded = padded;
        sizes.general = general;
        sizes.dropout = dropout;
        _halide_user_assert(fold <= knobs.lanes)
            << "fold is " << fold.value() << ", expected at most lanes, " << knobs.lanes << "\n";
        const int row_lanes = fold > 0 ? knobs.lanes / fold : knobs.lanes;
        sizes.row_tile = knobs.row_vectors * knobs.row_tiles * row_lanes;
        sizes.task_tiles = task_tiles;
        sizes.key_block = key_block;
        sizes.feature_chunk = feature_chunk;
        sizes.lanes = row_lanes;
        sizes.fold = fold;
        const bool few_rows_of_keys = partial && !tiles() && fold > 1 && fold == knobs.lanes;
        if (few_rows_of_keys) sizes.key_lanes = knobs.lanes;
        sizes.as_stored = as_stored;
        sizes.one_tile = dense && task_tiles == 1;
        const bool bare = dense && get_target().os == Halide::Target::NoOS;
        sizes.lanes_along_features = bare || few_rows_of_keys;
        sizes.key_step = few_rows_of_keys ? knobs.lanes : bare ? key_unroll : 0;
        sizes.weight_step = sizes.lanes_along_features ? knobs.lanes : 0;
        sizes.integer_scores = integer_scores;
        sizes.scaled_rows = sizes.lanes_along_features && !integer_scores;
        sizes.nan_without_sign = bare && get_target().bits == 32 && knobs.lanes > 1;
        if (few_rows_of_keys) sizes.feature_chunk = std::min(head_dim / knobs.lanes, 16);
        if (bare) {
            const bool converted = int8_cache || dtype.value().bits() < 32;
            sizes.feature_chunk = bare_feature_chunk(head_dim, knobs.lanes, converted);
        }
        const bool has_value_blocks = tiles() && dtype.value().is_bfloat() && !padded && head_dim % tile_depth == 0;
        _halide_user_assert(!(value_blocks || formed) || has_value_blocks)
            << "value_blocks=true and formed=true need matrix tiles, dtype=bfloat16 and a head_dim that is a multiple "
               "of "
            << tile_depth << ", without padded=true\n";
        sizes.matrices = has_bf16_matrices(get_target()) && dtype.value().is_bfloat() && !using_autoscheduler();
        sizes.pairs = has_bf16_dot(get_target()) && !tiles() && dtype.value().is_bfloat() && fold == 0 &&
                      sizes.key_lanes == 0 && !using_autoscheduler();
        if (sizes.pairs) sizes.key_step = pair_key_step(key_unroll);
        if (tiles()) {
            _halide_user_assert(!general) << "matrix tiles take the plain family, got general=true\n";
            sizes.tile_depth = tile_depth;
            sizes.terms = dtype.value().is_bfloat() ? 1 : dtype.value().bits() == 16 ? 2 : 3;
            sizes.padded = padded || head_dim % tile_depth != 0;
            sizes.head_dim = sizes.v_head_dim = (head_dim + tile_depth - 1) / tile_depth * tile_depth;
            sizes.sum_with_values = holds_whole_head(sizes.v_head_dim, knobs);
            sizes.dense_features = padded ? 0 : static_cast<int>(head_dim);
            sizes.bounded = may_be_bounded();
            sizes.value_blocks = value_blocks;
            sizes.formed = formed;
        }

        Inputs in;
        in.q = q;
        in.k = {k, k.dim(1).extent(), k_slot_stride, k_page_stride};
        in.v = {v, v.dim(1).extent(), v_slot_stride, v_page_stride};
        in.pages = {pages, pages.dim(0).extent(), page_bits, first_slot};
        const bool one_head = (general && !partial) || dense;
        in.tokens = q.dim(2).extent();
        in.heads = one_head ? Halide::Expr(1) : q.dim(1).extent();
        in.rows = Halide::unsafe_promise_clamped(in.tokens * in.heads, 1, sizes.row_tile * task_tiles);
        in.keys = keys;
        if (dense) {
            in.row_step = row_step;
            in.pages = {};
        }
        if (formed) {
            for (int d : {0, 1}) key_squares.dim(d).set_min(0);
            in.key_squares = key_squares;
            in.pages = {};
        }
        if (int8_cache) {
            for (auto *scales : {&k_scales, &v_scales}) scales->dim(0).set_min(0).set_stride(Halide::Expr());
            in.k_scale = k_scales;
            in.v_scale = v_scales;
        }
        in.head_dim = q.dim(0).extent();
        in.v_head_dim = v.dim(0).extent();
        in.scale = scale;
        in.first_visible = first_visible;
        in.last_visible = last_visible;
        in.q_rotation = {q_cos, q_sin, q_half, q_interleaved, +1};
        in.k_rotation = {k_cos, k_sin, k_half, k_interleaved, +1};
        in.v_rotation = {v_cos, v_sin, v_half, v_interleaved, +1};
        in.out_rotation = {o_cos, o_sin, o_half, o_interleaved, -1};
        if (bare) in.q_rotation.lanes = in.out_rotation.lanes = knobs.lanes;

        if (key_gain) in.key_gain = key_gain;
        if (sinks) {
            sinks.dim(0).set_min(0).set_stride(Halide::Expr()); // 0 where there are none
            in.sinks = sinks;
        }
        if (general) bind_general(in);
        for (auto *tensor : {&q, &k, &v})
            for (int d = 0; d < (*tensor)->dimensions(); d++) tensor->dim(d).set_min(0);
        for (auto *tensor : {&k, &v}) tensor->dim(1).set_stride(1);
        pages.dim(0).set_min(0);
        for (auto *table : {&q_cos, &q_sin, &k_cos, &k_sin, &v_cos, &v_sin, &o_cos, &o_sin})
            table->dim(0).set_min(0), table->dim(1).set_min(0);
        for (int d : {0, 1, 2}) out.dim(d).set_min(0);
        for (int d : {0, 1}) lse.dim(d).set_min(0);
        if (dense) lse.dim(0).set_stride(Halide::Expr()); // rows may be heads
        if (one_head) {
            q.dim(1).set_extent(1), out.dim(1).set_extent(1), lse.dim(1).set_extent(1);
        } else {
            out.dim(1).set_extent(q.dim(1).extent()), lse.dim(1).set_extent(q.dim(1).extent());
        }
        Stages stages = algorithm(in, sizes, out, lse, out_type());
        if (!padded) {
            for (auto *tensor : {&q, &k, &v}) tensor->dim(0).set_bounds(0, head_dim);
            out.dim(0).set_bounds(0, head_dim);
        }
        if (using_autoscheduler()) {
            estimate(sizes);
        } else if (tiles()) {
            schedule_amx(stages, knobs);
            lower_tiles(*this, stages, knobs, keys);
        } else if (bare) {
            schedule_bare(stages, knobs);
        } else if (few_rows_of_keys) {
            schedule_key_lanes(stages, knobs);
            if (general) specialize_bias(stages);
            for (Halide::Func *offsets : {&stages.k_offsets, &stages.v_offsets})
                offsets->specialize(pages.dim(0).extent() == 1);
        } else {
            schedule_cpu(stages, knobs);
            if (sizes.matrices) map_bf16_matrices(*this, {stages.v_rows, stages.weights});
            if (sizes.pairs) map_bf16_dots(*this);
            if (sizes.matrices || sizes.pairs) map_bf16_roundings(*this);
            if (key_vector > 1) keep_values_in_registers(*this);
            if (general) specialize_bias(stages);
            if (as_stored && fold > 0 && get_target().has_feature(Halide::Target::AVX2)) // others compute no quicker
                ask_for_blocks(*this, stages, knobs, *k, *v);
            if (score_inputs) specialize_score(stages, score_inputs->dense());
        }
        Facts known{
            {"task_rows", sizes.row_tile * task_tiles}, {"row_tile", sizes.row_tile}, {"key_block", sizes.key_block}};
        if (sizes.bounded) known.emplace_back("bounded", 1);
        if (sinks) known.emplace_back("sinks", 1);
        if (sizes.key_lanes && padded) known.emplace_back("least_head_dim", sizes.key_lanes);
        const std::string operands = operand_type(sizes);
        if (!operands.empty()) known.emplace_back("operands", operands);
        if (sizes.matrices) known.emplace_back("sum", operands);
        if (score_inputs) known.emplace_back("score_inputs", score_inputs->description());
        map_half_vectors(*this);
        if (get_target().os == Halide::Target::NoOS) use_small_stack(*this);
        publish_facts(*this, facts, known, using_autoscheduler());
    }

private:
    bool tiles() const {
        return get_target().has_feature(Halide::Target::AVX512_SapphireRapids) && !using_autoscheduler();
    }
    /// Few queries would read all keys once more for little.
    bool may_be_bounded() const { return tiles() && dtype.value().is_bfloat() && !partial && !padded && !value_blocks; }
    /// They join last: parts are merged before.
    bool has_sinks() const { return !partial && !dense; }
    Halide::Type out_type() const { return partial ? Halide::Float(32) : dtype.value(); }

    /// What weights and rotated operands are rounded to before they are multiplied and summed; empty: they stay f32.
    /// bf16x2 is the sum of two bf16 numbers, and three hold f32.
    static std::string operand_type(const Sizes &sizes) {
        if (sizes.matrices || sizes.pairs) return "bf16";
        if (sizes.tile_depth == 0) return "";
        return sizes.terms == 1 ? "bf16" : sizes.terms == 2 ? "bf16x2" : "";
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
        p.batch = score_batch, p.head = score_head;
        p.q_index = score_first_row, p.k_index = p.k_position = score_first_key, p.q_position = score_first_position;
        p.q_length = score_queries, p.k_length = score_keys;
        in.score = [&inputs](const ScorePoint &point) { return compiled_score(point, inputs); };
    }

    /// Tables are usually dense.
    void specialize_score(Stages &stages, const Halide::Expr &dense) {
        stages.masked.update(stages.score_update).specialize(dense);
        for (ScoreParts::Along &part : stages.score_parts.along)
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
    void specialize_bias(Stages &stages) {
        stages.bias_rows.specialize(bias_kind == 0);
        stages.bias_rows.specialize(bias_kind == 1 && bias_f32.dim(0).stride() == 1);
        stages.bias_rows.specialize(bias_kind == 2 && bias_16.dim(0).stride() == 1);
        stages.bias_rows.specialize(bias_kind == 3 && bias_16.dim(0).stride() == 1);
        stages.bias_rows.update().specialize(mask.dim(0).stride() == 1);
    }
};

} // namespace gyre::attention

HALIDE_REGISTER_GENERATOR(gyre::attention::AttentionGenerator, attention)
