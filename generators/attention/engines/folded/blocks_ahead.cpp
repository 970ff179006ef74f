// Keys and values that are read as they are stored, and once: the lines of both are asked for a block ahead.
#include "stages.h"

#include "attention/recurrence/task_schedule.h"
#include "passes/instructions/prefetched_lines.h"
#include "passes/loop_name.h"
#include "passes/order/lines_ahead.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;
namespace {

/// Rows of a block: the first is row `first`.
struct BlockOfRows {
    OutputImageParam tensor;
    Expr stride; // elements from row to row
    Func offsets;
    int first, rows, features;
    int places; // whose lines are asked for in turn
    bool asks_for_all_ends;
};

/// The share of turn `turn` of `turns` of the lines of a block.
Asked share_of_lines(const BlockOfRows &block, const Expr &turn, int turns) {
    const int of_line = cache_line_bytes / block.tensor.type().bytes();
    const int of_row = (block.features + of_line - 1) / of_line, all = block.rows * of_row;
    std::vector<LineAhead> asked;
    for (int n = 0; n < (all + turns - 1) / turns; n++) {
        const Expr before = turn * all / turns + n;
        const Expr line = before % block.places * (all / block.places) + before / block.places;
        asked.push_back({block.offsets, block.first + line / of_row, line % of_row * of_line});
    }
    return {asked};
}

/// True if rows may begin within a line, and so end in one line more. Where they follow each other, it is one of the next row.
Expr have_further_lines(const OutputImageParam &tensor, const Expr &stride, const Expr &features) {
    return stride != features && may_begin_within_lines(tensor, stride);
}

Asked share_of_last_lines(const BlockOfRows &block, const Expr &turn, int turns) {
    const Expr apart = have_further_lines(block.tensor, block.stride, block.features);
    const int turns_of_row = turns % block.rows == 0 ? turns / block.rows : 1;
    Asked asked;
    if (!block.asks_for_all_ends) asked.where = apart && turn % turns_of_row == 0;
    for (int n = 0; n < (block.rows + turns - 1) / turns; n++)
        asked.lines.push_back({block.offsets, block.first + turn * block.rows / turns + n, block.features - 1});
    return asked;
}

} // namespace

void ask_for_blocks(const FoldedStages &s, const Lowering &lowering, const BlockTurns &turns_of) {
    const Sizes &z = s.sizes;
    const OperandStages &o = s.operands;
    for (auto [offsets, rows] : {std::pair{o.k_offsets, 2 * z.key_block}, {o.v_offsets, z.key_block}}) {
        const int whole_vectors = (rows + turns_of.lanes - 1) / turns_of.lanes * turns_of.lanes;
        Func(offsets).bound(s.j, 0, whole_vectors).bound_storage(s.j, whole_vectors);
    }
    // Elsewhere the compiler would store these sums in every turn that asks for a line, since asking may read memory for all it knows.
    Func(s.weighted_rows).store_in(MemoryType::Register);
    // Lowering comes after the engine is gone: what it calls holds copies.
    const int turns = turns_of.features, keys_turns = turns_of.keys, chunks = z.v_head_dim / z.feature_chunk;
    const int turns_of_block = turns_of.steps * turns;
    const std::string features = loop_of(s.feature), keys = loop_of(s.value_j);
    const std::string tiles = loop_of(s.key_step), chunk = s.e.name();
    const BlockOfRows values{lowering.values, lowering.value_stride, o.v_offsets,     0,
                             z.key_block,     z.v_head_dim,          turns_of.places, turns_of.asks_for_all_ends};
    const BlockOfRows next_keys{lowering.keys, lowering.key_stride, o.k_offsets,     z.key_block,
                                z.key_block,   z.head_dim,          turns_of.places, turns_of.asks_for_all_ends};
    for (const auto share : {share_of_lines, share_of_last_lines}) {
        ask_ahead(lowering.generator, s.folded_scores, features, lowering.values, [=](const LoopValues &value) {
            return share(values, value(tiles) * turns + value(features), turns_of_block);
        });
        ask_ahead(lowering.generator, s.weighted_rows, keys, lowering.keys, [=](const LoopValues &value) {
            return share(next_keys, value(chunk) * keys_turns + value(keys), chunks * keys_turns);
        });
    }
}

