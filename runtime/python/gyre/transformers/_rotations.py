"""What a model's own function for rotations computes, found out from its source and by trying it."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from .. import torch as operators

_BRANCHES = (ast.If, ast.IfExp, ast.For, ast.While, ast.Try, ast.Match, ast.With, ast.comprehension, ast.BoolOp, ast.Compare)


@dataclass(frozen=True)
class Rotation:
    """How a function turns features.

    tables    how cosines and sines stand in a row: "halves" (all, and all again), "pairs" (each twice), "once"
    pairing   of the features, as gyre.Rope's
    sorted    interleaved features are put into halves first
    partial   features beyond the tables' are kept as they are
    """

    tables: str
    pairing: str
    sorted: bool
    partial: bool

    def distinct(self, table: torch.Tensor) -> torch.Tensor:
        """The columns of a table that are no repetitions, a view."""
        if self.tables == "once":
            return table
        return table[..., : table.shape[-1] // 2] if self.tables == "halves" else table[..., ::2]

    def is_as_told(self, table: torch.Tensor) -> bool:
        """Whether the other columns are repetitions indeed."""
        if self.tables == "once":
            return True
        half = table.shape[-1] // 2
        first, again = (table[..., :half], table[..., half:]) if self.tables == "halves" else (table[..., ::2], table[..., 1::2])
        return bool(first.shape == again.shape and torch.equal(first, again))

    def repeated(self, table: torch.Tensor) -> torch.Tensor:
        """The opposite of distinct()."""
        if self.tables == "halves":
            return torch.cat([table, table], -1)
        return table.repeat_interleave(2, -1) if self.tables == "pairs" else table

    def rotate(self, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor,
               layout: str) -> tuple[torch.Tensor, torch.Tensor]:
        """By tables of distinct columns, [batch or 1, seqlen, rotary_dim / 2]."""
        if self.sorted:
            q, k = (x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2) for x in (q, k))
        return operators.rotary_qk(q, k, (cos, sin), interleaved=self.pairing == "interleaved", layout=layout)


_FORMS = [(tables, pairing, of_sorted) for tables in ("halves", "once", "pairs")
          for pairing, of_sorted in (("half", False), ("interleaved", False), ("half", True))]


def _branches(function: Callable[..., Any], seen: set[Callable[..., Any]]) -> str | None:
    """The name of a function, this one or one of its module that it calls, whose source has branches or cannot be read."""
    seen.add(function)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return function.__name__
    for node in ast.walk(tree):
        if isinstance(node, _BRANCHES):
            return function.__name__
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = function.__globals__.get(node.func.id)
            if inspect.isfunction(called) and called.__module__ == function.__module__ and called not in seen:
                found = _branches(called, seen)
                if found:
                    return found
    return None


def _gives(function: Callable[..., Any], rotation: Rotation, rotary_dim: int, axis: int) -> bool | None:
    """Whether the function computes this rotation, of random numbers; None: it does not take them."""
    generator = torch.Generator().manual_seed(rotary_dim + axis)
    q, k = (torch.randn(2, *((heads, 3) if axis == 1 else (3, heads)), 8, generator=generator, dtype=torch.float32) for heads in (4, 2))
    cos, sin = (torch.randn(2, 3, rotary_dim // 2, generator=generator, dtype=torch.float32) for _ in range(2))
    try:
        got = function(q, k, rotation.repeated(cos), rotation.repeated(sin), unsqueeze_dim=axis)
    except (RuntimeError, TypeError, ValueError, IndexError):
        return None
    expected = rotation.rotate(q, k, cos, sin, "bhsd" if axis == 1 else "bshd")
    return (isinstance(got, tuple) and len(got) == 2
            and all(a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, atol=1e-5) for a, b in zip(got, expected)))


def of_one(function: Any) -> bool:
    """Whether it rotates one tensor, x, and not q and k."""
    return list(inspect.signature(function).parameters)[:3] == ["x", "cos", "sin"]


def _of_two(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda q, k, cos, sin, unsqueeze_dim: tuple(function(x, cos, sin, unsqueeze_dim=unsqueeze_dim) for x in (q, k))


def recognize(function: Any) -> Rotation | str:
    """The rotation that a function (q, k, cos, sin, …, unsqueeze_dim=1) or (x, cos, sin, …, unsqueeze_dim=1) computes, or why it is not known
    to be one.

    Its source must have no branches, so that it computes of all tensors what it does of those that it is tried on.
    """
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return "is no function of Python"
    one = of_one(function)
    if not one and list(parameters)[:4] != ["q", "k", "cos", "sin"] or "unsqueeze_dim" not in parameters or parameters["unsqueeze_dim"].default != 1:
        return f"takes ({', '.join(parameters)}), not (q, k, cos, sin, unsqueeze_dim=1)"
    branched = _branches(inspect.unwrap(function), set())
    if branched:
        return f"{branched}() has branches, or no source"
    function = _of_two(function) if one else function
    with torch.no_grad(), torch.device("cpu"):  # whatever device models are made on now
        for tables, pairing, of_sorted in _FORMS:
            rotation = Rotation(tables, pairing, of_sorted, False)
            if all(_gives(function, rotation, 8, axis) for axis in (1, 2)):
                first = _gives(function, rotation, 4, 1)
                if first is False and not of_sorted:
                    return "rotates other features than the first of longer heads"
                return Rotation(tables, pairing, of_sorted, bool(first) and not of_sorted)
    return "computes another rotation"
