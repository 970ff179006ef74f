"""Frequencies of a rotation as numbers, for the operators that take nothing else."""

import functools
import math

from ._rope import Rope


def series(theta: float, rotary_dim: int, denominator: int) -> list[float]:
    """theta^(-2i / denominator)."""
    return [theta ** (-2.0 * i / denominator) for i in range(rotary_dim // 2)]


@functools.lru_cache(maxsize=256)
def _kept_series(theta: float, rotary_dim: int, denominator: int) -> tuple[float, ...]:
    return tuple(series(theta, rotary_dim, denominator))


def check_rope(rope: Rope, name: str, offset: bool = False) -> None:
    """That frequencies tell all of it. offset: whether the caller hands rotary_offset on by itself.

    Errors: TypeError, ValueError (tables, sections, a rotary_offset that would be lost).
    """
    if not isinstance(rope, Rope):
        raise TypeError(f"{name}: got {type(rope).__name__}, expected a gyre.Rope or None")
    if rope.has_tables or rope.axes:
        raise ValueError(f"{name}: has {'tables' if rope.has_tables else 'sections'}, expected theta or frequencies")
    if rope.rotary_offset and not offset:
        raise ValueError(f"{name}.rotary_offset: got {rope.rotary_offset}, expected 0")


def series_of(rope: Rope, name: str, theta: float, head_dim: int) -> tuple[int, int]:
    """How many features of a head turn, and what the frequencies' exponents are divided by, for a rope with theta.

    Errors: ValueError, in the library's words: it sees no more than frequencies, by which it cannot tell.
    """
    if not 1 <= theta < math.inf:
        raise ValueError(f"{name}.theta: got {theta:g}, expected a finite number >= 1")
    rotary_dim = rope.rotary_dim or head_dim - rope.rotary_offset
    if rotary_dim <= 0 or rotary_dim % 2:
        raise ValueError(f"{name}.rotary_dim: got {rotary_dim}, expected an even number > 0")
    return rotary_dim, rotary_dim if rope.over_rotary_dim else head_dim


def frequencies_of(rope: Rope | None, name: str, head_dim: int, offset: bool = False) -> tuple[float, ...]:
    """Radians a token, for each pair of features; none for None. Errors: those of check_rope() and series_of()."""
    if rope is None:
        return ()
    check_rope(rope, name, offset)
    return rope.inv_freq if rope.inv_freq is not None else _kept_series(rope.theta, *series_of(rope, name, rope.theta, head_dim))


def are_interleaved(*ropes: Rope | None) -> bool:
    """The pairing of the ropes that are given. Errors: ValueError, where they differ. What is no Rope is refused by those who read its frequencies."""
    pairings = {rope.pairing for rope in ropes if isinstance(rope, Rope)}
    if len(pairings) > 1:
        raise ValueError("value_rope: got another pairing than rope's, expected the same")
    return pairings == {"interleaved"}
