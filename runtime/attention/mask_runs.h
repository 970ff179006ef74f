/// The tokens of a task by the keys that their masks leave: blocks of keys that a mask hides from all of them are not computed.
#pragma once
#include "attention/call.h"

#include <algorithm>

namespace gyre {

/// Keys of a sequence, from `first` to the one before `end`; none if that is not behind `first`.
struct KeySpan {
    int64_t first = 0, end = 0;

    bool empty() const { return end <= first; }
};

/// The keys of a part of a sequence that a call's window leaves its tokens.
struct KeysInSight {
    int64_t shift, left, right; // as AttentionCall::shift() and Sequence::right have them
    KeySpan part;

    KeySpan of(int64_t token) const {
        const int64_t position = token + shift;
        return {left < 0 ? part.first : std::max(position - left, part.first),
                right < 0 ? part.end : std::min(position + 1 + right, part.end)};
    }
    /// Those that some of the tokens sees.
    KeySpan of(int64_t first_token, int64_t tokens) const {
        return {of(first_token).first, of(first_token + tokens - 1).end};
    }
};

/// Neighbouring tokens for one call of a kernel, and the keys that some of them sees.
struct MaskRun {
    int64_t first_token, tokens;
    KeySpan keys;
};

/// Cuts tokens into runs, between row tiles, wherever the keys that need not be computed then are worth a call more. A row tile
/// without a visible key is in a run without keys, whatever is beside it: what is written for it depends on its rows alone.
class MaskRuns {
public:
    struct Task {
        int64_t batch, first_head, heads, first_token, tokens;
        int64_t unit;                      // tokens that fill row tiles
        int64_t first_block, keys_of_block; // blocks of keys begin there
    };

    MaskRuns(const Broadcast &mask, const KeysInSight &in_sight, const Task &task)
        : mask(mask), in_sight(in_sight), task(task), next_token(task.first_token) {
        ahead = unit_at(next_token);
    }

    /// False: there is none left.
    bool next(MaskRun *run);

private:
    const Broadcast &mask;
    const KeysInSight in_sight;
    const Task task;
    int64_t next_token;
    MaskRun ahead; // the unit at next_token

    bool ended() const { return next_token >= task.first_token + task.tokens; }
    MaskRun unit_at(int64_t token) const;
    int64_t cost(const MaskRun &run) const;
};

} // namespace gyre
