"""Gradients that have none themselves."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class _Last(torch.autograd.Function):
    """Gives the first `count` tensors back, as results of all of them whose gradients nobody knows."""

    generate_vmap_rule = True

    @staticmethod
    def forward(count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tuple(tensor.view_as(tensor) for tensor in tensors[:count])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        """Nothing is kept. torch.func's transforms want this apart from forward()."""

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise NotImplementedError("gyre.torch: gradients of attention's gradients are not computed")


def once(gradients: Callable[..., tuple[Tensor | None, ...]]) -> Callable[..., tuple[Tensor | None, ...]]:
    """Makes gradients of these gradients an error, where PyTorch would take them for 0 after a warning."""

    @functools.wraps(gradients)
    def last(ctx: Any, *out_grads: Tensor | None) -> tuple[Tensor | None, ...]:
        if not torch.is_grad_enabled():
            return gradients(ctx, *out_grads)
        with torch.no_grad():
            grads = gradients(ctx, *out_grads)
        made = [grad for grad in grads if grad is not None]
        seen = [tensor for tensor in (*out_grads, *ctx.saved_tensors) if tensor is not None]
        marked = iter(_Last.apply(len(made), *made, *seen))
        return tuple(None if grad is None else next(marked) for grad in grads)

    return last
