"""Calls with few options, in few arguments: PyTorch takes 70 ns for each that an operator has."""

from typing import Any

import torch

from ._operators import direct
from ._results import BHSD
from ._schemas import ATTENTION

_ops = torch.ops.gyre
short, short_with_lse = direct(_ops._attention_short.default), direct(_ops._attention_short_with_lse.default)

# As torch_ops/attention_short.cpp reads them.
_PLACES = {name: place for place, name in enumerate(ATTENTION.tensors)}
_BITS = {"causal": 1, "top_left": 2, "interleaved": 4, "keys_rotated": 8, "values_rotated": 16}
_LAYOUT, _FIRST, _SECOND = 8, 16, 20
_HALF = 1 << 31


def packed(arguments: dict[str, Any]) -> tuple[Any, ...] | None:
    """What `short` takes after q, k and v. None: these arguments do not fit, or are not of the type that they ought to be."""
    first = second = None
    scale = softcap = 0.0
    layout, flags, left, right = BHSD, 0, -1, -1
    for name, value in arguments.items():
        if name in _PLACES:
            if not isinstance(value, torch.Tensor):
                return None
            if first is None:
                first, flags = value, flags | _PLACES[name] << _FIRST
            elif second is None:
                second, flags = value, flags | _PLACES[name] << _SECOND
            else:
                return None
        elif name in _BITS:
            if value is not True:
                return None
            flags |= _BITS[name]
        elif name == "softcap":
            softcap = value
        elif name == "scale":
            scale = value
        elif name == "layout":
            layout = value
        elif name == "window_left":
            left = value
        elif name == "window_right":
            right = value
        else:
            return None
    if left == right == -1:
        return first, second, scale, softcap, flags | layout << _LAYOUT, -1
    if type(left) is not int or type(right) is not int or not (-_HALF <= left < _HALF and -_HALF <= right < _HALF):
        return None
    return first, second, scale, softcap, flags | layout << _LAYOUT, right << 32 | left & 0xFFFFFFFF


def layout_of(flags: int) -> int:
    return flags >> _LAYOUT & 3


_library = torch.library.Library("gyre", "IMPL")
for _name in ("_attention_short", "_attention_short_with_lse"):
    # Callers have seen that no gradients are recorded.
    _library.impl(_name, torch.library.fallthrough_kernel, "Autograd")
