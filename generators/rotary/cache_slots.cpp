#include "cache_slots.h"

#include "../passes/cuda/primitives.h"

namespace gyre::rotary {
using namespace Halide;

namespace {

Expr within(const Expr &index, const Expr &extent) {
    return unsafe_promise_clamped(clamp(index, 0, extent - 1), 0, extent - 1);
}

Expr listed_page(const CacheLists &in, const Expr &key, const Expr &sequence) {
    return in.page_table(within(key >> in.page_bits, in.most_pages), sequence);
}

Expr slot_in_page(const CacheLists &in, const Expr &key) { return key & ((1 << in.page_bits) - 1); }

} // namespace

Tuple slot_of_input(const CacheLists &in, const Expr &entries, const Expr &b, const Expr &c) {
    return {select(in.from_pages, slot_in_page(in, b), b),
            cuda::choose(in.from_pages, within(listed_page(in, b, c), entries), c)};
}

CacheSlot cache_slot(const CacheLists &in, const std::string &name) {
    CacheSlot s;
    s.token = packed_token(in.tokens, name);
    const Var &b = s.token.b;
    const Expr sequence = s.token.index, first = s.token.first;
    const Expr end = cuda::choose(in.tokens.packed, in.tokens.bounds(sequence + 1), b + 1);
    const Expr held = cuda::choose(in.has_held, in.held(sequence), select(in.from_pages, in.capacity, 0));
    s.key = select(in.from_pages, 0, held) + b - first;
    const Expr entry = cuda::choose(in.paged, listed_page(in, s.key, sequence), sequence);
    const Expr slot = select(in.paged, slot_in_page(in, s.key), s.key);
    s.distance = (slot - b) * in.slot_stride + entry * in.entry_stride;
    s.exists = b >= first && b < end && s.key >= 0 && s.key < in.capacity && entry >= 0 && entry < in.entries &&
               (!in.from_pages || s.key < held);
    return s;
}

} // namespace gyre::rotary
