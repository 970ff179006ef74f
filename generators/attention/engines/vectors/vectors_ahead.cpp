// Keys and values that few row tiles take: the lines of both are asked for while the block before, or the other product, is computed.
#include "attention/recurrence/task_schedule.h"
#include "passes/instructions/prefetched_lines.h"
#include "passes/loop_name.h"
#include "passes/order/lines_ahead.h"
#include "vectors.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;
namespace {

/// Whole ones of a row, but at least one.
int lines_of(int features, const Type &type) { return std::max(1, features * type.bytes() / cache_line_bytes); }

} // namespace

/// What asks are turns of loops over features, steps of keys and chunks of features, none of which may be one turn alone.
void Vectors::check() const {
    RowVectors::check();
    if (!facts.asks_ahead) return;
    const Sizes &z = s.sizes;
    _halide_user_assert(k.key_vector == 1) << "key_vector is " << k.key_vector << ", expected 1 with many_rows=true\n";
    _halide_user_assert(z.key_block > k.key_unroll)
        << "key_block is " << z.key_block << ", expected more than key_unroll with many_rows=true\n";
    _halide_user_assert(z.v_head_dim > z.feature_chunk)
        << "feature_chunk is " << z.feature_chunk << ", expected less than head_dim with many_rows=true\n";
}

void Vectors::lower(const Lowering &lowering) const {
    if (facts.asks_ahead) ask_for_keys_and_values(lowering);
    RowVectors::lower(lowering);
}

// Turns that ask are spread evenly over both loops, since a processor waits for few lines at once. Where rows are copied, both are of the next
// block; otherwise a block's values are asked for while its scores are formed.
void Vectors::ask_for_keys_and_values(const Lowering &lowering) const {
    const Sizes &z = s.sizes;
    const OperandStages &o = s.operands;
    for (const Func &offsets : {o.k_offsets, o.v_offsets})
        Func(offsets).bound(s.j, 0, 2 * z.key_block).bound_storage(s.j, 2 * z.key_block);
    const int step_keys = steps().scored, chunks = z.v_head_dim / z.feature_chunk;
    const bool copies = !provider->reads_in_place();
    const std::string steps_loop = loop_of(s.key_step), features = loop_of(s.feature), keys = loop_of(s.value_j);
    const std::string tile = TaskLoops().tile.name(), chunk = s.e.name();
    const bool has_tiles = z.task_tiles > 1;
    const auto in_first_tile = [=](const LoopValues &value, const Expr &where) {
        return has_tiles ? where && value(tile) == 0 : where;
    };
    // Scores: a step's turns ask for as many rows as the step has keys.
    const Type type = lowering.keys.type();
    const int of_line = cache_line_bytes / type.bytes();
    const OutputImageParam &first = copies ? lowering.keys : lowering.values;
    const Func first_offsets = copies ? o.k_offsets : o.v_offsets;
    const int first_row = copies ? z.key_block : 0, block_keys = z.key_block;
    const int first_lines = lines_of(copies ? z.head_dim : z.v_head_dim, type);
    const int turns = std::max(1, z.head_dim / (step_keys * first_lines));
    ask_ahead(lowering.generator, s.scores, features, first, [=](const LoopValues &value) {
        const Expr turn = value(features) / turns;
        const Expr row = first_row + value(steps_loop) * step_keys + turn % step_keys;
        return Asked{{{first_offsets, row, turn / step_keys * of_line}},
                     in_first_tile(value, value(features) % turns == 0)};
    });
    // Weighted values: a chunk's turns ask for a line of each key.
    const OutputImageParam &second = copies ? lowering.values : lowering.keys;
    const Func second_offsets = copies ? o.v_offsets : o.k_offsets;
    const int second_lines = lines_of(copies ? z.v_head_dim : z.head_dim, type),
              chunk_turns = std::max(1, chunks / second_lines);
    ask_ahead(lowering.generator, s.weighted, keys, second, [=](const LoopValues &value) {
        const Expr line = value(chunk) / chunk_turns;
        return Asked{{{second_offsets, block_keys + value(keys), line * of_line}},
                     in_first_tile(value, value(chunk) % chunk_turns == 0)};
    });
}

} // namespace gyre::attention
