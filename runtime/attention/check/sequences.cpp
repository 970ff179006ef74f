// Checks of gyre_attention()'s lists of lengths, rotations and positions.
#include "attention/check/check.h"

#include "core/error.h"
#include "core/sequence_lists.h"

#include <algorithm>

namespace gyre {
namespace {

/// A rotation of attention's heads: the first features, angles by position.
gyre_status check_rotation(const gyre_rope *rope, const char *name, int64_t dim, const AttentionCall &c, bool need_data,
                           Rotation *out) {
    if (!rope) return GYRE_OK;
    GYRE_TRY(check_rope(rope, name, dim, c.q.batch, c.q.seqlen, need_data, out));
    if (out->offset)
        return refuse(GYRE_UNSUPPORTED, ArgumentName("%s.rotary_offset", name), "got %d, expected 0 in attention",
                      out->offset);
    if (out->per_token)
        return refuse(GYRE_UNSUPPORTED, ArgumentName("%s.cos", name),
                      "got a row a token, expected [rows, rotary_dim / 2] read at the position");
    return GYRE_OK;
}

/// Consecutive positions that are not given: queries may stand before the first key, unless a table has no row for
/// that.
gyre_status check_default_positions(const AttentionCall &c, const char *name, const Rotation &r, bool rotates_keys) {
    if (!r.on || !r.cos) return GYRE_OK;
    for (int64_t i = 0; i < c.lengths(); i++) {
        const Sequence s = c.sequence(i);
        const int64_t first = s.k_len - s.q_len, last = s.k_len - 1;
        if (s.q_len > 0 && !c.q_positions.given && (first < 0 || last >= r.position_limit()))
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.cos", name),
                          "queries stand at %lld .. %lld, expected rows for all of them, got %lld",
                          static_cast<long long>(first), static_cast<long long>(last),
                          static_cast<long long>(r.position_limit()));
        const int64_t last_key = c.existing_keys(i) - 1;
        if (rotates_keys && !c.k_positions.given && last_key >= r.position_limit())
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.cos", name),
                          "keys stand at 0 .. %lld, expected rows for all of them, got %lld",
                          static_cast<long long>(last_key), static_cast<long long>(r.position_limit()));
    }
    return GYRE_OK;
}

/// Positions of keys that exist; padding has none.
gyre_status check_key_positions(const AttentionCall &c, int axes, int64_t limit) {
    const Positions &p = c.k_positions;
    if (!p.data || c.k.seqlen == 0) return GYRE_OK;
    const int64_t distinct = p.batch_stride ? c.sequences : c.lengths();
    for (int64_t i = 0; i < distinct; i++) {
        const Sequence s = c.sequence(i);
        const int64_t batch = p.batch_stride ? s.k_batch : 0, first = c.packed_keys ? s.k_first : 0;
        GYRE_TRY(check_position_values(p, "k_positions", axes, batch, first, c.existing_keys(i), limit));
    }
    return GYRE_OK;
}

} // namespace

gyre_status check_sequences(const gyre_attention_args &a, bool need_data, AttentionCall *c) {
    const bool packed = a.layout == GYRE_THD;
    c->packed_keys = packed && !a.page_table;
    if (packed != (a.cu_seqlens_q != nullptr))
        return refuse(GYRE_BAD_ARGUMENT, "cu_seqlens_q", "got %s, expected one with layout thd alone",
                      packed ? "NULL" : "a list");
    if (c->packed_keys != (a.cu_seqlens_k != nullptr))
        return refuse(GYRE_BAD_ARGUMENT, "cu_seqlens_k",
                      "got %s, expected one with layout thd alone, without a page table",
                      c->packed_keys ? "NULL" : "a list");
    c->sequences = c->q.batch;
    if (!packed) return GYRE_OK;
    c->has_cu_seqlens_q = true;
    GYRE_TRY(check_bounds(*a.cu_seqlens_q, "cu_seqlens_q", c->q.seqlen, need_data, &c->cu_seqlens_q, &c->sequences));
    if (!c->packed_keys) return GYRE_OK;
    GYRE_TRY(check_list(*a.cu_seqlens_k, "cu_seqlens_k", c->sequences + 1, need_data, &c->cu_seqlens_k));
    return need_data ? check_cumulative(c->cu_seqlens_k, "cu_seqlens_k", c->sequences + 1, c->k.seqlen) : GYRE_OK;
}

