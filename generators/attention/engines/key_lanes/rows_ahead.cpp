// Keys and values that are read as they are stored, and once: lines of both are asked for while the others are computed on.
#include "key_lanes.h"
#include "passes/instructions/prefetched_lines.h"
#include "passes/loop_name.h"
#include "passes/order/lines_ahead.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;

namespace {

constexpr int rows_that_ask = 4;      // of those that share keys, at most
constexpr int bytes_ahead = 8 * 1024; // of keys, between those that are read and those that are asked for

/// Features of neighbouring keys.
struct KeysAhead {
    Expr first;
    int keys, features;
};

/// What row `row` of `rows` asks for, so that lines are asked for evenly. A single row asks for none.
Asked share_of_row(const Func &offsets, const KeysAhead &all, const Expr &rows, const Expr &row) {
    const Expr asking = select(rows == 1, 0, rows < rows_that_ask, 2, rows_that_ask);
    const Expr share = select(rows < rows_that_ask, all.keys / 2, all.keys / rows_that_ask);
    return {{}, row < asking, {{offsets, all.first + row * share, share, all.features}}};
}

} // namespace

std::string value_key_loop(size_t sum) { return "value_key_" + std::to_string(sum); }

// A processor reads too little ahead by itself to compute on keys and values as quickly as memory delivers them. A step of scores asks for as many
// values, and each value for a key of the next block: lines are asked for evenly, since a processor waits for few at once.
void KeyLanes::ask_for_keys_and_values(const Lowering &lowering) const {
    const Sizes &z = s.sizes;
    const OperandStages &o = s.operands;
    const int n = k.lanes, of_turn = n * vectors_together(), key_block = z.key_block, chunk_features = value_features;
    const int of_line = cache_line_bytes / lowering.keys.type().bytes();
    const auto lines_of = [=](int features) { return (features + of_line - 1) / of_line; };
    Func(o.k_offsets).bound(s.j, 0, 2 * key_block).bound_storage(s.j, 2 * key_block);
    // Lowering comes after the engine is gone: what it calls holds copies.
    const std::string steps = loop_of(s.key_step), turns = loop_of(s.feature), tile = s.t.name(), row = s.r.name();
    const std::string blocks = loop_of(s.block);
    const Expr key_count = lowering.key_count;
    const bool has_rows = z.row_tile > 1, has_tiles = z.task_tiles > 1;
    const auto is_first_row = [=](const LoopValues &value, bool in_rows) {
        Expr first = Internal::const_true();
        if (in_rows && has_rows) first = first && value(row) == 0;
        if (has_tiles) first = first && value(tile) == 0;
        return first;
    };
    const Expr alike = rows_alike; // the table of values is not there yet
    if (facts.one_row_reads_values) {
        const Expr rows = lowering.rows;
        const auto values_of_step = [=](const LoopValues &value) {
            Asked asked = share_of_row(o.k_offsets, {value(steps) * n, n, z.v_head_dim}, rows, value(tile));
            asked.where = alike && asked.where;
            return asked;
        };
        ask_ahead(lowering.generator, s.masked, tile, lowering.values, values_of_step, steps);
    } else {
        const int turns_of_line = std::max(1, of_line / of_turn), keys_of_turn = n / turns_of_line;
        ask_ahead(lowering.generator, s.folded_scores, turns, lowering.values, [=](const LoopValues &value) {
            std::vector<LineAhead> asked;
            const Expr first = value(steps) * n + value(turns) % turns_of_line * keys_of_turn;
            for (int key = 0; key < keys_of_turn; key++)
                asked.push_back({o.k_offsets, first + key, value(turns) / turns_of_line * of_line});
            return Asked{asked, alike && is_first_row(value, false)};
        });
    }
    const Expr whole = (v_features + (n - 1)) / n / (value_features / n); // chunks, before what is left of the features
    for (size_t i = 0; i < s.value_sums.size(); i++) {
        const int lines = lines_of(i == 0 ? value_features : static_cast<int>(i) * n);
        const bool has_chunks = i == 0 && z.v_head_dim > value_features;
        const bool has_groups = key_block > value_keys;
        const std::string keys = value_key_loop(i);
        const int at_once = s.value_sums[i].keys_at_once;
        // Lines of `at_once` keys, the first of them `ahead` keys after the one that a turn reads, if the block of that key has keys.
        const auto lines_of_keys = [=](const LoopValues &value, const Expr &ahead) {
            const Expr chunk = has_chunks ? value(value_chunk_loop) : i == 0 ? Expr(0) : whole;
            const Expr group = has_groups ? value(value_group_loop) : Expr(0);
            Asked asked{
                {}, value(blocks) * key_block + group * value_keys + ahead < key_count && is_first_row(value, true)};
            for (int key = 0; key < at_once; key++)
                for (int line = 0; line < lines; line++)
                    asked.lines.push_back({o.k_offsets, ahead + group * value_keys + value(keys) * at_once + key,
                                           chunk * chunk_features + line * of_line});
            return asked;
        };
        const Func &sum = s.value_sums[i].of_group;
        ask_ahead(lowering.generator, sum, keys, lowering.keys,
                  [=](const LoopValues &value) { return lines_of_keys(value, key_block); });
        if (facts.asks_for_own_lines)
            ask_ahead(lowering.generator, sum, keys, lowering.values, [=](const LoopValues &value) {
                Asked asked = lines_of_keys(value, 0);
                asked.where = alike && asked.where;
                return asked;
            });
    }
}

// A processor reads ahead well enough by itself while one row computes on keys, and not while several do. Each row then asks for its share of the lines
// that follow.
void KeyLanes::share_requests(const Lowering &lowering) const {
    const Sizes &z = s.sizes;
    const Func offsets = s.operands.k_offsets;
    if (z.task_tiles == 1 || z.row_tile > 1) return; // a row is a turn of the loop over tiles
    const int n = k.lanes, key_block = z.key_block;
    const int step_bytes = n * z.head_dim * lowering.keys.type().bytes();
    const int steps_ahead = std::clamp(bytes_ahead / step_bytes, 1, value_keys / n);
    Func(offsets).bound(s.j, 0, key_block + value_keys).bound_storage(s.j, key_block + value_keys);
    const Expr rows = lowering.rows, alike = rows_alike; // the table of keys finds values, too
    const std::string steps = loop_of(s.key_step), tile = s.t.name();
    const auto keys_of_step = [=](const LoopValues &value) {
        return share_of_row(offsets, {(value(steps) + steps_ahead) * n, n, z.head_dim}, rows, value(tile));
    };
    ask_ahead(lowering.generator, s.masked, tile, lowering.keys, keys_of_step, steps);
    const std::string groups = key_block > value_keys ? value_group_loop : "";
    const auto next_values = [=](const LoopValues &value) {
        const Expr group = groups.empty() ? Expr(0) : value(groups);
        Asked asked = share_of_row(offsets, {(group + 1) * value_keys, value_keys, z.v_head_dim}, rows, value(tile));
        asked.where = alike && asked.where;
        return asked;
    };
    ask_ahead(lowering.generator, s.weighted_rows, tile, lowering.values, next_values, groups);
}

} // namespace gyre::attention
