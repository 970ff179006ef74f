"""Frequencies of a rotation as numbers, for the operators that take nothing else."""

import functools

from ._rope import Rope


@functools.lru_cache(maxsize=256)
def _series(theta: float, rotary_dim: int, denominator: int) -> tuple[float, ...]:
    return tuple(theta ** (-2.0 * i / denominator) for i in range(rotary_dim // 2))


def frequencies_of(rope: Rope | None, name: str, head_dim: int, offset: bool = False) -> tuple[float, ...]:
    """Radians a token, for each pair of features; none for None. offset: whether the caller hands rotary_offset on by itself.

    Errors: TypeError, ValueError (tables, sections, a rotary_offset that would be lost).
    """
    if rope is None:
        return ()
    if not isinstance(rope, Rope):
        raise TypeError(f"{name}: got {type(rope).__name__}, expected a gyre.Rope or None")
    if rope.has_tables or rope.axes:
        raise ValueError(f"{name}: has {'tables' if rope.has_tables else 'sections'}, expected theta or frequencies")
    if rope.rotary_offset and not offset:
        raise ValueError(f"{name}.rotary_offset: got {rope.rotary_offset}, expected 0")
    if rope.inv_freq is not None:
        return rope.inv_freq
    rotary_dim = rope.rotary_dim or head_dim - rope.rotary_offset
    return _series(rope.theta, rotary_dim, rotary_dim if rope.over_rotary_dim else head_dim)


def same_pairing(*ropes: Rope | None) -> bool:
    """Whether those that are given are interleaved. Errors: ValueError, where they differ."""
    pairings = {rope.pairing for rope in ropes if rope is not None}
    if len(pairings) > 1:
        raise ValueError("value_rope: got another pairing than rope's, expected the same")
    return pairings == {"interleaved"}
