/// For machines without an operating system, whose stacks are small and of known size.
#pragma once
#include <Halide.h>

namespace gyre {

/// Arranges that what the pipeline keeps through a whole call, outside all loops, is allocated by the runtime if it is large
/// for a stack; Halide would have up to 16 KiB of it on the stack. What lives within a loop stays there: register tiles, and
/// what a block of keys needs. To be called before publish_facts().
void use_small_stack(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
