/// Boolean masks that come to a range of keys: padding on either side, and causal masks and windows with it.
///
/// Such a mask's bytes are not read for every score: the call's other kernels take the range.
#pragma once
#include "attention/masks/spans.h"

namespace gyre {

/// True if the masks of a call's sequences may be such ranges: they are contiguous along the keys.
bool may_have_key_ranges(const AttentionCall &call);

/// What the mask of a sequence comes to, by the spans of its rows. Heads that have masks of their own must see the same keys.
KeyRange key_range_of_mask(const AttentionCall &call, int64_t index);

} // namespace gyre
