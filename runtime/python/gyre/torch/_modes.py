"""What PyTorch's modes ask of a call: a type under autocast, gradients, and tangents."""

from collections.abc import Callable

import torch
from torch.autograd import forward_ad

# Looked up once, since a call on one token is short.
grads_are_on: Callable[[], bool] = torch.is_grad_enabled
is_traced: Callable[[], bool] = torch.compiler.is_dynamo_compiling  # by torch.compile, which puts True for the call
# Whether autocast is on for any device: this asks in half the time that torch.is_autocast_enabled("cpu") takes to read its word.
any_autocast: Callable[[], bool] = getattr(torch._C, "_is_any_autocast_enabled", lambda: torch.is_autocast_enabled("cpu"))


def has_tangents() -> bool:
    """Whether tensors may have tangents: in forward_ad.dual_level() and torch.func.jvp()."""
    level: int = forward_ad._current_level
    return level >= 0


def refuse_tangents(*tensors: torch.Tensor | None) -> None:
    """Stops what would lose them without a word: PyTorch takes operators that know nothing of tangents for constants.

    Errors: NotImplementedError.
    """
    if is_traced() or not has_tangents():
        return
    for tensor in tensors:
        if tensor is not None and forward_ad.unpack_dual(tensor).tangent is not None:
            raise NotImplementedError("gyre.torch: got a tensor with a tangent, whose derivative is not computed, expected gradients by backward()")


def autocast(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Casts tensors as autocast casts what scaled_dot_product_attention is given."""
    if not torch.is_autocast_enabled("cpu") or not all(t.is_floating_point() for t in tensors):
        return tensors
    dtype = torch.get_autocast_dtype("cpu")
    return tuple(t.to(dtype) if t.dtype != torch.float64 else t for t in tensors)


def records_gradients(*tensors: torch.Tensor | None) -> bool:
    """Whether a call of these is to be differentiated."""
    if torch.is_grad_enabled():
        for tensor in tensors:
            if tensor is not None and tensor.requires_grad:
                return True
    return False
