/// Fused attention's generator: its parameters, arguments and knobs, and what it is put together from.
#pragma once
#include "attention/recurrence/sizes.h"
#include "common/declared_arguments.h"
#include "common/facts.h"
#include "engines/engines.h"
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
    GeneratorParam<bool> partial{"partial", false};     // out is f32: to be merged with those of other keys
    GeneratorParam<bool> as_stored{"as_stored", false}; // keys and values are not rotated
    GeneratorParam<bool> many_rows{"many_rows", false}; // of a key head's few queries; partial only
    GeneratorParam<bool> narrow{"narrow", false}; // row tiles of fewer rows than others of few queries, by its knobs
    // Rows of a task may be those of several key heads, as in decode_own_keys.
    GeneratorParam<bool> own_keys{"own_keys", false};
    GeneratorParam<bool> dense{"dense", false}; // rows in one dimension, keys without pages: see Inputs::row_step
    GeneratorParam<std::string> cache{"cache", "rows"}; // how keys and values are stored: a name of providers.cpp
    GeneratorParam<bool> capped{"capped", false};       // scores are capped, of kernels that are not general
    GeneratorParam<bool> sloped{"sloped", false};       // scores take a slope of ALiBi, likewise; a task has one head
    GeneratorParam<bool> integer_scores{"integer_scores", false}; // of int8: keys and queries multiply as integers
    GeneratorParam<std::string> score{"score", ""}; // of the general family: the score function compiled with this file

    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    // Knobs: set from generators/tuning/<target>.json, never spelled in the name.
    GeneratorParam<int> row_vectors{"row_vectors", 3, 1, 8};
    GeneratorParam<int> key_unroll{"key_unroll", 8, 1, 64};
    GeneratorParam<int> feature_chunk{"feature_chunk", 8, 1, 64};
    GeneratorParam<int> row_tiles{"row_tiles", 1, 1, 8};
    GeneratorParam<int> key_block{"key_block", 128, 8, 4096};
    GeneratorParam<int> task_tiles{"task_tiles", 10, 1, 64};
    GeneratorParam<int> lanes{"lanes", 0, 0, 64};
    GeneratorParam<int> fold{"fold", 0, 0, 16};
    GeneratorParam<int> key_vector{"key_vector", 1, 1, 16};
    GeneratorParam<int> feature_unroll{"feature_unroll", 1, 1, 16};
    GeneratorParam<int> pair_unroll{"pair_unroll", 1, 1, 4};

    DeclaredArguments arguments;
#include "attention_arguments.inc"

    void configure();
    void generate();

private:
    Wanted wanted();

    /// They join last: parts are merged before.
    bool has_sinks() const { return !partial && !dense; }
    /// What drops weights of many rows, or scores, is told its head, which is one number.
    bool has_one_head() const { return (dropout && !partial) || !score.value().empty() || dense || sloped; }
    Halide::Expr heads_of_task() const { return has_one_head() ? Halide::Expr(1) : q.dim(1).extent(); }
    bool is_of_avx2() const {
        const Halide::Target &is = target.value();
        return is.has_feature(Halide::Target::AVX2) && !is.has_feature(Halide::Target::AVX512);
    }
    /// Kernels with rows along the lanes do, in f32, but those of few queries without options.
    bool asks_for_results() const {
        const bool has_many_rows = !partial || (general && many_rows);
        return is_of_avx2() && dtype.value() == Halide::Float(32) && has_many_rows && !dropout && fold == 0;
    }
    /// The bias of few rows is short, and is asked for at once.
    bool asks_for_bias_in_chunks() const { return asks_for_results() && !partial; }
    Halide::Type out_type() const { return partial ? Halide::Float(32) : dtype.value(); }
    Facts known(const RecurrenceEngine &engine);

    // attention_bindings.cpp: the arguments, as the algorithm takes them.
    Inputs bind(const Sizes &sizes);
    void bind_keys(Inputs &in);
    void bind_rotations(Inputs &in);
    void bind_slope(Inputs &in);
    void bind_shapes();
    void bind_general(Inputs &in);
    void bind_score(Inputs &in, ScoreInputs &inputs) const;

    // attention_usual_calls.cpp: what arguments usually are.
    void specialize(Stages &stages);
    void specialize_score(Stages &stages, const Halide::Expr &dense);
    void specialize_bias(GeneralStages &stages);
    void end_with_keys(const Stages &stages, const Halide::Func &of, const std::string &loop, int keys_a_turn);
    void end_bias_early(const Stages &stages, int keys_in_vector);
    void end_transposed_bias_early(const Stages &stages);
    void estimate(const Sizes &sizes);

    // attention_asked_lines.cpp
    void ask_for_bias(const Stages &stages);
    void ask_for_bias_in_chunks(const Stages &stages);
    void ask_for_results(const Stages &stages);
};

} // namespace gyre::attention
