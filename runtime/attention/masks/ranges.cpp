#include "attention/masks/ranges.h"

#include <algorithm>

namespace gyre {
namespace {

/// True if a sequence's mask leaves the same keys in all heads, whether it has a mask for each of them or one for all.
bool heads_see_the_same(const MaskSpans &spans, int64_t sequence) {
    const RowSpan *const first = &spans.at(sequence, 0, 0), *const second = first + spans.tokens;
    return std::equal(second, first + spans.heads * spans.tokens, first);
}

} // namespace

bool may_have_key_ranges(const AttentionCall &c) { return has_spans(c) && !c.dropout.on && !c.value_blocks; }

KeyRange key_range_of_mask(const AttentionCall &c, int64_t index) {
    if (c.spans.count() == 0) return {};
    const Sequence s = c.sequence(index);
    const KeysInSight in_sight{c.shift(s), c.left, c.right, {0, s.k_len}};
    const KeyRange range = HeadInSight{c.spans, in_sight, index, 0}.range(0, s.q_len);
    return range.exists && heads_see_the_same(c.spans, index) ? range : KeyRange();
}

} // namespace gyre
