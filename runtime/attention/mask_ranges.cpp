#include "attention/mask_ranges.h"

namespace gyre {

bool may_have_key_ranges(const AttentionCall &c) {
    return has_spans(c) && c.mask.strides[1] == 0 && !c.dropout.on && !c.value_blocks;
}

KeyRange key_range_of_mask(const AttentionCall &c, int64_t index) {
    const Sequence s = c.sequence(index);
    const KeysInSight in_sight{c.shift(s), c.left, c.right, {0, s.k_len}};
    return HeadInSight{c.spans, in_sight, index, 0}.range(0, s.q_len);
}

} // namespace gyre
