#include "cache_slots.h"

#include "../passes/cuda/primitives.h"

namespace gyre::rotary {
using namespace Halide;

CacheSlot cache_slot(const CacheLists &in, const std::string &name) {
    CacheSlot s;
    const Var &b = s.b, &c = s.c;
    const auto within = [](const Expr &index, const Expr &extent) {
        return unsafe_promise_clamped(clamp(index, 0, extent - 1), 0, extent - 1);
    };
    RDom before(1, select(in.packed, in.sequences, 1) - 1, name + "_before");
    s.before = before;
    s.sequence = Func(name);
    s.sequence(b, c) = c;
    s.sequence(b, c) += select(in.bounds(before) <= b, 1, 0);
    const Expr sequence = within(s.sequence(b, c), in.sequences);
    const Expr first = cuda::choose(in.packed, in.bounds(sequence), 0);
    const Expr end = cuda::choose(in.packed, in.bounds(sequence + 1), b + 1);
    s.key = cuda::choose(in.has_held, in.held(sequence), 0) + b - first;
    const Expr listed = in.page_table(within(s.key >> in.page_bits, in.most_pages), sequence);
    const Expr entry = cuda::choose(in.paged, listed, sequence);
    const Expr slot = select(in.paged, s.key & ((1 << in.page_bits) - 1), s.key);
    s.distance = (slot - b) * in.slot_stride + entry * in.entry_stride;
    s.exists = b >= first && b < end && s.key >= 0 && s.key < in.capacity && entry >= 0 && entry < in.entries;
    return s;
}

} // namespace gyre::rotary
