"""Attention over disjoint sets of keys, merged."""

from ctypes import pointer
from typing import Any

from ._arrays import empty, hand_over
from ._call import Call, shape_of
from ._structures import DTYPES, AttentionMergeArgs
from ._values import LAYOUTS, choose, integer
from ._context import Context

NAMES = {number: name for name, number in DTYPES.items()}


def merge_states(part_out: Any, part_lse: Any, *, layout: str = "bshd", out_dtype: str | None = None,
                 context: Context | None = None) -> tuple[Any, Any]:
    """Merges attention of the same queries over disjoint sets of keys into attention over all of them.

    part_out    [parts, batch, seqlen, num_heads, v_head_dim]: what attention() gave for each part; the rest as `layout` says
    part_lse    [parts, batch, num_heads, seqlen] float32 ("thd": [parts, num_heads, tokens]): its lse
    out_dtype   of the result; None: part_out's; another needs float32 parts

    lse = log Σ exp(lse_p), out = Σ exp(lse_p - lse) out_p. A row that no part sees gives 0 and -inf; no parts, too.
    Returns (out, lse). Errors: ValueError, TypeError, NotImplementedError, MemoryError.
    """
    call = Call()
    shape, lse_shape = shape_of(part_out, "part_out"), shape_of(part_lse, "part_lse")
    if not shape or not lse_shape or shape[0] != lse_shape[0]:
        raise ValueError(f"part_lse: got shape {lse_shape}, expected as many parts as part_out's {shape}")
    if out_dtype is not None and out_dtype not in ("float32", "float16", "bfloat16"):
        raise ValueError(f"out_dtype: got {out_dtype!r}, expected float32, float16, bfloat16 or None")
    outs, lses = call.view(part_out, "part_out"), call.view(part_lse, "part_lse")
    out = empty(part_out, shape[1:], out_dtype or NAMES[outs.dtype])
    lse = empty(part_out, lse_shape[1:], "float32")
    args = AttentionMergeArgs(
        layout=choose(layout, "layout", LAYOUTS), parts=integer(shape[0], "parts"), part_out=outs.part().tensor("part_out"),
        part_lse=lses.part().tensor("part_lse"), part_out_stride=outs.strides[0] if shape[0] > 1 else 0,
        part_lse_stride=lses.strides[0] if shape[0] > 1 else 0, out=call.tensor(out, "out", write=True),
        lse=pointer(call.tensor(lse, "lse", write=True)))
    call.run("gyre_attention_merge", args, context)
    return hand_over(out, part_out), hand_over(lse, part_out)
