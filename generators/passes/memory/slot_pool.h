/// The slots of a kernel's one allocation: see workspace_slots.h.
#pragma once
#include <Halide.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gyre {

/// Memory that blocks of one type have in turn.
class SlotPool {
public:
    bool empty() const { return slots.empty(); }

    /// Takes the smallest free slot that suffices, else the largest, which grows; a new one if none of the type is free.
    size_t take(const Halide::Type &type, int64_t bytes);
    void give_back(size_t slot) { slots[slot].taken = false; }
    const std::string &name(size_t slot) const { return slots[slot].name; }

    /// Allocates all slots around `body`, one after the other.
    Halide::Internal::Stmt allocate_around(Halide::Internal::Stmt body) const;

private:
    struct Slot {
        std::string name;
        Halide::Type type;
        int64_t bytes;
        bool taken;
    };
    std::vector<Slot> slots;
};

} // namespace gyre
