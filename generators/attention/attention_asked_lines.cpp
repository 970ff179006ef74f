// Lines of the cache that are asked for before they are read or written: of biases, masks and results.
#include "attention_generator.h"

#include "attention/recurrence/task_schedule.h"
#include "passes/instructions/prefetched_lines.h"
#include "passes/loop_name.h"
#include "passes/order/lines_ahead.h"

#include <algorithm>

namespace gyre::attention {

/// What the next row tile adds to its scores is rows further on in memory, and a processor foresees no such step. Asking was measured on
/// x86 alone.
void AttentionGenerator::ask_for_bias(const Stages &stages) {
    if (get_target().arch != Halide::Target::X86) return;
    const auto ask = [&](const Halide::Func &rows, auto &tensor) {
        ask_further_on(*this, rows, *tensor, stages.sizes.row_tile / heads_of_task() * tensor.dim(1).stride());
    };
    if (asks_for_bias_in_chunks())
        ask_for_bias_in_chunks(stages);
    else
        ask(stages.general.bias_rows, bias_f32);
    ask(stages.general.bias_rows, bias_16);
    ask(stages.general.bias_rows, mask);
    if (stages.general.pair_rows.defined()) ask(stages.general.pair_rows, bias_16);
}

/// Asks for a bias a few rows at a time, while the values of the row tile before are weighted: lines that are all asked for at once wait for each
/// other. The last row tile asks for the first one's bias of the next block. Measured in f32 on AVX2.
void AttentionGenerator::ask_for_bias_in_chunks(const Stages &stages) {
    constexpr int rows_of_turn = 2;
    const Sizes z = stages.sizes;
    const int of_line = cache_line_bytes / Halide::Float(32).bytes();
    const std::string chunk = stages.e.name(), tile = TaskLoops().tile.name(), block = loop_of(stages.block);
    const Halide::Expr heads = heads_of_task(), rows = q.dim(2).extent() * heads;
    const Halide::Expr of_token = bias_f32.dim(1).stride(), of_head = bias_f32.dim(2).stride(), end = keys;
    const Halide::Expr is_dense = bias_kind == 1 && bias_f32.dim(0).stride() == 1;
    ask_ahead(
        *this, stages.state, chunk, *bias_f32,
        [=](const LoopValues &value) {
            const Halide::Expr next = (value(tile) + 1) * z.row_tile, is_last = next >= rows;
            const Halide::Expr key = (value(block) + select(is_last, 1, 0)) * z.key_block;
            const Halide::Expr first = select(is_last, 0, next) + value(chunk) * rows_of_turn;
            Asked asked;
            asked.where = is_dense && value(chunk) * rows_of_turn < z.row_tile && first < rows && key < end;
            for (int row = 0; row < rows_of_turn; row++) {
                const Halide::Expr token = (first + row) / heads, head = (first + row) % heads;
                const Halide::Expr begin = Halide::cast<int64_t>(token) * of_token + head * of_head + key;
                for (int line = 0; line < z.key_block; line += of_line) asked.places.push_back(begin + line);
            }
            return asked;
        },
        tile);
}

/// While a row tile's last values are weighted, the lines that its results will be stored in are asked for: on few keys a call waits for them. Measured
/// in f32 on AVX2.
void AttentionGenerator::ask_for_results(const Stages &stages) {
    const Sizes z = stages.sizes;
    const int of_line = cache_line_bytes / out_type().bytes(), turns = std::max(1, of_line / z.feature_chunk);
    const int rows = (z.row_tile + turns - 1) / turns, features = std::max(of_line, z.feature_chunk);
    const std::string chunk = stages.e.name(), tile = TaskLoops().tile.name(), block = loop_of(stages.block);
    const Halide::Expr stride = out.dim(2).stride(), heads = heads_of_task(), last = last_visible, end = keys;
    ask_ahead(
        *this, stages.state, chunk, *out,
        [=](const LoopValues &value) {
            const Halide::Expr first_row = value(tile) * z.row_tile, turn = value(chunk);
            Asked asked;
            asked.where =
                heads == 1 && (value(block) + 1) * z.key_block > min(first_row + z.row_tile - 1 + last, end - 1);
            for (int row = 0; row < rows; row++)
                for (int feature = 0; feature < features; feature += of_line)
                    asked.places.push_back(Halide::cast<int64_t>(first_row + turn % turns * rows + row) * stride +
                                           turn / turns * features + feature);
            return asked;
        },
        tile);
}

} // namespace gyre::attention
