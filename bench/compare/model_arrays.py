"""What a call of model_calls reads, and single rows of its result in double precision."""

import numpy as np

THETA = 10000.0
ROWS = 8  # of a result that are compared


def rounded(array, dtype):
    """The nearest numbers that `dtype` has, as float32."""
    if dtype == "bf16":
        bits = array.view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return array.astype(np.float16).astype(np.float32) if dtype == "f16" else array


def hidden_keys(call):
    """[batch]: how many keys padding takes of each entry."""
    if not call.padding:
        return np.zeros(call.batch, int)
    return call.keys * np.arange(call.batch) // (2 * call.batch)


def diagonal(call):
    """[queries, keys], or None: what causal and window leave, of a cache without padding behind it."""
    if not call.causal and not call.window:
        return None
    distance = np.arange(call.keys) - (np.arange(call.queries)[:, None] + call.keys - call.queries)
    seen = distance <= (0 if call.causal else call.window)
    return seen & (distance >= -call.window) if call.window else seen


def tree(call):
    """Every draft sees the keys before the drafts, its ancestors and itself: draft i grows on draft (i - 1) // 2."""
    seen = np.ones((call.queries, call.keys), bool)
    held = call.keys - call.queries
    seen[:, held:] = np.eye(call.queries, dtype=bool)
    for draft in range(1, call.queries):
        seen[draft, held:] |= seen[(draft - 1) // 2, held:]
    return seen


def special_mask(call):
    index = np.arange(call.keys)
    if call.mask == "prefix":
        return np.tri(call.queries, call.keys, dtype=bool) | (index < call.keys // 2)
    if call.mask == "documents":
        document = 4 * index // call.keys
        return document[:, None] == document
    return tree(call)


class Inputs:
    """Arrays of a call as float32 numbers that dtype has. What is None, the call does not have.

    q, k, v            [batch, heads, tokens, dim]
    padding            [batch, 1, 1, keys] bool
    diagonal           [queries, keys] bool
    mask               [queries, keys] bool: neither padding nor diagonal
    bias               [1, heads, queries, keys]
    slopes, sinks      [heads] float32
    lengths            [batch] int32
    heads_in_tokens    whether libraries find q, k and v as [batch, tokens, heads, dim]
    """

    def __init__(self, call, dtype, seed=1, heads_in_tokens=False):
        random = np.random.default_rng(seed)
        self.call = call
        self.heads_in_tokens = heads_in_tokens

        def normal(*shape, spread=1.0):
            return rounded(spread * random.standard_normal(shape, np.float32), dtype)

        # Unit scores: a model with scale 1 has learnt small queries.
        spread = call.head_dim**-0.5 if call.scale else 1.0
        self.q = normal(call.batch, call.heads, call.queries, call.head_dim, spread=np.float32(spread))
        self.k = normal(call.batch, call.kv_heads, call.keys, call.head_dim)
        self.v = normal(call.batch, call.kv_heads, call.keys, call.value_dim)
        self.diagonal = diagonal(call)
        self.mask = special_mask(call) if call.mask else None
        self.bias = normal(1, call.heads, call.queries, call.keys) if call.relative_bias else None
        self.slopes = (2.0 ** (-8.0 * np.arange(1, call.heads + 1) / call.heads)).astype(np.float32) if call.alibi else None
        self.sinks = random.standard_normal(call.heads, np.float32) if call.sinks else None
        self.scale = call.scale or call.head_dim**-0.5
        hidden = hidden_keys(call)[:, None]
        index = np.arange(call.keys)
        seen = index >= hidden if call.padding == "left" else index < call.keys - hidden
        self.padding = seen[:, None, None, :] if call.padding else None
        self.lengths = (call.keys - hidden[:, 0]).astype(np.int32) if call.padding == "lengths" else None

    def visible(self):
        """bool, broadcasts to [batch, heads, queries, keys]; None: all is seen. Lengths matter to the last queries alone."""
        parts = [part for part in (self.padding, self.diagonal, self.mask) if part is not None]
        if not parts:
            return None
        seen = parts[0]
        for part in parts[1:]:
            seen = seen & part
        return np.ascontiguousarray(seen)

    def distances(self):
        """[queries, keys] float32: how far a key stands before its query, as a number below 0."""
        call = self.call
        rows = np.arange(call.queries)[:, None] + call.keys - call.queries
        return (np.arange(call.keys) - rows).astype(np.float32)

    def row(self, batch, head, query):
        """The result's row in double precision, or None where it sees no key."""
        call = self.call
        kv_head = head // call.group
        keys = self.k[batch, kv_head].astype(np.float64)
        vector = self.q[batch, head, query].astype(np.float64)
        if call.rope:
            keys = rotated(keys, np.arange(call.keys), call.rope)
            vector = rotated(vector[None], np.array([query + call.keys - call.queries]), call.rope)[0]
        scores = self.scale * (keys @ vector)
        if call.softcap:
            scores = call.softcap * np.tanh(scores / call.softcap)
        if self.bias is not None:
            scores = scores + self.bias[0, head, query]
        if self.slopes is not None:
            scores = scores + self.slopes[head] * self.distances()[query]
        seen = self.visible()
        if seen is not None:
            seen = np.broadcast_to(seen, (call.batch, call.heads, call.queries, call.keys))[batch, head, query]
            if not seen.any():
                return None
            scores = np.where(seen, scores, -np.inf)
        weights = np.exp(scores - scores.max())
        total = weights.sum()
        if self.sinks is not None:
            total += np.exp(self.sinks[head] - scores.max())
        return weights @ self.v[batch, kv_head].astype(np.float64) / total


def sampled_rows(inputs):
    """[((batch, head, query), row)] of a few places that see keys."""
    random = np.random.default_rng(3)
    call, found = inputs.call, []
    while len(found) < ROWS:
        place = tuple(int(random.integers(extent)) for extent in (call.batch, call.heads, call.queries))
        row = inputs.row(*place)
        if row is not None:
            found.append((place, row))
    return found


def angles(positions, rope, head_dim):
    """[tokens, pairs]"""
    dim = rope.rotary_dim or head_dim
    return positions[:, None] * THETA ** (-np.arange(0, dim, 2) / dim)


def rotated(x, positions, rope):
    """[tokens, head_dim] in double precision."""
    angle = angles(positions, rope, x.shape[1])
    pairs = angle.shape[1]
    first = 2 * np.arange(pairs) if rope.pairing == "interleaved" else np.arange(pairs)
    second = first + (1 if rope.pairing == "interleaved" else pairs)
    result = x.copy()
    result[:, first] = x[:, first] * np.cos(angle) - x[:, second] * np.sin(angle)
    result[:, second] = x[:, second] * np.cos(angle) + x[:, first] * np.sin(angle)
    return result
