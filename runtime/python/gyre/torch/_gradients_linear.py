"""Gradients of linear attention."""

from typing import Any

import torch
from torch import Tensor

from ._gradients_once import once
from ._schemas import Schema
from ._tensors import contiguous
from ._transforms import transformable

LINEAR = Schema(torch.ops.gyre.linear_attention.default, 4)


def _keep_linear(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    q, k, v, ctx.return_state, *options = inputs
    tensors = len(LINEAR.tensors)
    ctx.save_for_backward(q, k, v, *options[:tensors])
    ctx.options = options[tensors:]


@once
def _linear_gradients(ctx: Any, out_grad: Tensor, kv_grad: Tensor, k_grad: Tensor) -> tuple[Tensor | None, ...]:
    q, k, v, *tensors = ctx.saved_tensors
    after = (kv_grad.contiguous(), k_grad.contiguous()) if ctx.return_state else (None, None)
    grads = torch.ops.gyre.linear_attention_backward(contiguous(out_grad), *after, q, k, v, *tensors, *ctx.options)
    states = grads[3:] if tensors[0] is not None else (None, None)
    return (*grads[:3], None, *states) + (None,) * (len(LINEAR.options) - 2)


linear_attention = transformable(torch.ops.gyre.linear_attention.default, _keep_linear, _linear_gradients)