void ask_for_rows(const FoldedStages &s, const Lowering &lowering, const RowTurns &turns) {
    const Sizes &z = s.sizes;
    const OperandStages &o = s.operands;
    Func(o.k_offsets).bound(s.j, 0, 2 * z.key_block).bound_storage(s.j, 2 * z.key_block);
    Func(s.weighted_rows).store_in(MemoryType::Register); // as above
    // Lowering comes after the engine is gone: what it calls holds copies.
    const int of_line = cache_line_bytes / lowering.keys.type().bytes(), key_block = z.key_block;
    const int chunk_features = z.feature_chunk, of_step = turns.keys;
    const int turns_of_line = std::max(1, of_line / turns.features);
    const int keys_of_turn = std::max(1, of_step / turns_of_line);
    const int lines_of_chunk = (chunk_features + of_line - 1) / of_line;
    const std::string features = loop_of(s.feature), keys = loop_of(s.value_j), steps = loop_of(s.key_step);
    const std::string chunk = s.e.name(), tile = TaskLoops().tile.name(), blocks = loop_of(s.block);
    const bool has_tiles = z.task_tiles > 1;
    const auto is_first_tile = [=](const LoopValues &value) {
        return has_tiles ? value(tile) == 0 : Internal::const_true();
    };
    ask_ahead(lowering.generator, s.folded_scores, features, lowering.values, [=](const LoopValues &value) {
        Asked asked{{}, is_first_tile(value)};
        const Expr turn = value(features), first = value(steps) * of_step + turn * keys_of_turn % of_step;
        for (int key = 0; key < keys_of_turn; key++)
            asked.lines.push_back({o.v_offsets, first + key, turn / turns_of_line * of_line});
        return asked;
    });
    ask_ahead(lowering.generator, s.weighted_rows, keys, lowering.keys,
              [=, count = lowering.key_count](const LoopValues &value) {
                  const Expr key = key_block + value(keys);
                  Asked asked{{}, is_first_tile(value) && value(blocks) * key_block + key < count};
                  for (int line = 0; line < lines_of_chunk; line++)
                      asked.lines.push_back({o.k_offsets, key, value(chunk) * chunk_features + line * of_line});
                  return asked;
              });
    // Whether there are further lines or not, four rows take up to 1.07 of the time, with AVX2 up to 1.08, and f32 up to 1.12.
    constexpr int half_bits = 16, few_rows = 4;
    if (lowering.keys.type().bits() > half_bits || z.row_tile <= few_rows) return;
    const Expr last_of_value = turns.of_value - 1, last_of_key = turns.of_key - 1;
    const Expr further_values = have_further_lines(lowering.values, lowering.value_stride, turns.of_value);
    const Expr further_keys = have_further_lines(lowering.keys, lowering.key_stride, turns.of_key);
    ask_ahead(lowering.generator, s.folded_scores, features, lowering.values, [=](const LoopValues &value) {
        Asked asked{{}, further_values && value(features) == 0 && is_first_tile(value)};
        for (int key = 0; key < of_step; key++)
            asked.lines.push_back({o.v_offsets, value(steps) * of_step + key, last_of_value});
        return asked;
    });
    ask_ahead(lowering.generator, s.weighted_rows, keys, lowering.keys,
              [=, count = lowering.key_count](const LoopValues &value) {
                  const Expr key = key_block + value(keys);
                  const Expr is_read = value(blocks) * key_block + key < count;
                  return Asked{{{o.k_offsets, key, last_of_key}},
                               further_keys && value(chunk) == 0 && is_first_tile(value) && is_read};
              });
}

} // namespace gyre::attention
