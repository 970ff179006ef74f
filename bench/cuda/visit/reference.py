"""Attention and rotation in double precision, of some rows; each element with how far a kernel may be from it."""

import numpy as np

THETA = 10000.0
EPSILON = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}  # half a unit in the last place, relative


def rotated(x, positions, reverse=False):
    """x [rows, dim], the halves paired; positions [rows]."""
    half = x.shape[-1] // 2
    angles = np.outer(positions, THETA ** (-np.arange(half) / half))
    cos, sin = np.cos(angles), np.sin(angles) * (-1 if reverse else 1)
    first, second = x[..., :half], x[..., half:]
    return np.concatenate((first * cos - second * sin, second * cos + first * sin), axis=-1)


def rotation_allowance(x, positions, dtype):
    """Rounding to the type, and angles whose turns have 32 bits after the point; 2^-21 of a feature pair's length."""
    half = x.shape[-1] // 2
    length = np.hypot(x[..., :half], x[..., half:])
    length = np.concatenate((length, length), axis=-1)
    return EPSILON[dtype] * np.abs(rotated(x, positions)) + 2.0**-21 * length + 2.0**-25


def attention_rows(q, k, v, positions, dtype, options, extra):
    """The output and the allowance [rows, v_head_dim] of query rows q [rows, dim] at positions in keys k, v [keys, dim].

    options: causal, window_left, rope, value_rope, softcap; extra: bias [rows, keys], mask [keys], sink, slope, keys.

    The allowance is derived for each element: weights and operands are rounded to `dtype`, products are summed in f32. A score's
    error moves an output by its weight times how far its value is from the output.
    """
    keys = np.arange(k.shape[0])
    rounding = 0.0
    if options.get("rope") and not options.get("from_cache"):
        q, k = rotated(q, positions), rotated(k, keys)
        rounding = 2 * EPSILON[dtype]  # rotated queries and keys are rounded once more
    elif options.get("rope"):
        q = rotated(q, positions)
        rounding = EPSILON[dtype]
    values, value_rounding = v, 0.0
    if options.get("value_rope") and not options.get("from_cache"):
        values, value_rounding = rotated(v, keys), EPSILON[dtype]
    scale = q.shape[-1] ** -0.5
    scores = q @ k.T * scale
    # The scale is folded into queries in f32 or after the product; q is rounded to the type when it was scaled or rotated.
    magnitudes = np.sqrt((q * q) @ (k * k).T) * scale
    error = 4 * (rounding + EPSILON[dtype]) * magnitudes + 2.0**-20 * (np.abs(q) @ np.abs(k).T) * scale
    if options.get("softcap"):
        scores = options["softcap"] * np.tanh(scores / options["softcap"])
        error = error + 2.0**-19 * options["softcap"]
    if "bias" in extra:
        scores, error = scores + extra["bias"], error + 2.0**-22 * np.abs(extra["bias"])
    if "slope" in extra:
        distance = extra["slope"] * (keys[None, :] - positions[:, None])
        scores, error = scores + distance, error + 2.0**-22 * np.abs(distance)
    visible = keys[None, :] < extra.get("keys", len(keys))
    if options.get("causal"):
        visible = visible & (keys[None, :] <= positions[:, None])
    if options.get("window_left", -1) >= 0:
        visible = visible & (keys[None, :] >= positions[:, None] - options["window_left"])
    if "mask" in extra:
        visible = visible & extra["mask"][None, :]
    scores = np.where(visible, scores, -np.inf)
    top = np.maximum(scores.max(-1, keepdims=True), extra.get("sink", -np.inf))
    weights = np.exp(scores - top)
    weights /= weights.sum(-1, keepdims=True) + np.exp(extra.get("sink", -np.inf) - top)
    out = weights @ values
    moved = weights * np.where(visible, error, 0)
    spread = moved @ np.abs(values) + np.abs(out) * moved.sum(-1, keepdims=True)
    allowance = spread + (EPSILON[dtype] + value_rounding + 2.0**-20) * (weights @ np.abs(values))
    if options.get("value_rope"):
        half = out.shape[-1] // 2
        out = rotated(out, positions, reverse=True)
        pair = allowance[:, :half] + allowance[:, half:]
        allowance = np.concatenate((pair, pair), axis=-1)
    return out, allowance + EPSILON[dtype] * np.abs(out) + 2.0**-24
