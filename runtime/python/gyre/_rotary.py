"""Rotary embeddings of queries and keys."""

from typing import Any

from ._arrays import as_list, empty, hand_over
from ._call import Call, shape_of
from ._structures import RotaryArgs, RotaryQkArgs
from ._values import LAYOUTS, choose, flag, integer, pair
from ._context import Context
from ._rope import Rope, fields_of


def _options(call: Call, rope: Rope, positions: Any, position_offset: int, reverse: bool, layout: str) -> dict[str, Any]:
    fields = fields_of(rope, "rope")
    if fields is None:
        raise TypeError("rope: got None, expected a gyre.Rope")
    call.keep(rope)
    return {"layout": choose(layout, "layout", LAYOUTS), "rope": fields, "reverse": flag(reverse, "reverse"),
            "positions": call.optional(as_list(positions, "positions"), "positions"),
            "position_offset": integer(position_offset, "position_offset", 64)}


def rotary(x: Any, rope: Rope, *, positions: Any = None, position_offset: int = 0, reverse: bool = False, layout: str = "bshd",
           out: Any = None, context: Context | None = None) -> Any:
    """Rotates queries or keys. Its gradient is the rotation with the other value of `reverse`.

    x                [batch, seqlen, heads, head_dim] in layout "bshd", [batch, heads, seqlen, head_dim] in "bhsd",
                     [tokens, heads, head_dim] in "thd"; float32, float16 or bfloat16; head_dim contiguous
    positions        [batch, seqlen] or [seqlen], int32 or int64, tokens, >= 0, preceded by [axes] if the rope has sections;
                     None: position_offset + 0, 1, 2 …
    reverse          rotate back
    out              where to write the result, x itself if wanted; None: a new array of x's library

    Arithmetic is in float32; features outside the rotated window are copied bit for bit.
    Returns out. Errors: ValueError, TypeError, NotImplementedError, MemoryError.
    """
    call = Call()
    given = out
    if out is None:
        out = empty(x, shape_of(x, "x"))
    args = RotaryArgs(x=call.tensor(x, "x"), out=call.tensor(out, "out", write=True),
                      **_options(call, rope, positions, position_offset, reverse, layout))
    call.run("gyre_rotary", args, context)
    return out if given is not None else hand_over(out, x)


def rotary_qk(q: Any, k: Any, rope: Rope, *, positions: Any = None, position_offset: int = 0, reverse: bool = False,
              layout: str = "bshd", out: tuple[Any, Any] | None = None, context: Context | None = None) -> tuple[Any, Any]:
    """rotary() of queries and keys of the same tokens in one pass, in which each token's angles are formed once.

    q, k    as rotary()'s x, with numbers of heads of their own
    out     where to write the two results, q and k themselves if wanted; None: new arrays

    Returns (q_out, k_out), the bits of two calls of rotary(). Errors: as rotary().
    """
    call = Call()
    q_out, k_out = pair(out, "out", "(q_out, k_out)") if out is not None else (empty(q, shape_of(q, "q")), empty(k, shape_of(k, "k")))
    args = RotaryQkArgs(q=call.tensor(q, "q"), k=call.tensor(k, "k"), q_out=call.tensor(q_out, "q_out", write=True),
                        k_out=call.tensor(k_out, "k_out", write=True),
                        **_options(call, rope, positions, position_offset, reverse, layout))
    call.run("gyre_rotary_qk", args, context)
    return (q_out, k_out) if out is not None else (hand_over(q_out, q), hand_over(k_out, k))
