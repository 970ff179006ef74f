/// Masks that were looked at once for many calls: what gyre_mask_prepare() writes into a caller's memory.
#pragma once
#include "attention/call/call.h"

namespace gyre {

/// Checks that `args.prepared_mask` was made for a call like this, whose mask and lengths are checked, and takes its spans over.
/// Errors: BAD_ARGUMENT.
gyre_status check_prepared_mask(const gyre_attention_args &args, bool need_data, AttentionCall *call);

/// The bytes that such a call reads of its prepared mask, which may have been said to be more.
gyre_tensor prepared_mask_view(const void *memory, const AttentionCall &call);

} // namespace gyre
