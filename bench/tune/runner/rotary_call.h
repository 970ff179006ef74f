/// What reaches a kernel of rotary: gyre_rotary(), or if it converts, gyre_cache_append() of keys alone.
#pragma once

#include <gyre/gyre.h>

#include <cstddef>

namespace gyre::tune {

/// x as keys that go into the empty cache `out`; values have no features. `rotary` must outlive it.
inline gyre_cache_append_args append_of(const gyre_rotary_args &rotary) {
    gyre_cache_append_args append = gyre_cache_append_defaults();
    append.layout = append.cache_layout = rotary.layout;
    append.k = append.v = rotary.x;
    append.k_cache = append.v_cache = rotary.out;
    append.v.shape[append.v.rank - 1] = append.v_cache.shape[append.v.rank - 1] = 0;
    append.rope = &rotary.rope;
    append.positions = rotary.positions;
    append.workspace = rotary.workspace;
    append.workspace_size = rotary.workspace_size;
    return append;
}

inline gyre_status run_rotary(gyre_context *context, const gyre_rotary_args &args) {
    if (args.x.dtype == args.out.dtype) return gyre_rotary(context, &args);
    const gyre_cache_append_args append = append_of(args);
    return gyre_cache_append(context, &append);
}

inline gyre_status rotary_workspace_size(gyre_context *context, const gyre_rotary_args &args, std::size_t *bytes) {
    if (args.x.dtype == args.out.dtype) return gyre_rotary_workspace_size(context, &args, bytes);
    const gyre_cache_append_args append = append_of(args);
    return gyre_cache_append_workspace_size(context, &append, bytes);
}

} // namespace gyre::tune
