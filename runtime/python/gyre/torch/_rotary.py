"""Rotations for PyTorch."""

from typing import Any

import torch

from .. import Rope
from .._values import LAYOUTS, choose
from ._frequencies import frequencies


def _options(rope: Rope | tuple[torch.Tensor, torch.Tensor], head_dim: int, positions: torch.Tensor | None,
             position_offset: int, reverse: bool, interleaved: bool, layout: str) -> dict[str, Any]:
    shared = {"positions": positions, "position_offset": position_offset, "reverse": reverse,
              "layout": choose(layout, "layout", LAYOUTS)}
    if isinstance(rope, tuple):
        return {"cos": rope[0], "sin": rope[1], "interleaved": interleaved, **shared}
    return {"inv_freq": frequencies(rope, "rope", head_dim), "interleaved": rope.pairing == "interleaved",
            "rotary_offset": rope.rotary_offset, "factor": rope.attention_factor, **shared}


def rotary(x: torch.Tensor, rope: Rope | tuple[torch.Tensor, torch.Tensor], *, positions: torch.Tensor | None = None,
           position_offset: int = 0, reverse: bool = False, interleaved: bool = False, layout: str = "bhsd") -> torch.Tensor:
    """gyre.rotary() of a tensor, with its gradient.

    rope         a gyre.Rope, or tables (cos, sin): [rows, rotary_dim / 2] read at the position, or [batch or 1, seqlen,
                 rotary_dim / 2] a row a token; any floating-point type and strides, without a copy. No gradient of tables
    interleaved  the pairing of tables
    """
    return torch.ops.gyre.rotary(x, **_options(rope, x.shape[-1], positions, position_offset, reverse, interleaved, layout))


def rotary_qk(q: torch.Tensor, k: torch.Tensor, rope: Rope | tuple[torch.Tensor, torch.Tensor], *,
              positions: torch.Tensor | None = None, position_offset: int = 0, reverse: bool = False, interleaved: bool = False,
              layout: str = "bhsd") -> tuple[torch.Tensor, torch.Tensor]:
    """rotary() of queries and keys of the same tokens in one pass."""
    return torch.ops.gyre.rotary_qk(q, k, **_options(rope, q.shape[-1], positions, position_offset, reverse, interleaved, layout))
