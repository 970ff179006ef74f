/// Keeps blocks off the stacks of machines without an operating system, which are small and of known size.
#pragma once
#include <Halide.h>

namespace gyre {

/// Arranges that what is large for a stack is allocated by the runtime; Halide would have up to 16 KiB of it on the stack.
/// Within a loop, where an allocation is made again and again, more is not yet large. Elements of a Tuple share an allocation
/// (joined_tuples.h). To be called before publish_facts().
void use_small_stack(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
