#include "slot_pool.h"

#include <algorithm>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

constexpr int64_t slot_alignment = 64;
constexpr int64_t gap = 64; // after each slot: vectors may be read past a block's end

} // namespace

size_t SlotPool::take(const Type &type, int64_t bytes) {
    size_t best = slots.size();
    const auto is_better = [&](int64_t size, int64_t than) {
        return size >= bytes ? than < bytes || size < than : than < size;
    };
    for (size_t i = 0; i < slots.size(); i++)
        if (!slots[i].taken && slots[i].type == type &&
            (best == slots.size() || is_better(slots[i].bytes, slots[best].bytes)))
            best = i;
    if (best == slots.size()) slots.push_back({unique_name("slot"), type, 0, false});
    slots[best].bytes = std::max(slots[best].bytes, bytes);
    slots[best].taken = true;
    return best;
}

Stmt SlotPool::allocate_around(Stmt body) const {
    const std::string workspace = unique_name("workspace");
    const Expr begin = reinterpret<uint64_t>(Variable::make(Handle(), workspace));
    int64_t end = 0;
    for (const Slot &slot : slots) {
        const Expr address = reinterpret(Handle(), begin + make_const(UInt(64), end));
        body = LetStmt::make(slot.name, address, body);
        end += (slot.bytes + slot_alignment - 1) / slot_alignment * slot_alignment + gap;
    }
    body = Block::make(body, Free::make(workspace));
    return Allocate::make(workspace, UInt(8), MemoryType::Heap, {Expr(static_cast<int32_t>(end))}, const_true(), body);
}

} // namespace gyre
