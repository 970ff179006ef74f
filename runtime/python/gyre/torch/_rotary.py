"""Rotations for PyTorch."""

from typing import Any

import torch

from .. import Rope
from .._values import LAYOUTS, choose, flag
from ._frequencies import frequencies
from ._gradients_rotary import rotary as _rotary, rotary_qk as _qk
from ._in_place import under_autograd
from ._modes import records_gradients, refuse_tangents
from ._numbers import whole
from ._operators import direct
from ._tensors import as_tensor, features, refuse_gradients
from ._transforms import transforms

_ops = torch.ops.gyre
_rotary_out, _qk_out = direct(_ops.rotary_out.default), direct(_ops.rotary_qk_out.default)


def _options(tensors: tuple[torch.Tensor, ...], rope: Rope | tuple[torch.Tensor, torch.Tensor], positions: torch.Tensor | None,
             position_offset: int, reverse: bool, interleaved: bool, layout: str) -> dict[str, Any]:
    """What the operators do not do by themselves: PyTorch takes its time for each argument that is handed on."""
    options: dict[str, Any] = {}
    for name, tensor in zip(("x",) if len(tensors) == 1 else ("q", "k"), tensors):
        features(tensor, name)
    refuse_tangents(*tensors)
    if positions is not None:
        options["positions"] = as_tensor(positions, "positions")
    first = whole(position_offset, "position_offset")
    if first:
        options["position_offset"] = first
    if flag(reverse, "reverse"):
        options["reverse"] = True
    if layout != "bhsd":
        options["layout"] = choose(layout, "layout", LAYOUTS)
    interleaved = flag(interleaved, "interleaved") == 1
    if isinstance(rope, tuple) and len(rope) == 2:
        for name, table in zip(("cos", "sin"), rope):
            options[name] = as_tensor(table, name)
            refuse_gradients(table, name)
    elif not isinstance(rope, Rope):
        raise TypeError(f"rope: got {type(rope).__name__}, expected a gyre.Rope, or a tuple (cos, sin)")
    else:
        options["inv_freq"] = frequencies(rope, "rope", tensors[0].size(-1), offset=True)
        interleaved = rope.pairing == "interleaved"
        if rope.rotary_offset:
            options["rotary_offset"] = rope.rotary_offset
        if rope.attention_factor != 1:
            options["factor"] = rope.attention_factor
    if interleaved:
        options["interleaved"] = True
    return options


def rotary(x: torch.Tensor, rope: Rope | tuple[torch.Tensor, torch.Tensor], *, positions: torch.Tensor | None = None,
           position_offset: int = 0, reverse: bool = False, interleaved: bool = False, layout: str = "bhsd") -> torch.Tensor:
    """gyre.rotary() of a tensor, with its gradient, and that one's. Tangents raise NotImplementedError.

    rope         a gyre.Rope, or tables (cos, sin): [rows, rotary_dim / 2] read at the position, or [batch or 1, seqlen,
                 rotary_dim / 2] a row a token; any floating-point type and strides, without a copy. Tables have no gradients: those that require
                 them are refused
    interleaved  the pairing of tables
    """
    options = _options((x,), rope, positions, position_offset, reverse, interleaved, layout)
    if torch.compiler.is_compiling() or records_gradients(x) or transforms():
        result: torch.Tensor = _rotary(x, **options)
        return result
    out = torch.empty_like(x)
    with under_autograd():
        _rotary_out(x, out, **options)
    return out


def rotary_qk(q: torch.Tensor, k: torch.Tensor, rope: Rope | tuple[torch.Tensor, torch.Tensor], *,
              positions: torch.Tensor | None = None, position_offset: int = 0, reverse: bool = False, interleaved: bool = False,
              layout: str = "bhsd") -> tuple[torch.Tensor, torch.Tensor]:
    """rotary() of queries and keys of the same tokens in one pass."""
    options = _options((q, k), rope, positions, position_offset, reverse, interleaved, layout)
    if torch.compiler.is_compiling() or records_gradients(q, k) or transforms():
        results: tuple[torch.Tensor, torch.Tensor] = _qk(q, k, **options)
        return results
    q_out, k_out = torch.empty_like(q), torch.empty_like(k)
    with under_autograd():
        _qk_out(q, k, q_out, k_out, **options)
    return q_out, k_out
