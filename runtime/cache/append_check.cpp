// Checks of gyre_cache_append()'s tensors. Lists, rotations and positions: append_sequences.cpp.
#include "cache/append_call.h"

#include "cache/tensors.h"
#include "core/error.h"
#include "core/overlap.h"
#include "core/value_blocks.h"

namespace gyre {
namespace {

const char *text(const gyre_tensor &t) { return shape_text(t.shape, t.rank); }

gyre_status check_new_tokens(const gyre_cache_append_args &a, bool need_data, AppendCall *c) {
    GYRE_TRY(view_heads(a.k, "k", a.layout, {GYRE_F32, GYRE_F16, GYRE_BF16}, need_data, &c->k.from));
    GYRE_TRY(view_heads(a.v, "v", a.layout, {a.k.dtype}, need_data, &c->v.from));
    const Heads &k = c->k.from;
    const Heads &v = c->v.from;
    if (v.batch != k.batch || v.seqlen != k.seqlen || v.heads != k.heads)
        return refuse(GYRE_BAD_SHAPE, "v", "got shape %s, expected k's %s but for the last extent", text(a.v),
                      text(a.k));
    return GYRE_OK;
}

gyre_status check_cache(const gyre_tensor &cache, gyre_layout layout, bool need_data, Appended *t) {
    // What is computed in f32 may be kept in less; nothing else is converted.
    if (t->from.dtype == GYRE_F32)
        GYRE_TRY(view_heads(cache, t->cache_name, layout, {GYRE_F32, GYRE_F16, GYRE_BF16}, need_data, &t->to));
    else
        GYRE_TRY(view_heads(cache, t->cache_name, layout, {t->from.dtype}, need_data, &t->to));
    if (t->to.heads != t->from.heads || t->to.dim != t->from.dim)
        return refuse(GYRE_BAD_SHAPE, t->cache_name, "got shape %s, expected %s's %lld heads of %lld features",
                      text(cache), t->name, static_cast<long long>(t->from.heads), static_cast<long long>(t->from.dim));
    if (!writable(t->to)) return refuse(GYRE_BAD_SHAPE, t->cache_name, "strides make elements share memory");
    for (const Heads *view : {&t->from, &t->to})
        if (!fits_run(*view, view->seqlen))
            return refuse(GYRE_UNSUPPORTED, view == &t->from ? t->name : t->cache_name,
                          "strides reach over 2^31 elements within %lld tokens", static_cast<long long>(run_tokens));
    return GYRE_OK;
}

gyre_status check_caches(const gyre_cache_append_args &a, bool need_data, AppendCall *c) {
    if (a.cache_layout != GYRE_BSHD && a.cache_layout != GYRE_BHSD)
        return refuse(GYRE_BAD_ARGUMENT, "cache_layout", "got %d, expected GYRE_BSHD or GYRE_BHSD",
                      static_cast<int>(a.cache_layout));
    GYRE_TRY(check_cache(a.k_cache, a.cache_layout, need_data, &c->k));
    GYRE_TRY(check_cache(a.v_cache, a.cache_layout, need_data, &c->v));
    const Heads &k = c->k.to;
    const Heads &v = c->v.to;
    if (v.dtype != k.dtype)
        return refuse(GYRE_BAD_TYPE, "v_cache", "got %s, expected k_cache's %s", dtype_name(v.dtype),
                      dtype_name(k.dtype));
    if (v.batch != k.batch || v.seqlen != k.seqlen)
        return refuse(GYRE_BAD_SHAPE, "v_cache", "got shape %s, expected k_cache's %s but for the last extent",
                      text(a.v_cache), text(a.k_cache));
    GYRE_TRY(check_value_order(a.value_order));
    c->value_blocks = a.value_order == GYRE_VALUES_IN_BLOCKS;
    return c->value_blocks ? check_value_blocks(v, "v_cache") : GYRE_OK;
}

gyre_status check_overlap(const AppendCall &c) {
    for (const Appended *written : {&c.k, &c.v})
        for (const Appended *read : {&c.k, &c.v})
            if (!disjoint(read->from, written->to))
                return refuse(GYRE_BAD_ARGUMENT, written->cache_name, "overlaps %s, expected other memory", read->name);
    if (!disjoint(c.k.to, c.v.to))
        return refuse(GYRE_BAD_ARGUMENT, "v_cache",
                      "overlaps k_cache, expected other memory, or other slots of one array");
    return GYRE_OK;
}

} // namespace

gyre_status check_append(const gyre_cache_append_args &a, bool need_data, AppendCall *c, bool read_lists) {
    GYRE_TRY(check_layout(a.layout));
    GYRE_TRY(check_new_tokens(a, need_data, c));
    GYRE_TRY(check_caches(a, need_data, c));
    if (need_data) GYRE_TRY(check_overlap(*c));
    need_data = need_data && read_lists;
    GYRE_TRY(check_append_sequences(a, need_data, c));
    GYRE_TRY(check_append_rotations(a, need_data, c));
    if (!need_data) return GYRE_OK;
    return check_reads_apart(a, {{&c->k.to, "k_cache"}, {&c->v.to, "v_cache"}},
                             c->positions.given ? nullptr : a.positions);
}

} // namespace gyre
