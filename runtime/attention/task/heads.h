/// How many heads and tokens a task of attention has.
#pragma once
#include "attention/task/task.h"

namespace gyre {

/// Query heads of a task: of those that share a key's, as many as a task has room for beside so many tokens. They are spread
/// evenly, unless a divisor is nearly as large: then all tasks have the same rows.
int64_t choose_task_heads(const AttentionKernel &kernel, const AttentionCall &call, int64_t longest);

/// Query tokens of a task: as many as the kernel takes, since they share packed keys and values, but enough tasks for all
/// threads, and all of about the same size, since a short last one would pack as much for less.
int64_t choose_task_tokens(const AttentionKernel &kernel, const AttentionCall &call, int64_t longest, int64_t heads,
                           int threads);

/// Keys of a sequence whose key heads share a task, at most: with more, calling a kernel for each is little beside computing.
constexpr int64_t most_own_keys = 128;

/// Key heads of a task with all tokens of a sequence: several where keys are so few that calling a kernel takes longer than computing, or where the
/// heads of a token lie side by side, but tasks for all threads.
int64_t choose_task_key_heads(const AttentionTask &task, int64_t longest, int threads);

/// True if for_own_keys takes all key heads of a task at once. They have the bits that the sequence's kernel gives by a call for each.
bool has_own_keys(const AttentionTask &task, const AttentionKernel &of_sequence, const Sequence &sequence);

} // namespace gyre
