// Checks of gyre_linear_attention(): those of attention, and of what is different.
#include "linear/check.h"

#include "attention/call/tensors.h"
#include "attention/check/check.h"
#include "core/error.h"
#include "core/overlap.h"

#include <utility>

namespace gyre {
namespace {

/// Row i of causal queries is key i.
gyre_status check_same_tokens(const LinearCall &c, const gyre_linear_attention_args &a, bool need_data) {
    const AttentionCall &h = c.heads;
    if (h.k.seqlen != h.q.seqlen)
        return refuse(GYRE_BAD_SHAPE, "k", "got %lld tokens, expected q's %lld in a causal call",
                      static_cast<long long>(h.k.seqlen), static_cast<long long>(h.q.seqlen));
    for (int64_t i = 0; need_data && h.cu_seqlens_q && i <= h.sequences; i++)
        if (h.cu_seqlens_k[i] != h.cu_seqlens_q[i])
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("cu_seqlens_k[%lld]", static_cast<long long>(i)),
                          "got %d, expected cu_seqlens_q's %d in a causal call", h.cu_seqlens_k[i], h.cu_seqlens_q[i]);
    if (h.rope.on && !a.q_positions != !a.k_positions)
        return refuse(GYRE_BAD_ARGUMENT, a.q_positions ? "k_positions" : "q_positions",
                      "got NULL beside %s, expected both or neither in a causal call",
                      a.q_positions ? "q_positions" : "k_positions");
    return GYRE_OK;
}

/// The arguments that linear attention shares with attention.
gyre_attention_args shared_arguments(const gyre_linear_attention_args &a) {
    gyre_attention_args shared = gyre_attention_defaults();
    shared.layout = a.layout;
    shared.q = a.q;
    shared.k = a.k;
    shared.v = a.v;
    shared.out = a.out;
    shared.causal = a.causal;
    shared.seqused_k = a.seqused_k;
    shared.cu_seqlens_q = a.cu_seqlens_q;
    shared.cu_seqlens_k = a.cu_seqlens_k;
    shared.rope = a.rope;
    shared.q_positions = a.q_positions;
    shared.k_positions = a.k_positions;
    return shared;
}

bool same_positions(const Positions &a, const Positions &b) {
    if (!a.given && !b.given) return true;
    return a.data && a.data == b.data && a.wide == b.wide && a.axis_stride == b.axis_stride &&
           a.batch_stride == b.batch_stride && a.token_stride == b.token_stride;
}

} // namespace

gyre_status view_state(const gyre_tensor *kv, const char *kv_name, const gyre_tensor *k, const char *k_name,
                       const AttentionCall &c, bool need_data, LinearState *state) {
    if (!kv != !k)
        return refuse(GYRE_BAD_ARGUMENT, kv ? k_name : kv_name, "got NULL beside %s, expected both or neither",
                      kv ? kv_name : k_name);
    if (!kv) return GYRE_OK;
    GYRE_TRY(view_heads(*kv, kv_name, GYRE_BHSD, {GYRE_F32}, need_data, &state->kv));
    GYRE_TRY(check_shape(*kv, kv_name, {c.sequences, c.k.heads, c.k.dim, c.v.dim}));
    GYRE_TRY(check_tensor(*k, k_name, {3}, {GYRE_F32}, need_data));
    GYRE_TRY(check_shape(*k, k_name, {c.sequences, c.k.heads, c.k.dim}));
    int64_t strides[GYRE_MAX_RANK];
    find_strides(*k, strides);
    state->k = {static_cast<char *>(k->data), GYRE_F32, c.sequences, 1, c.k.heads, c.k.dim, strides[0], 0, strides[1]};
    return GYRE_OK;
}

gyre_status check_apart(const Named &written, std::initializer_list<Named> others) {
    if (!written.view->data) return GYRE_OK;
    if (!writable(*written.view)) return refuse(GYRE_BAD_SHAPE, written.name, "strides make elements share memory");
    for (const Named &other : others)
        if (other.view->data && !disjoint(*written.view, *other.view))
            return refuse(GYRE_BAD_ARGUMENT, written.name, "overlaps %s, expected other memory", other.name);
    return GYRE_OK;
}

gyre_status check_lists_apart(const gyre_linear_attention_args &a, std::initializer_list<Written> written) {
    return check_reads_apart(shared_arguments(a), written);
}

gyre_status check_linear_inputs(const gyre_linear_attention_args &a, bool need_data, bool with_out, LinearCall *c,
                                bool read_lists) {
    const gyre_attention_args shared = shared_arguments(a);
    AttentionCall &h = c->heads;
    GYRE_TRY(check_flag(a.causal, "causal"));
    c->causal = a.causal != 0;
    h.lengths_move_queries = !c->causal;
    h.takes_narrow_keys = false;
    GYRE_TRY(check_attention(shared, need_data, &h, with_out, read_lists));
    if (c->causal) {
        GYRE_TRY(check_same_tokens(*c, a, need_data && read_lists));
        c->same_tokens = same_positions(h.q_positions, h.k_positions);
        if (c->same_tokens) h.rotate_keys = false; // by a table of their own
    }
    return view_state(a.kv_state, "kv_state", a.k_state, "k_state", h, need_data, &c->before);
}

gyre_status check_linear(const gyre_linear_attention_args &a, bool need_data, LinearCall *c, bool read_lists) {
    GYRE_TRY(check_linear_inputs(a, need_data, true, c, read_lists));
    const AttentionCall &h = c->heads;
    GYRE_TRY(view_state(a.kv_state_out, "kv_state_out", a.k_state_out, "k_state_out", h, need_data, &c->after));
    if (!need_data) return GYRE_OK;
    const LinearState &before = c->before, &after = c->after;
    const Named q{&h.q, "q"}, k{&h.k, "k"}, v{&h.v, "v"}, out{&h.out, "out"};
    GYRE_TRY(
        check_apart({&after.kv, "kv_state_out"}, {q, k, v, out, {&after.k, "k_state_out"}, {&before.k, "k_state"}}));
    GYRE_TRY(check_apart({&after.k, "k_state_out"}, {q, k, v, out, {&before.kv, "kv_state"}}));
    GYRE_TRY(check_apart(out, {{&before.kv, "kv_state"}, {&before.k, "k_state"}}));
    const std::pair<Named, const Heads *> in_place[] = {{{&after.kv, "kv_state_out"}, &before.kv},
                                                        {{&after.k, "k_state_out"}, &before.k}};
    for (const auto &[written, read] : in_place)
        if (written.view->data && read->data && !same_or_disjoint(*written.view, *read))
            return refuse(GYRE_BAD_ARGUMENT, written.name,
                          "overlaps its state before without being it, expected the same view or "
                          "other memory");
    return check_lists_apart(a, {{&after.kv, "kv_state_out"}, {&after.k, "k_state_out"}});
}

} // namespace gyre
