// Checks of gyre_cache_append()'s lists, rotations and positions.
#include "cache/append_call.h"

#include "core/error.h"
#include "core/sequence_lists.h"

#include <algorithm>

namespace gyre {
namespace {

gyre_status check_packing(const gyre_cache_append_args &a, bool need_data, AppendCall *c) {
    const bool packed = a.layout == GYRE_THD;
    if (packed != (a.cu_seqlens_k != nullptr))
        return refuse(GYRE_BAD_ARGUMENT, "cu_seqlens_k", "got %s, expected one with layout thd and none with another",
                      packed ? "NULL" : "a list");
    c->sequences = c->k.from.batch;
    if (!packed) return GYRE_OK;
    return check_bounds(*a.cu_seqlens_k, "cu_seqlens_k", c->k.from.seqlen, need_data, &c->cu_seqlens, &c->sequences);
}

/// The page table, or that the cache has an entry a sequence.
gyre_status check_page_table(const gyre_cache_append_args &a, bool need_data, AppendCall *c) {
    const Heads &cache = c->k.to;
    c->capacity = cache.seqlen;
    if (!a.page_table) {
        if (cache.batch == c->sequences) return GYRE_OK;
        return refuse(GYRE_BAD_SHAPE, "k_cache", "got shape %s, expected a batch of %lld",
                      shape_text(a.k_cache.shape, a.k_cache.rank), static_cast<long long>(c->sequences));
    }
    const gyre_tensor &t = *a.page_table;
    GYRE_TRY(check_tensor(t, "page_table", {2}, {GYRE_I32}, need_data));
    if (t.shape[0] != c->sequences)
        return refuse(GYRE_BAD_SHAPE, "page_table", "got shape %s, expected a batch of %lld",
                      shape_text(t.shape, t.rank), static_cast<long long>(c->sequences));
    GYRE_TRY(check_page_size(cache.seqlen, "k_cache", &c->pages.bits));
    c->paged = true;
    c->pages.entries = static_cast<const int32_t *>(t.data);
    c->pages.stride = t.strides[0];
    c->capacity = std::min(t.shape[1], INT64_MAX >> c->pages.bits) << c->pages.bits;
    return GYRE_OK;
}

/// How many sequences have to be looked at: those without tokens or lists are alike, and may be any number.
int64_t distinct_sequences(const AppendCall &c) {
    const bool alike = !c.cu_seqlens && !c.cache_seqlens && c.k.from.seqlen == 0;
    return alike ? std::min<int64_t>(c.sequences, 1) : c.sequences;
}

/// Checks that every sequence has room for its new tokens, in pages that exist.
gyre_status check_room(const AppendCall &c) {
    for (int64_t i = 0; i < distinct_sequences(c); i++) {
        const NewTokens n = c.of_sequence(i);
        if (n.slot < 0)
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("cache_seqlens[%lld]", static_cast<long long>(i)),
                          "got %lld, expected 0 or more", static_cast<long long>(n.slot));
        if (n.slot > c.capacity - n.count)
            return refuse(GYRE_BAD_ARGUMENT,
                          ArgumentName("%s[%lld]", c.cache_seqlens ? "cache_seqlens" : "k", static_cast<long long>(i)),
                          "got %lld keys and %lld new tokens, expected at most %lld in all",
                          static_cast<long long>(n.slot), static_cast<long long>(n.count),
                          static_cast<long long>(c.capacity));
        if (c.paged && n.count)
            GYRE_TRY(check_page_ids(c.pages.entries + i * c.pages.stride, i, n.slot >> c.pages.bits,
                                    ((n.slot + n.count - 1) >> c.pages.bits) + 1, c.k.to.batch));
    }
    return GYRE_OK;
}

/// Positions that are not given: those of the slots.
gyre_status check_default_positions(const AppendCall &c, int64_t limit) {
    for (int64_t i = 0; i < distinct_sequences(c); i++) {
        const NewTokens n = c.of_sequence(i);
        if (n.count && n.slot > limit - n.count)
            return refuse(GYRE_BAD_ARGUMENT, "positions",
                          "got NULL, and keys of sequence %lld stand at %lld .. %lld, expected positions "
                          "below %lld",
                          static_cast<long long>(i), static_cast<long long>(n.slot),
                          static_cast<long long>(n.slot + n.count - 1), static_cast<long long>(limit));
    }
    return GYRE_OK;
}

} // namespace

gyre_status check_append_sequences(const gyre_cache_append_args &a, bool need_data, AppendCall *c) {
    GYRE_TRY(check_packing(a, need_data, c));
    GYRE_TRY(check_page_table(a, need_data, c));
    if (a.cache_seqlens)
        GYRE_TRY(check_list(*a.cache_seqlens, "cache_seqlens", c->sequences, need_data, &c->cache_seqlens));
    return need_data ? check_room(*c) : GYRE_OK;
}

gyre_status check_append_rotations(const gyre_cache_append_args &a, bool need_data, AppendCall *c) {
    const Heads &from = c->k.from;
    if (a.rope) GYRE_TRY(check_rope(a.rope, "rope", from.dim, from.batch, from.seqlen, need_data, &c->k.rotation));
    if (a.value_rope)
        GYRE_TRY(
            check_rope(a.value_rope, "value_rope", c->v.from.dim, from.batch, from.seqlen, need_data, &c->v.rotation));
    const Rotation &rope = c->k.rotation;
    const Rotation &value_rope = c->v.rotation;
    c->v.rotation.scale = 1; // as in attention, which rotates the weighted sum back
    c->same_angles = rope.on && value_rope.on && same_angles(rope, value_rope);
    if (!rope.on && !value_rope.on)
        return a.positions ? refuse(GYRE_BAD_ARGUMENT, "positions", "are given without rope or value_rope") : GYRE_OK;
    if (rope.on && value_rope.on && rope.axes != value_rope.axes)
        return refuse(GYRE_BAD_ARGUMENT, "value_rope.axes", "got %d, expected rope's %d", value_rope.axes, rope.axes);
    bool read = false; // by some rotation whose tables are not a row a token
    int64_t limit = INT64_C(1) << 31;
    for (const Rotation *r : {&rope, &value_rope})
        if (r->on && !r->per_token) {
            read = true;
            limit = std::min(limit, r->position_limit());
        }
    if (!read) return GYRE_OK;
    if (a.positions)
        return check_positions(a.positions, "positions", rope.on ? rope.axes : value_rope.axes, from.batch, from.seqlen,
                               0, limit, need_data, &c->positions);
    return need_data ? check_default_positions(*c, limit) : GYRE_OK;
}

} // namespace gyre
