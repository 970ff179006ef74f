"""Arrays of callers as the library sees them: NumPy's directly, others through DLPack. Nothing is copied; strides are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _dlpack
from ._structures import DTYPES, MAX_RANK, Tensor
from ._torch_tensors import plain

CPU = 1  # gyre_device

# gyre_dtype by DLPack's code (0 signed, 2 float, 4 bfloat, 6 bool) and bits.
_DLPACK_DTYPES = {(2, 32): 0, (2, 16): 1, (4, 16): 2, (2, 64): 3, (0, 32): 4, (0, 64): 5, (6, 8): 6}
_EXPECTED = "float32, float16, bfloat16, float64, int32, int64 or bool"
_EXPECTED_OF = {"mask": "bool"}  # arguments that take one type of these


@dataclass
class View:
    """An array's memory. Strides count elements. `owner` keeps the memory alive."""

    data: int
    dtype: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    owner: Any

    def __post_init__(self) -> None:
        if 0 in self.shape:  # strides mean nothing then; NumPy's are 0
            self.strides = _c_order(self.shape)

    def tensor(self, name: str) -> Tensor:
        rank = len(self.shape)
        if rank > MAX_RANK:
            raise ValueError(f"{name}: got rank {rank}, expected at most {MAX_RANK}")
        result = Tensor(data=self.data, dtype=self.dtype, device=CPU, rank=rank)
        result.shape[:rank] = self.shape
        result.strides[:rank] = self.strides
        return result

    def part(self) -> "View":
        """Views the first part of an array of parts."""
        return View(self.data, self.dtype, self.shape[1:], self.strides[1:], self.owner)


_numpy_dtypes: dict[np.dtype, int] = {}  # those that calls have met: a dtype takes its time to tell its name


def _dtype_of(dtype: np.dtype, name: str) -> int:
    number = DTYPES.get(dtype.name)
    if number is None or not dtype.isnative:
        raise TypeError(f"{name}: got dtype {dtype}, expected {_EXPECTED_OF.get(name, _EXPECTED)}")
    return _numpy_dtypes.setdefault(dtype, number)


def _view_numpy(array: np.ndarray, name: str, write: bool) -> View:
    dtype = _numpy_dtypes.get(array.dtype)
    if dtype is None:
        dtype = _dtype_of(array.dtype, name)
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name}: got a masked array, whose mask would be ignored, expected its data")
    if type(array) is not np.ndarray:  # a subclass may say of itself what does not hold of its memory
        array = np.ndarray.view(array, np.ndarray)
    if write and not array.flags.writeable:
        raise ValueError(f"{name}: is read-only, expected memory to write to")
    size, shape, strides = array.itemsize, array.shape, array.strides
    for stride, extent in zip(strides, shape):
        if stride % size and extent > 1:
            raise ValueError(f"{name}: got strides of {strides} bytes, expected multiples of its {size}-byte elements")
    return View(array.__array_interface__["data"][0], dtype, shape, tuple([stride // size for stride in strides]), array)


def _c_order(shape: Sequence[int]) -> tuple[int, ...]:
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * max(shape[i + 1], 1)
    return tuple(strides)


def _check_storage(array: Any, name: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """Refuses a tensor of PyTorch whose storage has been made smaller than the tensor, which DLPack does not tell."""
    if not hasattr(array, "untyped_storage") or 0 in shape:
        return
    elements = array.storage_offset() + sum([(extent - 1) * stride for extent, stride in zip(shape, strides)]) + 1
    held = array.untyped_storage().nbytes()
    if elements * array.element_size() > held:
        raise ValueError(f"{name}: reaches over its storage of {held} bytes")


def _view_dlpack(array: Any, name: str, write: bool) -> View:
    tensor, read_only, owner = _dlpack.read(array, name)
    dtype = _DLPACK_DTYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if dtype is None:
        raise TypeError(f"{name}: got DLPack's type code {tensor.code} of {tensor.bits} bits, "
                        f"expected {_EXPECTED_OF.get(name, _EXPECTED)}")
    if write and read_only:
        raise ValueError(f"{name}: is read-only, expected memory to write to")
    if not 0 <= tensor.ndim <= MAX_RANK:  # so many extents are read
        raise ValueError(f"{name}: got rank {tensor.ndim}, expected at most {MAX_RANK}")
    if tensor.ndim and not tensor.shape:
        raise ValueError(f"{name}: has no extents")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else _c_order(shape)
    data = (tensor.data or 0) + tensor.byte_offset if tensor.data else 0
    _check_storage(array, name, shape, strides)
    return View(data, dtype, shape, strides, (owner, array))


def view(array: Any, name: str, write: bool = False) -> View:
    """Views an array. `name`: of the argument, for messages.

    Errors: TypeError (no array; its element type), ValueError (read-only though written to, not in the CPU's memory, strides
    that are no multiples of an element).
    """
    if isinstance(array, np.ndarray):
        return _view_numpy(array, name, write)
    found = plain(array)
    if found and len(found.shape) <= MAX_RANK:
        _check_storage(array, name, found.shape, found.strides)
        return View(*found, owner=array)
    if hasattr(type(array), "__dlpack__"):
        return _view_dlpack(array, name, write)
    raise TypeError(f"{name}: got {type(array).__name__}, expected a NumPy array or another with __dlpack__")


def as_list(numbers: Any, name: str) -> Any:
    """A list of Python's integers becomes an array of int32; an array stays as it is. Errors: TypeError, ValueError."""
    if not isinstance(numbers, (list, tuple, range)):
        return numbers
    try:
        exact = np.asarray(numbers)
    except (ValueError, OverflowError) as error:
        raise TypeError(f"{name}: got a list of which NumPy makes no array: {error}") from None
    if exact.size and exact.dtype.kind not in "iu":
        raise TypeError(f"{name}: got {exact.dtype} in a list, expected integers of 32 bits")
    narrow = exact.astype(np.int32)
    if (narrow != exact).any():
        raise ValueError(f"{name}: got {exact[narrow != exact][0]} in a list, expected numbers of 32 bits")
    return narrow


def empty(like: Any, shape: Sequence[int], dtype: str | None = None) -> Any:
    """A new array of `like`'s library that can be written to: NumPy's or PyTorch's; NumPy's for libraries without such."""
    if hasattr(like, "new_empty"):  # PyTorch
        import torch

        return like.new_empty(tuple(shape), dtype=getattr(torch, dtype) if dtype else like.dtype, requires_grad=False)
    if dtype == "bfloat16":
        import ml_dtypes  # noqa: F401  tells NumPy the name

    return np.empty(tuple(shape), dtype or np.dtype(like.dtype))


def hand_over(result: Any, like: Any) -> Any:
    """A result as an array of `like`'s library."""
    if isinstance(like, np.ndarray) or not isinstance(result, np.ndarray):
        return result
    namespace = getattr(like, "__array_namespace__", None)
    return namespace().asarray(result) if namespace else result
