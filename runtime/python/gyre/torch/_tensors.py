"""Tensors as the operators want them."""

import math
from typing import Any

import torch
from torch import Tensor


def as_tensor(value: Any, name: str) -> Tensor:
    """The value itself. Errors: TypeError, if it is no tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: got {type(value).__name__}, expected a torch.Tensor")
    return value


def optional_tensor(value: Any, name: str) -> Tensor | None:
    """The value itself. Errors: TypeError, if it is neither a tensor nor None."""
    return None if value is None else as_tensor(value, name)


def features(tensor: Any, name: str) -> int:
    """How many features a tensor's heads have. Errors: TypeError, if it is no tensor; ValueError, if it has none."""
    if as_tensor(tensor, name).dim() == 0:
        raise ValueError(f"{name}: got rank 0, expected 4, or 3 with layout thd")
    count: int = tensor.size(-1)  # a symbol in a compiled function
    return count


def refuse_gradients(tensor: Tensor, name: str) -> None:
    """Stops what would lose gradients without a word. Errors: ValueError."""
    if torch.is_grad_enabled() and tensor.requires_grad:
        raise ValueError(f"{name}: requires gradients, which are not computed, expected {name}.detach()")


def contiguous(tensor: Tensor) -> Tensor:
    """The tensor with the features of a head side by side."""
    return tensor if tensor.stride(-1) == 1 or tensor.shape[-1] == 1 else tensor.contiguous()


def of_rank_4(tensor: Tensor) -> Tensor:
    """A view with extents of 1 before those that the tensor has."""
    return tensor.reshape((1,) * (4 - tensor.dim()) + tuple(tensor.shape))


def masking_bias(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """What a boolean mask, True: attend, adds to scores: 0 and -inf."""
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -math.inf)


def bias_of(mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """What a mask of PyTorch's, boolean or added, adds to scores, of rank 4."""
    if mask is None:
        return None
    return of_rank_4(masking_bias(mask, dtype) if mask.dtype == torch.bool else mask)
