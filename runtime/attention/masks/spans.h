/// What the rows of a boolean mask leave of the keys. The mask is looked at once a call, or once for many calls
/// (gyre_mask_prepare()); ranges of sequences (mask_ranges.h) and of tasks (mask_runs.h) are found in the spans of its rows.
#pragma once
#include "attention/call/call.h"
#include "cpu/threads.h"

#include <algorithm>

namespace gyre {

/// Keys of a sequence, from `first` to the one before `end`; none if that is not behind `first`.
struct KeySpan {
    int64_t first = 0, end = 0;

    bool empty() const { return end <= first; }
    bool operator==(const KeySpan &o) const { return first == o.first && end == o.end; }
};

/// The keys from the first to the last of two spans, neither of which is empty.
inline KeySpan hull(const KeySpan &a, const KeySpan &b) { return {std::min(a.first, b.first), std::max(a.end, b.end)}; }

/// The keys of a part of a sequence that a call's window leaves its tokens.
struct KeysInSight {
    int64_t shift, left, right; // as AttentionCall::shift() and Sequence's have them
    KeySpan part;

    int64_t position(int64_t token) const { return token + shift; }
    KeySpan of(int64_t token) const {
        return {left < 0 ? part.first : std::max(position(token) - left, part.first),
                right < 0 ? part.end : std::min(position(token) + 1 + right, part.end)};
    }
    /// Those that some of the tokens sees.
    KeySpan of(int64_t first_token, int64_t tokens) const {
        return {of(first_token).first, of(first_token + tokens - 1).end};
    }
};

/// True if the rows of a call's mask have spans: they are contiguous, as one key is whatever its stride.
inline bool has_spans(const AttentionCall &c) { return c.mask.data && (c.mask.strides[3] == 1 || c.k.seqlen <= 1); }

/// How the spans of a call's mask lie one behind the other; without their memory.
MaskSpans describe_spans(const AttentionCall &call);

/// Finds the spans of all rows. Of the mask only what the call's window and lengths leave is read.
void form_spans(const AttentionCall &call, const MaskSpans &spans, RowSpan *rows, Threads &threads);

/// What the tokens of one sequence see in one head.
struct HeadInSight {
    const MaskSpans &spans;
    const KeysInSight &in_sight;
    int64_t sequence, head;

    const RowSpan &row(int64_t token) const { return spans.at(sequence, head, token); }
    KeySpan of(int64_t token) const {
        const KeySpan window = in_sight.of(token);
        return {std::max<int64_t>(row(token).first, window.first), std::min<int64_t>(row(token).end, window.end)};
    }
    /// The keys from the first to the last that some of the tokens sees.
    KeySpan hull(int64_t first_token, int64_t tokens) const;
    /// The range of keys that is what these tokens see, each up to its diagonals. It does not exist for other masks.
    KeyRange range(int64_t first_token, int64_t tokens) const;
};

} // namespace gyre
