"""Short float64 definitions of what gyre computes, written for reading. Arrays are [batch, heads, seqlen, head_dim]."""

import numpy as np


def geometric(rotary_dim, theta=10000.0):
    return theta ** (-2.0 * np.arange(rotary_dim // 2) / rotary_dim)


def rotate(x, positions, inv_freq, interleaved=False, offset=0, reverse=False, factor=1.0):
    """positions: broadcastable to [batch, 1, seqlen]."""
    angle = np.asarray(positions, np.float64)[..., None] * inv_freq
    return rotate_by(x, factor * np.cos(angle), factor * np.sin(angle), interleaved, offset, reverse)


def rotate_by(x, cos, sin, interleaved=False, offset=0, reverse=False):
    pairs = cos.shape[-1]
    p = offset + (2 * np.arange(pairs) if interleaved else np.arange(pairs))
    q = p + (1 if interleaved else pairs)
    sin = -sin if reverse else sin
    x = x.astype(np.float64)
    out = x.copy()
    out[..., p] = x[..., p] * cos - x[..., q] * sin
    out[..., q] = x[..., q] * cos + x[..., p] * sin
    return out


def visible(lq, lk, causal=None, left=-1, right=-1):
    """[lq, lk], true where a key is seen. causal: None, "bottom_right" or "top_left"."""
    distance = np.arange(lk)[None, :] - (np.arange(lq)[:, None] + (0 if causal == "top_left" else lk - lq))
    seen = np.ones((lq, lk), bool)
    if causal:
        seen &= distance <= 0
    if left >= 0:
        seen &= distance >= -left
    if right >= 0:
        seen &= distance <= right
    return seen


def attention(
    q,
    k,
    v,
    scale=None,
    softcap=0,
    bias=0,
    seen=True,
    sinks=None,
    rope=None,
    value_rope=None,
    q_positions=None,
    k_positions=None,
    keep=1.0,
):
    """rope, value_rope: functions of (x, positions, reverse=...). keep: what probabilities are multiplied by. Returns out and lse."""
    q, k, v = (np.asarray(each, np.float64) for each in (q, k, v))
    lq, lk = q.shape[2], k.shape[2]
    q_positions = np.arange(lq) + lk - lq if q_positions is None else q_positions
    k_positions = np.arange(lk) if k_positions is None else k_positions
    group = q.shape[1] // k.shape[1]
    if rope:
        q, k = rope(q, q_positions), rope(k, k_positions)
    if value_rope:
        v = value_rope(v, k_positions)
    k, v = k.repeat(group, axis=1), v.repeat(group, axis=1)
    scores = np.einsum("bhid,bhjd->bhij", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    scores = np.where(seen, scores + bias, -np.inf)
    highest = scores.max(axis=-1, keepdims=True)
    if sinks is not None:
        highest = np.maximum(highest, sinks[:, None, None])
    highest = np.where(np.isfinite(highest), highest, 0)
    weights = np.exp(scores - highest)
    total = weights.sum(axis=-1, keepdims=True)
    if sinks is not None:
        total = total + np.exp(sinks[:, None, None] - highest)
    out = np.einsum("bhij,bhjd->bhid", keep * weights / np.where(total > 0, total, 1), v)
    if value_rope:
        out = value_rope(out, q_positions, reverse=True)
    with np.errstate(divide="ignore"):
        return out, (np.log(total) + highest)[..., 0]


def to_bf16(x):
    """Rounds float32 to the nearest bfloat16, ties to even; finite numbers only."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32)


def philox(counter, key):
    """Philox 4x32-10: the four random words of each counter, four arrays of words."""
    words, keys = [np.asarray(word, np.uint64) for word in counter], [np.uint64(word) for word in key]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        one, two = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        half = np.uint64(32)
        words = [(two >> half) ^ words[1] ^ keys[0], two & low, (one >> half) ^ words[3] ^ keys[1], one & low]
        keys = [(keys[0] + np.uint64(0x9E3779B9)) & low, (keys[1] + np.uint64(0xBB67AE85)) & low]
    return words


def dropout(p, seed, offset, batch, heads, lq, lk):
    """What each probability is multiplied by, [batch, heads, lq, lk]."""
    b, h, i, j = np.ogrid[:batch, :heads, :lq, :lk]
    words = philox(np.broadcast_arrays(j // 4, i, b * heads + h, offset), (seed & 0xFFFFFFFF, seed >> 32))
    word = np.choose(np.broadcast_to(j % 4, words[0].shape), words)
    return np.where(word < np.floor(float(np.float32(p)) * 2**32), 0.0, 1 / (1 - float(np.float32(p))))


def gradients(q, k, v, out_grad, seen=True, bias=0, keep=1.0):
    """The gradients of q, k, v and the scores, without rotations."""
    q, k, v, out_grad = (np.asarray(each, np.float64) for each in (q, k, v, out_grad))
    group, scale = q.shape[1] // k.shape[1], q.shape[3] ** -0.5
    keys, values = (np.repeat(each, group, axis=1) for each in (k, v))
    scores = np.where(seen, scale * q @ keys.swapaxes(2, 3) + bias, -np.inf)
    p = np.exp(scores - scores.max(axis=3, keepdims=True))
    p /= p.sum(axis=3, keepdims=True)
    dp = keep * (out_grad @ values.swapaxes(2, 3))
    score_grad = p * (dp - (p * dp).sum(axis=3, keepdims=True))
    ds = scale * score_grad

    def of_group(x):
        return x.reshape(x.shape[0], -1, group, *x.shape[2:]).sum(axis=2)

    dv = of_group((keep * p).swapaxes(2, 3) @ out_grad)
    return ds @ keys, of_group(ds.swapaxes(2, 3) @ q), dv, score_grad
