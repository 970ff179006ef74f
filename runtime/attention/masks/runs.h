/// The tokens of a task by the keys that their masks leave: blocks of keys that a mask hides from all of them are not computed, and
/// row tiles that see all of some range are computed as if there were no mask.
#pragma once
#include "attention/masks/spans.h"

namespace gyre {

/// Neighbouring tokens for one call of a kernel, and the keys that some of them sees.
struct MaskRun {
    int64_t first_token, tokens;
    KeySpan keys;
    KeyRange range; // if it exists, what the tokens see is this range, and the call needs no mask
};

/// Cuts tokens into runs, between row tiles, wherever the keys that need not be computed then are worth a call more. A row tile
/// without a visible key is in a run without keys, and one that sees a range in a run of those with the same range, whatever is
/// beside it: what is written for it depends on its rows alone.
class MaskRuns {
public:
    struct Task {
        int64_t heads, first_token, tokens;
        int64_t unit;                       // tokens that fill row tiles
        int64_t first_block, keys_of_block; // blocks of keys begin there
        int64_t keys;                       // of the sequence
        bool ranges;                        // are looked for
    };

    /// `sight`: of the task's heads; these have the same mask, or each is looked at.
    MaskRuns(const HeadInSight &sight, const Task &task) : sight(sight), task(task), next_token(task.first_token) {
        ahead = unit_at(next_token);
    }

    /// False: there is none left.
    bool next(MaskRun *run);

private:
    const HeadInSight sight;
    const Task task;
    int64_t next_token;
    MaskRun ahead; // the unit at next_token

    bool ended() const { return next_token >= task.first_token + task.tokens; }
    MaskRun unit_at(int64_t token) const;
    KeyRange range_of_unit(int64_t token, int64_t tokens) const;
    int64_t cost(const MaskRun &run) const;
    bool join(const MaskRun &other, MaskRun *run) const;
};

} // namespace gyre
