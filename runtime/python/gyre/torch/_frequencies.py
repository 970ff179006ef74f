"""Rotations as the tensors that operators take."""

import functools
from typing import Any

import torch

from .. import Rope


@functools.lru_cache(maxsize=256)
def _tensor(inv_freq: tuple[float, ...]) -> torch.Tensor:
    return torch.tensor(inv_freq, dtype=torch.float64)


@functools.lru_cache(maxsize=256)
def _series(theta: float, rotary_dim: int, denominator: int) -> torch.Tensor:
    return torch.tensor([theta ** (-2.0 * i / denominator) for i in range(rotary_dim // 2)], dtype=torch.float64)


@torch.compiler.assume_constant_result
def _of(rope: Rope, head_dim: int) -> torch.Tensor:
    if rope.inv_freq is not None:
        return _tensor(rope.inv_freq)
    rotary_dim = rope.rotary_dim or head_dim - rope.rotary_offset
    return _series(rope.theta, rotary_dim, rotary_dim if rope.over_rotary_dim else head_dim)


def frequencies(rope: Rope | None, name: str, head_dim: int) -> torch.Tensor | None:
    """float64 [rotary_dim / 2], radians a token. Errors: TypeError, ValueError (a rope that operators do not take)."""
    if rope is None:
        return None
    if not isinstance(rope, Rope):
        raise TypeError(f"{name}: got {type(rope).__name__}, expected a gyre.Rope or None")
    if rope.has_tables or rope.axes:
        raise ValueError(f"{name}: has {'tables' if rope.has_tables else 'sections'}, expected theta or frequencies")
    return _of(rope, head_dim)


def same_pairing(*ropes: Rope | None) -> dict[str, Any]:
    """Of the ropes that are given. Errors: ValueError, where they differ."""
    pairings = {rope.pairing for rope in ropes if rope is not None}
    if len(pairings) > 1:
        raise ValueError("value_rope: got another pairing than rope's, expected the same")
    return {"interleaved": pairings == {"interleaved"}}
