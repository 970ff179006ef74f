#include "core/workspace.h"

#include "core/error.h"
#include "gyre/kernels.h"

#include <cstdlib>

namespace gyre {

/// Heads each block, on a cache line of its own so that the block is aligned.
struct alignas(cache_line) Slab::Block {
    Block *below;
    size_t end; // offset of the first byte after the block
    bool free;
    bool on_heap;
};

void *Slab::allocate(size_t bytes) {
    const size_t begin = top ? top->end : 0;
    const size_t end = begin + sizeof(Block) + round_up(bytes);
    if (end > size) {
        overflow = true;
        auto *block = static_cast<Block *>(std::aligned_alloc(cache_line, sizeof(Block) + round_up(bytes)));
        if (!block) return nullptr;
        *block = {nullptr, 0, false, true};
        return block + 1;
    }
    auto *block = reinterpret_cast<Block *>(base + begin);
    *block = {top, end, false, false};
    top = block;
    return block + 1;
}

void Slab::release(void *pointer) {
    if (!pointer) return;
    Block *block = static_cast<Block *>(pointer) - 1;
    if (block->on_heap) return std::free(block);
    block->free = true;
    while (top && top->free) top = top->below;
}

Arena::~Arena() { std::free(memory); }

void *Arena::reserve(size_t bytes) {
    if (bytes <= capacity) return memory;
    std::free(memory);
    capacity = 0;
    memory = nullptr;
    if (bytes > SIZE_MAX - cache_line) return nullptr;
    memory = std::aligned_alloc(cache_line, round_up(bytes));
    if (memory) capacity = round_up(bytes);
    return memory;
}

gyre_status acquire_workspace(void *callers, size_t callers_size, size_t needed, Arena &arena, char **memory) {
    if (callers) {
        if (callers_size < saturated_bytes(needed, workspace_slack))
            return refuse(GYRE_WORKSPACE_TOO_SMALL, "workspace_size", "got %zu bytes, expected at least %zu",
                          callers_size, saturated_bytes(needed, workspace_slack));
        const auto address = reinterpret_cast<uintptr_t>(callers);
        *memory = static_cast<char *>(callers) + (round_up(address) - address);
        return GYRE_OK;
    }
    if (callers_size)
        return refuse(GYRE_BAD_ARGUMENT, "workspace", "got NULL with workspace_size %zu, expected a buffer or size 0",
                      callers_size);
    *memory = static_cast<char *>(arena.reserve(needed));
    if (!*memory && needed) return fail(Failure::out_of_memory, "workspace: no memory for %zu bytes", needed);
    return GYRE_OK;
}

} // namespace gyre

// What kernels call; their user context is the slab of the thread that runs them.
extern "C" void *gyre_kernel_malloc(void *slab, size_t bytes) {
    return static_cast<gyre::Slab *>(slab)->allocate(bytes);
}
extern "C" void gyre_kernel_free(void *slab, void *pointer) { static_cast<gyre::Slab *>(slab)->release(pointer); }
