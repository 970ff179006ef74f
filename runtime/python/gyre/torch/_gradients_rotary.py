"""Gradients of rotations: rotations back."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ._schemas import Schema
from ._tensors import contiguous
from ._transforms import transformable

ROTARY = Schema(torch.ops.gyre.rotary.default, 1)
REVERSE = ROTARY.options.index("reverse")


def _keep_rotary(rotated: int) -> Callable[[Any, tuple[Any, ...], Any], None]:
    """Makes the function that keeps what the gradient needs, of an operator whose first so many inputs are rotated."""
    first_number = rotated + len(ROTARY.tensors)

    def keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs[rotated:first_number])
        ctx.options = list(inputs[first_number:])

    return keep


def _options_back(ctx: Any) -> list[Any]:
    options = [*ctx.saved_tensors, *ctx.options]
    options[REVERSE] = not options[REVERSE]
    return options


def _rotary_gradients(ctx: Any, out_grad: Tensor) -> tuple[Tensor | None, ...]:
    return (rotary(contiguous(out_grad), *_options_back(ctx)),) + (None,) * len(ROTARY.options)


def _rotary_qk_gradients(ctx: Any, q_grad: Tensor, k_grad: Tensor) -> tuple[Tensor | None, ...]:
    grads = rotary_qk(contiguous(q_grad), contiguous(k_grad), *_options_back(ctx))
    return (*grads,) + (None,) * len(ROTARY.options)


rotary = transformable(torch.ops.gyre.rotary.default, _keep_rotary(1), _rotary_gradients)
rotary_qk = transformable(torch.ops.gyre.rotary_qk.default, _keep_rotary(2), _rotary_qk_gradients)
