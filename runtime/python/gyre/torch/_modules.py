"""Layers."""

import torch

from .. import Rope
from ._attention import attention
from ._linear_attention import State, linear_attention
from ._rotary import rotary_qk


class RotaryEmbedding(torch.nn.Module):
    """Rotates queries and keys of the same tokens: forward(q, k) of [batch, heads, seqlen, head_dim], or as `layout` says.

    rope    a gyre.Rope, or its theta
    """

    def __init__(self, rope: Rope | float = 10000.0, layout: str = "bhsd") -> None:
        super().__init__()
        self.rope = rope if isinstance(rope, Rope) else Rope(theta=rope)
        self.layout = layout

    def forward(self, q: torch.Tensor, k: torch.Tensor, positions: torch.Tensor | None = None,
                position_offset: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """positions: [batch, seqlen] or [seqlen], int32 or int64; None: position_offset + 0, 1, 2 …"""
        return rotary_qk(q, k, self.rope, positions=positions, position_offset=position_offset, layout=self.layout)

    def extra_repr(self) -> str:
        return f"{self.rope!r}, layout={self.layout!r}"


class _Projection(torch.nn.Module):
    """A linear map whose result is split into heads; its parameters have labml-nn's names."""

    def __init__(self, d_model: int, heads: int, bias: bool) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(d_model, d_model, bias=bias)
        self.heads = heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[seqlen, batch, d_model] as [batch, seqlen, heads, head_dim], a view."""
        split: torch.Tensor = self.linear(x).unflatten(-1, (self.heads, -1))
        return split.transpose(0, 1)


class _MultiHead(torch.nn.Module):
    """Projections of queries, keys, values and of the result."""

    def __init__(self, heads: int, d_model: int, bias: bool) -> None:
        super().__init__()
        if heads < 1 or d_model % heads:
            raise ValueError(f"heads: got {heads}, expected a divisor of d_model = {d_model}")
        self.heads, self.head_dim = heads, d_model // heads
        self.query = _Projection(d_model, heads, bias)
        self.key = _Projection(d_model, heads, bias)
        self.value = _Projection(d_model, heads, True)
        self.output = torch.nn.Linear(d_model, d_model)

    def rope(self, name: str, share: float) -> Rope | None:
        """The rotation of a head's first features, this share of them. Errors: ValueError."""
        rotary_dim = int(self.head_dim * share)
        if not 0 <= share <= 1 or rotary_dim % 2:
            raise ValueError(f"{name}: got {share} of {self.head_dim} features, expected an even number of them, 0 to all")
        return Rope(rotary_dim=rotary_dim) if rotary_dim else None

    def joined(self, out: torch.Tensor) -> torch.Tensor:
        """The heads of each token as one row, [seqlen, batch, d_model], and projected."""
        projected: torch.Tensor = self.output(out.flatten(2).transpose(0, 1))
        return projected


class RotaryValueMultiHeadAttention(_MultiHead):
    """Multi-head attention with RoPE on queries and keys, and RoPER on values: labml-nn's RotaryValuePEMultiHeadAttention, whose
    parameters and results it has, and whose state_dict() it loads.

    heads, d_model          of each token, d_model features, in heads of d_model / heads
    rope_percentage         share of a head's features that are rotated in queries and keys
    rope_value_percentage   share that is rotated in values, and back in the result
    dropout_prob            probability that a weight becomes 0 in training

    Errors: ValueError.
    """

    def __init__(self, heads: int, d_model: int, rope_percentage: float = 0.5, rope_value_percentage: float = 0.5,
                 dropout_prob: float = 0.0) -> None:
        super().__init__(heads, d_model, True)
        self.rotary = self.rope("rope_percentage", rope_percentage)
        self.value_rotary = self.rope("rope_value_percentage", rope_value_percentage)
        if not 0 <= dropout_prob < 1:
            raise ValueError(f"dropout_prob: got {dropout_prob}, expected a probability, 0 <= p < 1")
        self.dropout_prob = dropout_prob

    def forward(self, *, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
                mask: torch.Tensor | None = None, causal: bool = False) -> torch.Tensor:
        """query [seqlen_q, batch, d_model], key and value [seqlen_kv, batch, d_model]; tokens of all stand at 0, 1, 2 …

        mask     [seqlen_q or 1, seqlen_kv, batch or 1], not 0: the query sees the key. A query that sees none gets the output's bias
        causal   query i sees keys 0 .. i, without a mask's array

        Returns [seqlen_q, batch, d_model].
        """
        if mask is not None and mask.dim() != 3:
            raise ValueError(f"mask: got rank {mask.dim()}, expected [seqlen_q or 1, seqlen_kv, batch or 1]")
        q, k, v = self.query(query), self.key(key), self.value(value)
        turns = self.rotary is not None or self.value_rotary is not None
        dropout = self.dropout_prob if self.training else 0.0
        out = attention(
            q, k, v, causal=causal, alignment="top_left", mask=None if mask is None else mask.bool().permute(2, 0, 1)[:, None],
            rope=self.rotary, value_rope=self.value_rotary, q_positions=torch.arange(q.shape[1]) if turns else None, dropout=dropout,
            dropout_seed=int(torch.randint(0, 2**62, ())) if dropout else 0, layout="bshd")
        return self.joined(out)

    def extra_repr(self) -> str:
        return f"heads={self.heads}, rope={self.rotary!r}, value_rope={self.value_rotary!r}, dropout_prob={self.dropout_prob:g}"


class LinearAttention(_MultiHead):
    """Multi-head linear attention with RoPE: Σ (R φ(q))·(R φ(k)) v / Σ φ(q)·φ(k), φ(x) = elu(x) + 1, in time linear in the length.

    heads, d_model    as RotaryValueMultiHeadAttention's
    rope_percentage   share of a head's features that are rotated
    causal            each token sees those before it and itself

    Errors: ValueError.
    """

    def __init__(self, heads: int, d_model: int, rope_percentage: float = 1.0, causal: bool = True, bias: bool = True) -> None:
        super().__init__(heads, d_model, bias)
        self.rotary = self.rope("rope_percentage", rope_percentage)
        self.causal = causal

    def forward(self, x: torch.Tensor, state: State | None = None, position: int = 0) -> tuple[torch.Tensor, State]:
        """x [seqlen, batch, d_model]; state: what the call for the tokens before has returned, position: how many these were.

        Returns [seqlen, batch, d_model] and the state after x.
        """
        positions = None if self.rotary is None else torch.arange(position, position + x.shape[0])
        out, state = linear_attention(self.query(x), self.key(x), self.value(x), causal=self.causal, rope=self.rotary, q_positions=positions,
                                      k_positions=positions, state=state, return_state=True, layout="bshd")
        return self.joined(out), state

    def extra_repr(self) -> str:
        return f"heads={self.heads}, rope={self.rotary!r}, causal={self.causal}"
