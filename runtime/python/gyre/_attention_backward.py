"""Gradients of attention."""

from ctypes import pointer
from typing import Any

from ._arrays import empty, hand_over
from ._attention_args import attention_args
from ._call import Call, need_rank, shape_of
from ._structures import AttentionBackwardArgs
from ._context import Context
from ._rope import Rope
from ._values import flag


def attention_backward(out_grad: Any, q: Any, k: Any, v: Any, out: Any, lse: Any, *, scale: float | None = None,
                       causal: bool = False, alignment: str = "bottom_right", window: tuple[int, int] | None = None,
                       softcap: float = 0.0, bias: Any = None, alibi: Any = None, seqused_k: Any = None,
                       cu_seqlens_q: Any = None, cu_seqlens_k: Any = None, rope: Rope | None = None,
                       value_rope: Rope | None = None, keys_rotated: bool = False, values_rotated: bool = False,
                       q_positions: Any = None, k_positions: Any = None, dropout: float = 0.0, dropout_seed: int = 0,
                       dropout_offset: int = 0, layout: str = "bshd", return_bias_grad: bool = False,
                       context: Context | None = None) -> tuple[Any, ...]:
    """Gradients of attention() with respect to q, k and v as they were given, before they are rotated.

    out_grad          of out's shape and type
    out, lse          what attention(…, return_lse=True) returned
    return_bias_grad  also return the gradient of bias, float32, summed over what bias is repeated for
    All other arguments are those of attention(). Probabilities are formed again from lse: never a seqlen_q × seqlen_kv array.

    Returns (q_grad, k_grad, v_grad) of the arrays' shapes and types, and bias_grad. Errors: as attention().
    """
    call = Call()
    args = attention_args(call, q, k, v, scale=scale, causal=causal, alignment=alignment, window=window, softcap=softcap,
                          bias=bias, mask=None, sinks=None, alibi=alibi, seqused_k=seqused_k, cu_seqlens_q=cu_seqlens_q,
                          cu_seqlens_k=cu_seqlens_k, block_table=None, rope=rope, value_rope=value_rope,
                          keys_rotated=keys_rotated, values_rotated=values_rotated, q_positions=q_positions,
                          k_positions=k_positions, score=None, score_inputs=None, dropout=dropout, dropout_seed=dropout_seed,
                          dropout_offset=dropout_offset, value_order="rows", layout=layout)
    args.out = call.tensor(out, "out")
    args.lse = pointer(call.tensor(lse, "lse"))
    grads = [empty(each, need_rank(each, name, layout)) for each, name in ((q, "q"), (k, "k"), (v, "v"))]
    backward = AttentionBackwardArgs(forward=pointer(args), out_grad=call.tensor(out_grad, "out_grad"),
                                     q_grad=call.tensor(grads[0], "q_grad", write=True),
                                     k_grad=call.tensor(grads[1], "k_grad", write=True),
                                     v_grad=call.tensor(grads[2], "v_grad", write=True))
    if flag(return_bias_grad, "return_bias_grad"):
        if bias is None:
            raise ValueError("return_bias_grad: got True without bias")
        grads.append(empty(bias, shape_of(bias, "bias"), "float32"))
        backward.bias_grad = pointer(call.tensor(grads[3], "bias_grad", write=True))
    call.run("gyre_attention_backward", backward, context)
    return tuple(hand_over(grad, q) for grad in grads)
