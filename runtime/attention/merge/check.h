/// Arguments of gyre_attention_merge().
#pragma once
#include "attention/merge/task.h"

namespace gyre {

/// Checks every argument, and views the tensors. With `need_data` false data pointers may be NULL.
gyre_status check_merge(const gyre_attention_merge_args &args, bool need_data, MergeTask *task);

} // namespace gyre
