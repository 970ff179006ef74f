"""Numbers as the operators take them. What is no number is refused in the library's words, and not in those of PyTorch's schemas."""

from typing import Any

import torch

from .._values import integer, real
from ._modes import is_traced
from ._tensors import refuse_gradients

_SYMBOLS = (torch.SymInt, torch.SymFloat)  # of a compiled function


def number(value: Any, name: str) -> Any:
    """A float, also of a tensor that has one element. Errors: TypeError; ValueError, of a tensor whose gradient would be lost."""
    if type(value) is float or type(value) is int or isinstance(value, _SYMBOLS):
        return value
    if not isinstance(value, torch.Tensor):
        return real(value, name)
    refuse_gradients(value, name)
    if value.numel() != 1 or value.is_complex():
        raise TypeError(f"{name}: got a tensor of shape {list(value.shape)} and type {value.dtype}, expected a number")
    return value if is_traced() else value.item()


def whole(value: Any, name: str) -> Any:
    """An integer of 64 bits. Errors: TypeError, ValueError."""
    if (type(value) is int and -(2**63) <= value < 2**63) or isinstance(value, torch.SymInt):
        return value
    return integer(value, name, 64)


def seed(value: Any, name: str) -> int:
    """A seed: the operators have 64 bits with a sign, where the library has none. Errors: TypeError, ValueError."""
    try:
        return integer(value, name, 64)
    except ValueError:
        return integer(value, name, 64, signed=False) - 2**64
