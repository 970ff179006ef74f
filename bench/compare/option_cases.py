"""Shapes of calls, and the options whose cost option_costs.py measures on them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from model_calls import Call


class Variant(NamedTuple):
    """options: of a shape, and of a function that narrows float32 to the call's type, the arguments of gyre.attention()."""

    name: str
    options: Callable[[Call, Callable[[Any], Any]], dict[str, Any]]
    changes_nothing: bool = False  # the result is the plain call's
    prepared: bool = False  # gyre.prepare_mask() has looked at the mask before


SHAPES = (
    Call("12 heads, 128 tokens, 64", 1, 12, 12, 128, 128, 64),
    Call("12 heads, 512 tokens, 64", 1, 12, 12, 512, 512, 64),
    Call("8 heads, 1024 tokens, 128", 1, 8, 8, 1024, 1024, 128),
    Call("4 x 12 heads, 256 tokens, 64", 4, 12, 12, 256, 256, 64),
    Call("4 x 16 heads on 4, causal, 512 tokens, 64", 4, 16, 4, 512, 512, 64, causal=True),
    Call("32 heads on 8, causal, 512 tokens, 128", 1, 32, 8, 512, 512, 128, causal=True),
    Call("4 x 32 heads on 8, a token on 2048, 128", 4, 32, 8, 1, 2048, 128),
    *(Call(f"{heads} heads, {length} tokens, {dim}", 1, heads, heads, length, length, dim)
      for length, heads in ((512, 6), (1024, 5), (2048, 4), (4096, 2)) for dim in (64, 128)))
OF_ROTATION = 8  # so many of the last shapes: rotations alone are measured there

# The extents of masks: the whole of b(atch), h(eads), q(ueries), k(eys), and 1.
MASKS = ("111k", "b11k", "11qk", "b1qk", "1h1k", "1hqk", "bhqk")


def extents(shape, letters):
    whole = {"b": shape.batch, "h": shape.heads, "q": shape.queries, "k": shape.keys, "1": 1}
    return tuple(whole[letter] for letter in letters)


def hides_nothing(letters):
    return lambda shape, narrow: {"causal": shape.causal, "mask": np.ones(extents(shape, letters), bool)}


def causal_as_mask(shape, narrow):
    return {"mask": np.tri(shape.queries, shape.keys, shape.keys - shape.queries, dtype=bool)[None, None]}


def padded(side):
    """Entry b of the batch has b / (2 batch) of its keys hidden. Causal calls have one mask of both, as frameworks make it."""

    def options(shape, narrow):
        hidden = shape.keys * np.arange(shape.batch)[:, None] // (2 * shape.batch)
        index = np.arange(shape.keys)
        seen = (index < shape.keys - hidden if side == "right" else index >= hidden)[:, None, None, :]
        if shape.causal:
            seen = seen & np.tri(shape.queries, shape.keys, shape.keys - shape.queries, dtype=bool)
        return {"mask": np.ascontiguousarray(seen)}

    return options


def bias(letters, of_call=True):
    def options(shape, narrow):
        numbers = np.random.default_rng(2).standard_normal(extents(shape, letters), np.float32)
        return {"causal": shape.causal, "bias": narrow(numbers) if of_call else numbers}

    return options


def with_causal(make):
    return lambda shape, narrow: {"causal": shape.causal, **make(shape)}


def slopes(shape):
    return 2.0 ** (-8.0 * (np.arange(shape.heads, dtype=np.float32) + 1) / shape.heads)


def rotation(values):
    def make(shape):
        import gyre

        rope = gyre.Rope()
        return {"rope": rope, **({"value_rope": rope} if values else {})}

    return with_causal(make)


def mask_variants(shape):
    found = []
    for letters in MASKS:
        if ("b" in letters and shape.batch == 1) or ("q" in letters and shape.queries == 1):
            continue
        found.append(Variant(f"mask {letters} that hides nothing", hides_nothing(letters), True))
        if letters == "1hqk":
            found.append(Variant(f"mask {letters} that hides nothing, prepared", hides_nothing(letters), True, True))
    if shape.causal:
        found.append(Variant("causal as a mask", causal_as_mask, True))
    if shape.batch > 1:
        found += [Variant(f"padded on the {side}", padded(side)) for side in ("right", "left")]
    return found


def score_variants():
    return [Variant("bias 1hqk", bias("1hqk")), Variant("bias 1hqk in f32", bias("1hqk", False)), Variant("bias 11qk", bias("11qk")),
            Variant("bias b11k", bias("b11k")), Variant("ALiBi", with_causal(lambda shape: {"alibi": slopes(shape)})),
            Variant("softcap", with_causal(lambda shape: {"softcap": 30.0})),
            Variant("sinks", with_causal(lambda shape: {"sinks": np.zeros(shape.heads, np.float32)})),
            Variant("dropout", with_causal(lambda shape: {"dropout": 0.1, "dropout_seed": 7}))]


def variants(shape):
    if shape in SHAPES[-OF_ROTATION:]:
        return [Variant("RoPE", rotation(False)), Variant("RoPE and RoPER", rotation(True))]
    return [*mask_variants(shape), *score_variants()]
