"""Rotations as the tensors that operators take."""

import operator

import torch

from .. import Rope
from .._frequencies import check_rope, frequencies_of, series, series_of

_is_compiling = torch.compiler.is_compiling


_known: dict[tuple[float, ...], torch.Tensor] = {}
_MOST_KNOWN = 256


def _may_be_kept(tensor: torch.Tensor) -> bool:
    """False of what a mode makes, such as a fake tensor: later calls want numbers."""
    return type(tensor) is torch.Tensor


def _tensor(inv_freq: tuple[float, ...]) -> torch.Tensor:
    known = _known.get(inv_freq)
    if known is not None:
        return known
    with torch.inference_mode(False):  # gradients do not take a tensor that is made under it
        made = torch.tensor(inv_freq, dtype=torch.float64, device="cpu")
    if _may_be_kept(made):
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[inv_freq] = made
    return made


def _constant(rope: Rope, name: str, head_dim: int) -> torch.Tensor:
    """Forms the frequencies while torch.compile traces it. It compiles anew where a rotation has other numbers, but not where a Rope is another object."""
    numbers = [float(word) for word in rope.words.split()]
    if rope.inv_freq is None:
        numbers = series(numbers[0], *series_of(rope, name, numbers[0], operator.index(head_dim)))
    return torch.tensor(numbers, dtype=torch.float64, device="cpu")


def frequencies(rope: Rope | None, name: str, head_dim: int, offset: bool = False) -> torch.Tensor | None:
    """float64 [rotary_dim / 2], radians a token. offset: whether the operator is told rotary_offset. Errors: TypeError, ValueError (a rope that operators do not take)."""
    if rope is None:
        return None
    if _is_compiling():
        check_rope(rope, name, offset)
        return _constant(rope, name, head_dim)
    kept = rope.kept.get((head_dim, offset)) if type(rope) is Rope else None
    if kept is None:
        kept = _tensor(frequencies_of(rope, name, head_dim, offset))
        if _may_be_kept(kept):
            rope.kept[head_dim, offset] = kept
    return kept
