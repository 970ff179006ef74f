#include "cache_slots.h"

#include "../passes/cuda/primitives.h"

namespace gyre::rotary {
using namespace Halide;

CacheSlot cache_slot(const CacheLists &in, const std::string &name) {
    CacheSlot s;
    s.token = packed_token(in.tokens, name);
    const Var &b = s.token.b;
    const auto within = [](const Expr &index, const Expr &extent) {
        return unsafe_promise_clamped(clamp(index, 0, extent - 1), 0, extent - 1);
    };
    const Expr sequence = s.token.index, first = s.token.first;
    const Expr end = cuda::choose(in.tokens.packed, in.tokens.bounds(sequence + 1), b + 1);
    s.key = cuda::choose(in.has_held, in.held(sequence), 0) + b - first;
    const Expr listed = in.page_table(within(s.key >> in.page_bits, in.most_pages), sequence);
    const Expr entry = cuda::choose(in.paged, listed, sequence);
    const Expr slot = select(in.paged, s.key & ((1 << in.page_bits) - 1), s.key);
    s.distance = (slot - b) * in.slot_stride + entry * in.entry_stride;
    s.exists = b >= first && b < end && s.key >= 0 && s.key < in.capacity && entry >= 0 && entry < in.entries;
    return s;
}

} // namespace gyre::rotary
