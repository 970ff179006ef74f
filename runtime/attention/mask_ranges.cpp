#include "attention/mask_ranges.h"

#include "attention/mask_row.h"

#include <algorithm>

namespace gyre {
namespace {

/// A sequence's mask: a row for each query, or one for all.
struct SequenceMask {
    const AttentionCall &call;
    const Sequence s;
    const int64_t rows;

    SequenceMask(const AttentionCall &c, int64_t index)
        : call(c), s(c.sequence(index)), rows(c.mask.strides[2] == 0 ? std::min<int64_t>(s.q_len, 1) : s.q_len) {}

    int64_t position(int64_t token) const { return token + call.shift(s); }
    MaskRow row(int64_t token) const {
        const int64_t last = rows == s.q_len ? token : s.q_len - 1; // that the row is for
        const int64_t first = call.left < 0 ? 0 : std::max<int64_t>(position(token) - call.left, 0);
        const int64_t end = call.right < 0 ? s.k_len : std::min(position(last) + call.right + 1, s.k_len);
        return {call.mask.data + s.batch * call.mask.strides[0] + token * call.mask.strides[2], first, end};
    }
};

/// The keys that some row sees.
KeyRange hull_of(const SequenceMask &mask) {
    KeyRange hull{mask.s.k_len, 0, -1, true};
    for (int64_t token = 0; token < mask.rows; token++) {
        const MaskRow row = mask.row(token);
        const int64_t first = row.first_true();
        if (first == row.end()) continue;
        hull.first = std::min(hull.first, first);
        hull.end = std::max(hull.end, row.past_last_true());
    }
    if (hull.first > hull.end) hull.first = hull.end = 0;
    return hull;
}

/// What a row that the range's end does not bound says of a diagonal: the keys it sees beyond its position. -1: no row does.
int64_t diagonal_of(const SequenceMask &mask, const KeyRange &hull) {
    int64_t beyond = -1;
    for (int64_t token = 0; token < mask.rows; token++) {
        const MaskRow row = mask.row(token);
        const int64_t end = std::max(row.past_last_true(), hull.first);
        if (!row.meets(hull.first, hull.end) || end >= std::min(row.end(), hull.end)) continue;
        beyond = end - 1 - mask.position(token);
        if (end > hull.first) break; // else a row without keys: the last one of these is next to the diagonal
    }
    return beyond;
}

} // namespace

bool may_have_key_ranges(const AttentionCall &c) {
    return c.mask.data && c.mask.strides[1] == 0 && c.mask.strides[3] == 1 && !c.dropout.on && !c.value_blocks;
}

KeyRange key_range_of_mask(const AttentionCall &call, int64_t index) {
    const SequenceMask mask(call, index);
    KeyRange range = hull_of(mask);
    if (range.first == range.end) return range;
    if (mask.rows > 1) range.right = std::max<int64_t>(diagonal_of(mask, range), -1);
    for (int64_t token = 0; token < mask.rows; token++) {
        const int64_t diagonal = range.right < 0 ? range.end : mask.position(token) + range.right + 1;
        if (!mask.row(token).is_range(range.first, std::min(range.end, diagonal))) return {};
    }
    return range;
}

} // namespace gyre
