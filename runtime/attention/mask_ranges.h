/// Boolean masks that come to a range of keys: padding on either side, and causal masks with it.
///
/// Such a mask is looked at once a call, and its bytes are not read for every score: the call's other kernels take the range.
#pragma once
#include "attention/call.h"

namespace gyre {

/// True if the masks of a call's sequences are worth looking at: they are the same in all heads, and contiguous along the keys.
bool may_have_key_ranges(const AttentionCall &call);

/// What the mask of a sequence comes to. Every row of it is read, at most once.
KeyRange key_range_of_mask(const AttentionCall &call, int64_t index);

} // namespace gyre
