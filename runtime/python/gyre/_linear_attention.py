"""Linear attention, with RoPE and carried states, and its gradients."""

from ctypes import pointer
from typing import Any

from ._arrays import as_list, empty, hand_over
from ._call import Call, need_rank
from ._structures import LinearAttentionArgs, LinearAttentionBackwardArgs
from ._values import LAYOUTS, choose, flag, pair
from ._context import Context
from ._rope import Rope, pointer_to


def _args(call: Call, q: Any, k: Any, v: Any, causal: bool, seqused_k: Any, cu_seqlens_q: Any, cu_seqlens_k: Any,
          rope: Rope | None, q_positions: Any, k_positions: Any, state: tuple[Any, Any] | None,
          layout: str) -> LinearAttentionArgs:
    kv_state, k_state = pair(state, "state", "(kv_state, k_state)")
    call.keep(rope)
    return LinearAttentionArgs(
        layout=choose(layout, "layout", LAYOUTS), q=call.tensor(q, "q"), k=call.tensor(k, "k"), v=call.tensor(v, "v"),
        causal=flag(causal, "causal"), seqused_k=call.optional(as_list(seqused_k, "seqused_k"), "seqused_k"),
        cu_seqlens_q=call.optional(as_list(cu_seqlens_q, "cu_seqlens_q"), "cu_seqlens_q"),
        cu_seqlens_k=call.optional(as_list(cu_seqlens_k, "cu_seqlens_k"), "cu_seqlens_k"), rope=pointer_to(rope, "rope"),
        q_positions=call.optional(as_list(q_positions, "q_positions"), "q_positions"),
        k_positions=call.optional(as_list(k_positions, "k_positions"), "k_positions"),
        kv_state=call.optional(kv_state, "kv_state"), k_state=call.optional(k_state, "k_state"))


def _new_states(q: Any, k: Any, v: Any, cu_seqlens_q: Any, layout: str) -> tuple[Any, Any]:
    """kv_state and k_state of these keys, not filled."""
    k_shape, v_shape = need_rank(k, "k", layout), need_rank(v, "v", layout)
    batch = len(cu_seqlens_q) - 1 if layout == "thd" and cu_seqlens_q is not None else k_shape[0]
    heads = k_shape[1] if layout in ("bhsd", "thd") else k_shape[2]
    first = (batch, heads, k_shape[-1])
    return empty(q, (*first, v_shape[-1]), "float32"), empty(q, first, "float32")


def linear_attention(q: Any, k: Any, v: Any, *, causal: bool = False, seqused_k: Any = None, cu_seqlens_q: Any = None,
                     cu_seqlens_k: Any = None, rope: Rope | None = None, q_positions: Any = None, k_positions: Any = None,
                     state: tuple[Any, Any] | None = None, return_state: bool = False, layout: str = "bshd", out: Any = None,
                     context: Context | None = None) -> Any:
    """Σ (R φ(q))·(R φ(k)) v / Σ φ(q)·φ(k), φ(x) = elu(x) + 1, in time linear in the length. The rotation is in the numerator only.

    q, k, v           as attention()'s
    causal            query i sees keys 0 .. i; seqlen_q and seqlen_kv are then equal
    seqused_k, cu_seqlens_q, cu_seqlens_k, rope, q_positions, k_positions    as attention()'s; a sequence that goes on from a
                      state needs both positions
    state             (kv_state, k_state) that an earlier call returned, of keys that all queries here see: float32,
                      [batch, num_kv_heads, head_dim, v_head_dim] and [batch, num_kv_heads, head_dim]
    return_state      also return the state after these keys, as new arrays

    Returns out, or (out, state). Errors: ValueError, TypeError, NotImplementedError, MemoryError.
    """
    call = Call()
    args = _args(call, q, k, v, causal, seqused_k, cu_seqlens_q, cu_seqlens_k, rope, q_positions, k_positions, state, layout)
    given = out
    if out is None:
        out = empty(q, (*need_rank(q, "q", layout)[:-1], need_rank(v, "v", layout)[-1]))
    args.out = call.tensor(out, "out", write=True)
    after = _new_states(q, k, v, cu_seqlens_q, layout) if flag(return_state, "return_state") else None
    if after is not None:
        args.kv_state_out = pointer(call.tensor(after[0], "kv_state_out", write=True))
        args.k_state_out = pointer(call.tensor(after[1], "k_state_out", write=True))
    call.run("gyre_linear_attention", args, context)
    result = out if given is not None else hand_over(out, q)
    return (result, tuple(hand_over(each, q) for each in after)) if after is not None else result


def linear_attention_backward(out_grad: Any, q: Any, k: Any, v: Any, *, causal: bool = False, seqused_k: Any = None,
                              cu_seqlens_q: Any = None, cu_seqlens_k: Any = None, rope: Rope | None = None,
                              q_positions: Any = None, k_positions: Any = None, state: tuple[Any, Any] | None = None,
                              state_out_grad: tuple[Any, Any] | None = None, layout: str = "bshd",
                              context: Context | None = None) -> tuple[Any, ...]:
    """Gradients of linear_attention() with respect to q, k and v, and with `state` also to it.

    out_grad        of out's shape and type
    state_out_grad  gradients of the state that the call returned, float32; None: 0
    All other arguments are those of linear_attention().

    Returns (q_grad, k_grad, v_grad), with `state` also (kv_state_grad, k_state_grad). Errors: as linear_attention().
    """
    call = Call()
    args = _args(call, q, k, v, causal, seqused_k, cu_seqlens_q, cu_seqlens_k, rope, q_positions, k_positions, state, layout)
    grads = [empty(each, need_rank(each, name, layout)) for each, name in ((q, "q"), (k, "k"), (v, "v"))]
    backward = LinearAttentionBackwardArgs(
        forward=pointer(args), out_grad=call.tensor(out_grad, "out_grad"), q_grad=call.tensor(grads[0], "q_grad", write=True),
        k_grad=call.tensor(grads[1], "k_grad", write=True), v_grad=call.tensor(grads[2], "v_grad", write=True))
    kv_grad, k_grad = pair(state_out_grad, "state_out_grad", "(kv_state_out_grad, k_state_out_grad)")
    backward.kv_state_out_grad = call.optional(kv_grad, "kv_state_out_grad")
    backward.k_state_out_grad = call.optional(k_grad, "k_state_out_grad")
    before = _new_states(q, k, v, cu_seqlens_q, layout) if state is not None else ()
    if before:
        backward.kv_state_grad = pointer(call.tensor(before[0], "kv_state_grad", write=True))
        backward.k_state_grad = pointer(call.tensor(before[1], "k_state_grad", write=True))
    call.run("gyre_linear_attention_backward", backward, context)
    found = tuple(hand_over(grad, q) for grad in grads)
    return (*found, tuple(hand_over(each, q) for each in before)) if before else found
