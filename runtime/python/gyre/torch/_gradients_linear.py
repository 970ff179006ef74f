"""Gradients of linear attention."""

from typing import Any

import torch
from torch import Tensor

from ._gradients_once import contiguous, once
from ._transforms import transformable

LINEAR = "kv_state k_state seqused_k cu_seqlens_q cu_seqlens_k q_positions k_positions inv_freq".split()


def _keep_linear(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    q, k, v, ctx.return_state, *options = inputs
    ctx.save_for_backward(q, k, v, *options[: len(LINEAR)])
    ctx.options = options[len(LINEAR) :]


@once
def _linear_gradients(ctx: Any, out_grad: Tensor, kv_grad: Tensor, k_grad: Tensor) -> tuple[Tensor | None, ...]:
    q, k, v, *tensors = ctx.saved_tensors
    after = (kv_grad.contiguous(), k_grad.contiguous()) if ctx.return_state else (None, None)
    grads = torch.ops.gyre.linear_attention_backward(contiguous(out_grad), *after, q, k, v, *tensors, *ctx.options)
    states = grads[3:] if tensors[0] is not None else (None, None)
    return (*grads[:3], None, *states) + (None,) * (len(LINEAR) - 2 + len(ctx.options))


linear_attention = transformable(torch.ops.gyre.linear_attention.default, _keep_linear, _linear_gradients)
