"""Rotations as the tensors that operators take."""

import functools
from typing import Any

import torch

from .. import Rope
from .._frequencies import frequencies_of
from .._frequencies import same_pairing as are_interleaved


@functools.lru_cache(maxsize=256)
def _tensor(inv_freq: tuple[float, ...]) -> torch.Tensor:
    return torch.tensor(inv_freq, dtype=torch.float64)


@torch.compiler.assume_constant_result
def _of(rope: Rope, name: str, head_dim: int, offset: bool) -> torch.Tensor:
    return _tensor(frequencies_of(rope, name, head_dim, offset))


def frequencies(rope: Rope | None, name: str, head_dim: int, offset: bool = False) -> torch.Tensor | None:
    """float64 [rotary_dim / 2], radians a token. offset: whether the operator is told rotary_offset. Errors: TypeError, ValueError (a rope that operators do not take)."""
    return None if rope is None else _of(rope, name, head_dim, offset)


def same_pairing(*ropes: Rope | None) -> dict[str, Any]:
    """Of the ropes that are given. Errors: ValueError, where they differ."""
    return {"interleaved": are_interleaved(*ropes)}
