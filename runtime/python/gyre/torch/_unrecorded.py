"""The operator of a call without options whose gradients nobody records, and what PyTorch's modes make of it."""

import torch

from . import _attention_options
from ._operators import direct

unrecorded = direct(torch.ops.gyre._attention_unrecorded.default)


def _under_autocast(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    result: torch.Tensor = _attention_options.attention(q, k, v, scale or None, causal, "bhsd", {})
    return result


_library = torch.library.Library("gyre", "IMPL")
# PyTorch would look through the arguments for gradients and warn of what has none: attention() has looked.
_library.impl("_attention_unrecorded", torch.library.fallthrough_kernel, "Autograd")
_library.impl("_attention_unrecorded", _under_autocast, "AutocastCPU")
