"""Layers."""

import torch

from .. import Rope
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