gyre_status check_used_keys(const gyre_attention_args &a, bool need_data, AttentionCall *c) {
    if (!a.seqused_k) return GYRE_OK;
    GYRE_TRY(check_list(*a.seqused_k, "seqused_k", c->sequences, need_data, &c->seqused_k));
    c->has_used_keys = true;
    for (int64_t i = 0; need_data && i < c->sequences; i++) {
        const int64_t most = c->packed_keys ? c->cu_seqlens_k[i + 1] - c->cu_seqlens_k[i] : c->k.seqlen;
        if (c->seqused_k[i] < 0 || c->seqused_k[i] > most)
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("seqused_k[%lld]", static_cast<long long>(i)),
                          "got %d, expected 0 .. %lld", c->seqused_k[i], static_cast<long long>(most));
    }
    return GYRE_OK;
}

Sequence AttentionCall::sequence(int64_t i) const {
    Sequence s{i, 0, q.seqlen, 0, k.seqlen, i};
    if (cu_seqlens_q) {
        s.batch = 0;
        s.q_first = cu_seqlens_q[i];
        s.q_len = cu_seqlens_q[i + 1] - s.q_first;
    }
    if (cu_seqlens_k) {
        s.k_batch = 0;
        s.k_first = cu_seqlens_k[i];
        s.k_len = cu_seqlens_k[i + 1] - s.k_first;
    }
    if (seqused_k && lengths_move_queries) s.k_len = seqused_k[i];
    s.past_seen = s.k_len;
    s.left = left;
    s.right = right;
    if (is_x86) s.narrow_to_window(shift(s), first_key_unit());
    s.keys_shown = s.keys_seen();
    if (!by_key_range || !key_ranges) return s;
    s.narrow(key_ranges[i]);
    if (is_x86) s.narrow_to_window(shift(s), first_key_unit());
    return s;
}

gyre_status check_rotations(const gyre_attention_args &a, bool need_data, AttentionCall *c) {
    GYRE_TRY(check_rotation(a.rope, "rope", c->q.dim, *c, need_data, &c->rope));
    GYRE_TRY(check_rotation(a.value_rope, "value_rope", c->v.dim, *c, need_data, &c->value_rope));
    c->value_rope.scale = 1; // the weighted sum of rotated values is rotated back: a scale would be applied twice
    if (a.keys_rotated && !a.rope) return refuse(GYRE_BAD_ARGUMENT, "keys_rotated", "is set without rope");
    if (a.values_rotated && !a.value_rope)
        return refuse(GYRE_BAD_ARGUMENT, "values_rotated", "is set without value_rope");
    c->rotate_keys = c->rope.on && !a.keys_rotated;
    c->rotate_values = c->value_rope.on && !a.values_rotated;
    c->same_angles = c->rope.on && c->value_rope.on && same_angles(c->rope, c->value_rope);
    if (!c->rope.on && !c->value_rope.on) {
        const gyre_tensor *useless = a.q_positions ? a.q_positions : a.k_positions;
        if (useless)
            return refuse(GYRE_BAD_ARGUMENT, a.q_positions ? "q_positions" : "k_positions",
                          "are given without rope or value_rope");
        return GYRE_OK;
    }
    if (c->rope.on && c->value_rope.on && c->rope.axes != c->value_rope.axes)
        return refuse(GYRE_BAD_ARGUMENT, "value_rope.axes", "got %d, expected rope's %d", c->value_rope.axes,
                      c->rope.axes);
    int64_t limit = INT64_C(1) << 31;
    for (const Rotation *r : {&c->rope, &c->value_rope})
        if (r->on) limit = std::min(limit, r->position_limit());
    const int axes = c->rope.on ? c->rope.axes : c->value_rope.axes;
    if (a.q_positions)
        GYRE_TRY(check_positions(a.q_positions, "q_positions", axes, c->q.batch, c->q.seqlen, 0, limit, need_data,
                                 &c->q_positions));
    if (a.k_positions)
        GYRE_TRY(
            view_positions(*a.k_positions, "k_positions", axes, c->k.batch, c->k.seqlen, need_data, &c->k_positions));
    if (!need_data) return GYRE_OK;
    GYRE_TRY(check_key_positions(*c, axes, limit));
    GYRE_TRY(check_default_positions(*c, "rope", c->rope, c->rotate_keys));
    return check_default_positions(*c, "value_rope", c->value_rope, c->rotate_values);
}

} // namespace gyre
