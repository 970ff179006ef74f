"""Fused attention, with RoPE and RoPER."""

from collections.abc import Mapping
from ctypes import pointer
from typing import Any

from ._arrays import empty, hand_over
from ._attention_args import attention_args
from ._call import Call, lse_shape, need_rank
from ._context import Context
from ._prepared_mask import add_prepared_mask
from ._rope import Rope
from ._values import flag


def attention(q: Any, k: Any, v: Any, *, scale: float | None = None, causal: bool = False, alignment: str = "bottom_right",
              window: tuple[int, int] | None = None, softcap: float = 0.0, bias: Any = None, mask: Any = None, sinks: Any = None,
              alibi: Any = None, seqused_k: Any = None, cu_seqlens_q: Any = None, cu_seqlens_k: Any = None,
              block_table: Any = None, rope: Rope | None = None, value_rope: Rope | None = None, keys_rotated: bool = False,
              values_rotated: bool = False, q_positions: Any = None, k_positions: Any = None, score: str | None = None,
              score_inputs: Mapping[str, Any] | None = None, dropout: float = 0.0, dropout_seed: int = 0,
              dropout_offset: int = 0, value_order: str = "rows", layout: str = "bshd", return_lse: bool = False,
              out: Any = None, prepared_mask: Any = None, context: Context | None = None) -> Any:
    """softmax(scale q kᵀ) v, in one pass, never a seqlen_q × seqlen_kv array. Sums and softmax are in float32.

    q               [batch, seqlen_q, num_heads, head_dim] in layout "bshd", [batch, num_heads, seqlen_q, head_dim] in "bhsd",
                    [tokens of all sequences, num_heads, head_dim] in "thd"; float32, float16 or bfloat16
    k, v            num_kv_heads, a divisor of num_heads; v_head_dim may differ from head_dim. q's type; where q is float32 also
                    float16 or bfloat16, as in a cache
    scale           None: 1 / sqrt(head_dim)
    causal          query i sees keys up to its own position; alignment "bottom_right": the last query stands at the last key;
                    "top_left": the first at the first
    window          (left, right) tokens around the query's position, -1: unbounded
    softcap         > 0: scores become softcap · tanh(score / softcap), before bias and masks
    bias            added to the scores, -inf masks; mask: bool, True: attend. Both broadcast to
                    [batch, num_heads, seqlen_q, seqlen_kv]
    prepared_mask   what prepare_mask() returned for this mask
    sinks, alibi    [num_heads] float32: exp(sink) joins the denominator; slope · (pos_k - pos_q) is added
    seqused_k       [batch] int32, or a list: how many keys each entry has
    cu_seqlens_q,   [batch + 1] int32, or lists, with layout "thd" alone: where sequences begin, and the last ends
    cu_seqlens_k
    block_table     [batch, max_pages] int32: k and v are pools of pages, [num_pages, page_size, num_kv_heads, dim]
    rope            rotates q and k; value_rope: RoPER, rotates v, and the weighted sum back
    keys_rotated, values_rotated    k or v, a cache, is rotated already
    q_positions,    of the rotations, [batch, seqlen] or [seqlen], int32 or int64, >= 0; None: keys stand at 0, 1, 2 …, and the
    k_positions     last query at the last key
    score           the name of a score function that kernels were built with; score_inputs: its arrays by name
    dropout         probability, 0 <= p < 1, that a weight becomes 0, decided by dropout_seed, dropout_offset and its place
    value_order     "blocks": v is a cache in blocks of 32 tokens (bfloat16, see gyre/tensor.h)
    out             where to write the result; None: a new array of q's library
    return_lse      also return log of the softmax's denominator, natural, float32, [batch, num_heads, seqlen_q]
                    ("thd": [num_heads, tokens])

    A row that sees no key gives 0 and -inf, also with sinks. Arrays are NumPy's, or any with __dlpack__; they are not copied.
    Returns out, or (out, lse). Errors: ValueError, TypeError, NotImplementedError (no linked kernel does it), MemoryError.
    """
    call = Call()
    args = attention_args(call, q, k, v, scale=scale, causal=causal, alignment=alignment, window=window, softcap=softcap,
                          bias=bias, mask=mask, sinks=sinks, alibi=alibi, seqused_k=seqused_k, cu_seqlens_q=cu_seqlens_q,
                          cu_seqlens_k=cu_seqlens_k, block_table=block_table, rope=rope, value_rope=value_rope,
                          keys_rotated=keys_rotated, values_rotated=values_rotated, q_positions=q_positions,
                          k_positions=k_positions, score=score, score_inputs=score_inputs, dropout=dropout,
                          dropout_seed=dropout_seed, dropout_offset=dropout_offset, value_order=value_order, layout=layout)
    add_prepared_mask(call, args, prepared_mask)
    shape = need_rank(q, "q", layout)
    given = out
    if out is None:
        out = empty(q, (*shape[:-1], need_rank(v, "v", "bshd" if block_table is not None else layout)[-1]))
    args.out = call.tensor(out, "out", write=True)
    lse = empty(q, lse_shape(shape, layout), "float32") if flag(return_lse, "return_lse") else None
    if lse is not None:
        args.lse = pointer(call.tensor(lse, "lse", write=True))
    call.run("gyre_attention", args, context)
    result = out if given is not None else hand_over(out, q)
    return (result, hand_over(lse, q)) if return_lse else result
