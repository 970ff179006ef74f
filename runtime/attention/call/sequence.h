/// One sequence of an attention call: its queries, and the keys that they see.
#pragma once
#include <algorithm>
#include <cstdint>

namespace gyre {

/// A boolean mask of some tokens that hides all keys but a range, and of these perhaps those before and beyond a diagonal. What the
/// call's window hides counts as hidden by the mask.
struct KeyRange {
    int64_t first = 0, end = 0;
    int64_t left = -1, right = -1; // as Sequence's
    bool exists = false;           // false: the mask is another one

    bool operator==(const KeyRange &o) const {
        return exists == o.exists && first == o.first && end == o.end && left == o.left && right == o.right;
    }
};

/// One sequence's queries and keys. Packed (thd) sequences are runs of tokens of the one batch entry 0; of keys in pages,
/// each has an entry of its own.
struct Sequence {
    int64_t batch = 0;              // entry of the tensors
    int64_t q_first = 0, q_len = 0; // tokens
    int64_t k_first = 0, k_len = 0;
    int64_t k_batch = 0;                   // entry of the keys' positions
    int64_t first_seen = 0, past_seen = 0; // keys outside are seen by no query; counted from k_first
    int64_t left = -1, right = -1;         // keys that a query sees before and beyond its own position; -1: unbounded
    int64_t keys_shown = 0; // by lengths and the call's window, which choose the kernel, whatever a mask hides

    int64_t keys_seen() const { return past_seen - first_seen; }
    /// Sees what a range is.
    void narrow(const KeyRange &range) {
        first_seen = range.first;
        past_seen = range.end;
        left = range.left;
        right = range.right;
    }
    /// Leaves out the keys that its window hides from all queries, the first of which stands at key `shift`. `unit`: what the first key stays a
    /// multiple of.
    void narrow_to_window(int64_t shift, int64_t unit) {
        if (right >= 0) past_seen = std::clamp(shift + q_len + right, first_seen, past_seen);
        if (left >= 0) first_seen = std::clamp((shift - left) / unit * unit, first_seen, past_seen);
    }
};

} // namespace gyre
