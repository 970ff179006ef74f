/// Kernels by their families: what is looked for, and what is left out.
#pragma once
#include "attention/dispatch/dispatch.h"

namespace gyre {

/// Such kernels gain with some rows and keys alone (choose_in_place()), so that others serve their calls.
bool is_padded_in_place(const AttentionKernel &k);

/// True if a kernel is left out where another one takes less time. A context whose target is forced takes all of that target's own. Masks keep
/// kernels whose row tiles are whole ones of those that take rows of a range (AttentionTask::unmasked). How long pairs of bf16 numbers take beside
/// matrix tiles, for parts of keys, was not measured.
bool is_left_out(const gyre_context &context, const AttentionKernel &k, const AttentionCall &c, bool without_terms);

/// The kernel of a family for the call's type and head sizes; nullptr: none is linked.
const AttentionKernel *find_in_family(const DispatchRule &rule, const gyre_context &context, const AttentionCall &c,
                                      bool without_terms = false);

/// That of the family with these traits.
const AttentionKernel *find_kernel_with(unsigned traits, const gyre_context &context, const AttentionCall &c);

/// That of the first family that takes the call and has one.
const AttentionKernel *find_by_rules(const gyre_context &context, const AttentionCall &c, bool few_queries);

} // namespace gyre
