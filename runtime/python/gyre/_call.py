"""The arrays of one call of the library, and the call itself."""

from collections.abc import Sequence
from ctypes import pointer
from typing import Any

from . import _library
from ._arrays import View, view
from ._structures import Structure, Tensor
from ._context import Context


class Call:
    """The arrays of one call: it keeps them alive until it has returned."""

    def __init__(self) -> None:
        self.owners: list[Any] = []

    def view(self, array: Any, name: str, write: bool = False) -> View:
        found = view(array, name, write)
        self.owners.append(found)
        return found

    def keep(self, *owners: Any) -> None:
        """Keeps the owners of memory that an argument structure has addresses of."""
        self.owners.extend(owners)

    def tensor(self, array: Any, name: str, write: bool = False) -> Tensor:
        return self.view(array, name, write).tensor(name)

    def optional(self, array: Any, name: str, write: bool = False) -> Any:
        """A pointer to a tensor; None: it is absent."""
        return None if array is None else pointer(self.tensor(array, name, write))

    def run(self, function: str, args: Structure, context: Context | None) -> None:
        """Errors: those of _library.check()."""
        if context is not None and not isinstance(context, Context):
            raise TypeError(f"context: got {type(context).__name__}, expected a gyre.Context or None")
        handle = context.handle if context is not None else None
        _library.check(getattr(_library.library, function)(handle, args))


def shape_of(array: Any, name: str) -> tuple[int, ...]:
    """Errors: TypeError, if it is no array."""
    shape = getattr(array, "shape", None)
    if shape is None:
        raise TypeError(f"{name}: got {type(array).__name__}, expected a NumPy array or another with __dlpack__")
    return tuple(shape)


def need_rank(array: Any, name: str, layout: str) -> tuple[int, ...]:
    """The shape of an array of heads. Errors: TypeError, ValueError."""
    shape, rank = shape_of(array, name), 3 if layout == "thd" else 4
    if len(shape) != rank:
        raise ValueError(f"{name}: got rank {len(shape)}, expected {rank} with layout {layout}")
    return shape


def lse_shape(q: Sequence[int], layout: str) -> tuple[int, ...]:
    """[batch, num_heads, seqlen_q], or [num_heads, total_q]."""
    return {"bshd": (q[0], q[2], q[1]), "bhsd": tuple(q[:3]), "thd": (q[1], q[0])}[layout] if len(q) > 2 else ()
