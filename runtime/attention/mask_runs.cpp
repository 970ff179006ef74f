#include "attention/mask_runs.h"

#include "attention/mask_row.h"
#include "core/tensor.h"

namespace gyre {
namespace {

/// Adds the keys that a row sees to `seen`. Only what the mask hides outside of these is read, and one key more on either side.
void include_row(const char *row, const KeySpan &in_sight, KeySpan *seen) {
    if (seen->empty()) {
        const MaskRow all(row, in_sight.first, in_sight.end);
        const int64_t first = all.first_true();
        if (first < all.end()) *seen = {first, all.past_last_true()};
        return;
    }
    const MaskRow before(row, in_sight.first, std::min(in_sight.end, seen->first));
    const MaskRow behind(row, std::max(in_sight.first, seen->end), in_sight.end);
    const int64_t first = before.first_true(), past = behind.past_last_true();
    if (first < before.end()) seen->first = first;
    if (past > std::max(in_sight.first, seen->end)) seen->end = past;
}

} // namespace

MaskRun MaskRuns::unit_at(int64_t token) const {
    const int64_t tokens = std::min(task.unit, task.first_token + task.tokens - token);
    if (tokens <= 0) return {token, 0, {}};
    if (mask.strides[3] != 1) return {token, tokens, in_sight.of(token, tokens)};
    KeySpan seen;
    const int64_t heads = mask.strides[1] == 0 ? 1 : task.heads;
    const bool alike = mask.strides[2] == 0;
    for (int64_t head = task.first_head; head < task.first_head + heads; head++)
        for (int64_t t = token; t < token + (alike ? 1 : tokens); t++) {
            const char *row =
                mask.data + task.batch * mask.strides[0] + head * mask.strides[1] + t * mask.strides[2];
            include_row(row, alike ? in_sight.of(token, tokens) : in_sight.of(t), &seen);
        }
    return {token, tokens, seen};
}

/// In pairs of a row and a key that could be computed instead. Keys are also packed, and a call has a price of its own.
int64_t MaskRuns::cost(const MaskRun &run) const {
    if (run.keys.empty()) return 0;
    constexpr int64_t packing = 8, calling = 512;
    const int64_t first = (run.keys.first - task.first_block) / task.keys_of_block;
    const int64_t past = ceil_div(run.keys.end - task.first_block, task.keys_of_block);
    return (run.tokens * task.heads + packing) * (past - first) * task.keys_of_block + calling;
}

bool MaskRuns::next(MaskRun *run) {
    if (ended()) return false;
    *run = ahead;
    for (;;) {
        next_token = run->first_token + run->tokens;
        ahead = unit_at(next_token);
        if (ended() || ahead.keys.empty() != run->keys.empty()) return true;
        MaskRun both = *run;
        both.tokens += ahead.tokens;
        both.keys = {std::min(run->keys.first, ahead.keys.first), std::max(run->keys.end, ahead.keys.end)};
        if (cost(both) > cost(*run) + cost(ahead)) return true;
        *run = both;
    }
}

} // namespace gyre
