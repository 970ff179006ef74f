/// The memory of a kernel in one allocation, whose places are known when it is made.
#pragma once
#include <Halide.h>

namespace gyre {

/// Arranges that a kernel allocates once and keeps little on the stack. Halide would have each block of up to 16 KiB on the
/// stack, and each larger one from the runtime wherever it is needed, inner loops included. Here blocks are slots of one
/// allocation; blocks of one type that do not live at once share a slot. On the stack stay those that the compiler takes into
/// registers, because all their elements are used at constant places, and those of up to `most_on_stack` bytes. To be called after
/// all passes that name allocations. `memory_apart`: the latter live as long as the kernel. Otherwise Halide gives them memory of the former, whose life is
/// over, which the compiler then keeps in memory, too.
void use_workspace_slots(Halide::Internal::GeneratorBase &generator, int64_t most_on_stack = 256,
                         bool memory_apart = false);

} // namespace gyre
