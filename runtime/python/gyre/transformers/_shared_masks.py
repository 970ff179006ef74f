"""Masks that the layers of a model share: they are looked at once, not in each layer's call."""

from typing import Any

import torch
from torch.utils.weak import WeakTensorKeyDictionary

from .. import torch as operators
from ..torch._modes import records_gradients

_prepared = WeakTensorKeyDictionary()  # by mask: how often it had been written to, for which shapes, and what was prepared


def _may_be_shared(mask: torch.Tensor) -> bool:
    """True of a mask with more rows than padding has, in memory that tells when it is written to."""
    return (type(mask) is torch.Tensor and mask.dtype == torch.bool and mask.dim() == 4 and mask.shape[2] > 1 and mask.stride(-1) == 1
            and not mask.is_inference())


def prepared(mask: torch.Tensor, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> Any:
    """What attention() takes beside a mask that says all, of calls of these shapes; None: there is nothing to gain."""
    if torch.compiler.is_compiling() or not _may_be_shared(mask) or records_gradients(query, key, value):
        return None
    wanted = (mask._version, query.shape[:3], key.shape[2])
    known = _prepared.get(mask)
    if known is None or known[0] != wanted:
        known = _prepared[mask] = (wanted, operators.prepare_mask(mask, query, key))
    return known[1]
