"""Gradients of attention."""

from typing import Any

import torch
from torch import Tensor

from ._gradients_once import once
from ._results import BHSD, THD
from ._schemas import ATTENTION
from ._tensors import contiguous
from ._transforms import transformable

WITHOUT_GRADIENTS = ("mask", "block_table")
SINKS = ATTENTION.options.index("sinks")


def _keep_attention(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    q, k, v, *options = inputs
    tensors = len(ATTENTION.tensors)
    ctx.save_for_backward(q, k, v, *output, *options[:tensors])
    ctx.options = options[tensors:]
    ctx.set_materialize_grads(False)  # what nobody reads has no gradient, where zeros would cost as much as numbers


def _sinks_gradient(sinks: Tensor, out_grad: Tensor, lse_grad: Tensor | None, out: Tensor, lse: Tensor, layout: int) -> Tensor:
    """-Σ exp(sink - lse) (out_grad · out - lse_grad) over a head's rows: a sink is a score whose value is 0."""
    rows = (out_grad.float() * out.float()).sum(-1)
    rows = rows if layout == BHSD else rows.transpose(-1, -2)  # [batch, heads, seqlen], or [heads, tokens]
    if lse_grad is not None:
        rows = rows - lse_grad
    terms = torch.exp(sinks[:, None] - lse).where(lse > -torch.inf, 0) * rows  # rows that see no key have no lse
    return -(terms.sum(-1) if layout == THD else terms.sum((0, 2)))


def _with_lse_as_a_feature(lse_grad: Tensor, out_grad: Tensor, v: Tensor, out: Tensor, layout: int) -> tuple[Tensor, Tensor, Tensor]:
    """out_grad, v and out with one more feature, by which the gradients of q and k are those of out and of lse.

    A score's gradient is P (out_grad · v - out_grad · out + lse_grad): the feature is 1 in v, 0 in out, and lse_grad in out_grad.
    """
    per_row = lse_grad if layout == BHSD else lse_grad.transpose(-1, -2)
    return (torch.cat((out_grad, per_row[..., None].to(out_grad.dtype)), -1), torch.cat((v, torch.ones_like(v[..., :1])), -1),
            torch.cat((out, torch.zeros_like(out[..., :1])), -1))


@once
def _attention_gradients(ctx: Any, out_grad: Tensor | None, lse_grad: Tensor | None) -> tuple[Tensor | None, ...]:
    q, k, v, out, lse, *tensors = ctx.saved_tensors
    named, (*_, dropout, _, _, layout) = dict(zip(ATTENTION.tensors, tensors)), ctx.options
    for name in WITHOUT_GRADIENTS:
        if named[name] is not None:
            raise NotImplementedError(f"gyre::attention has no gradients of calls with {name}")
    if out_grad is None:
        out_grad = torch.zeros_like(out)
    wide_v, wide_out, wide_grad = v, out, out_grad
    if lse_grad is not None:
        if dropout or v.shape[-1] == 512:
            raise NotImplementedError("gyre::attention has no gradients of lse with dropout, nor with 512 features of v")
        wide_grad, wide_v, wide_out = _with_lse_as_a_feature(lse_grad, out_grad, v, out, layout)
    needs = (*ctx.needs_input_grad, *[False] * len(ATTENTION.options))  # PyTorch tells nothing of options behind the last that was given
    need_bias, need_sinks = needs[3], needs[3 + SINKS]
    # The gradients of q, k and v see sinks in lse alone.
    tensors[SINKS] = None
    q_grad, k_grad, v_grad, bias_grad = torch.ops.gyre.attention_backward(
        contiguous(wide_grad), q, k, wide_v, wide_out, lse, need_bias, *tensors, *ctx.options)
    if lse_grad is not None:
        v_grad = v_grad[..., :-1]
    bias_grad = bias_grad.to(named["bias"].dtype) if need_bias else None
    options: list[Tensor | None] = [None] * len(ATTENTION.options)
    options[0] = bias_grad
    if need_sinks:
        options[SINKS] = _sinks_gradient(named["sinks"], out_grad, lse_grad, out, lse, layout)
    return (q_grad, k_grad, v_grad, *options)


attention = transformable(torch.ops.gyre.attention_with_lse.default, _keep_attention, _attention_gradients, torch.ops.gyre.attention.default)
