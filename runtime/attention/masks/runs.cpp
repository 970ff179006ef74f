#include "attention/masks/runs.h"

#include "core/workspace.h"

namespace gyre {

/// Units whose rows differ in their place alone get the same range: where blocks of keys begin, and so the result's bits, must not
/// depend on which units are in one run. Keys beyond the diagonals are hidden anyway.
KeyRange MaskRuns::range_of_unit(int64_t token, int64_t tokens) const {
    KeyRange range = sight.range(token, tokens);
    if (!range.exists) return range;
    if (range.left >= 0 && sight.in_sight.position(token) - range.left >= range.first) range.first = task.first_block;
    if (range.right >= 0 && sight.in_sight.position(token + tokens) + range.right <= range.end) range.end = task.keys;
    return range;
}

MaskRun MaskRuns::unit_at(int64_t token) const {
    const int64_t tokens = std::min(task.unit, task.first_token + task.tokens - token);
    MaskRun unit{token, tokens, {}, {}};
    if (tokens <= 0) return unit;
    if (!sight.spans.rows) {
        unit.keys = sight.in_sight.of(token, tokens);
        return unit;
    }
    const int64_t heads = sight.spans.heads == 1 ? 1 : task.heads;
    for (int64_t head = sight.head; head < sight.head + heads; head++) {
        const KeySpan seen = HeadInSight{sight.spans, sight.in_sight, sight.sequence, head}.hull(token, tokens);
        if (seen.empty()) continue;
        unit.keys = unit.keys.empty() ? seen : hull(unit.keys, seen);
    }
    if (task.ranges && heads == 1 && !unit.keys.empty()) unit.range = range_of_unit(token, tokens);
    return unit;
}

/// The price of a run, in pairs of a row and a key that could be computed instead. Keys are also packed, and a call has a price of its
/// own.
int64_t MaskRuns::cost(const MaskRun &run) const {
    if (run.keys.empty()) return 0;
    constexpr int64_t packing = 8, calling = 512;
    const int64_t first = (run.keys.first - task.first_block) / task.keys_of_block;
    const int64_t past = ceil_div(run.keys.end - task.first_block, task.keys_of_block);
    return (run.tokens * task.heads + packing) * (past - first) * task.keys_of_block + calling;
}

/// Makes one run of two, where that is allowed and costs no more.
bool MaskRuns::join(const MaskRun &other, MaskRun *run) const {
    if (other.keys.empty() != run->keys.empty() || !(other.range == run->range)) return false;
    MaskRun both = *run;
    both.tokens += other.tokens;
    both.keys = hull(run->keys, other.keys);
    if (!run->range.exists && cost(both) > cost(*run) + cost(other)) return false;
    *run = both;
    return true;
}

bool MaskRuns::next(MaskRun *run) {
    if (ended()) return false;
    *run = ahead;
    do {
        next_token = run->first_token + run->tokens;
        ahead = unit_at(next_token);
    } while (!ended() && join(ahead, run));
    return true;
}

} // namespace gyre
