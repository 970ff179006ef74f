/// A task of a call with a mask.
#pragma once
#include "attention/task/extent.h"

namespace gyre {

/// Runs a task's tokens in runs, by the keys that the mask leaves them. False: the kernel failed.
bool run_masked_task(const AttentionTask &task, const AttentionKernel &of_sequence, const TaskExtent &x,
                     const KeysInSight &in_sight, char *scratch);

} // namespace gyre
