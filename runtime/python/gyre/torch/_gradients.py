"""Gradients of the operators."""

import functools
from typing import Any, Callable

import torch
from torch import Tensor

from ._fakes import BHSD, THD

ATTENTION = ("bias mask sinks alibi seqused_k cu_seqlens_q cu_seqlens_k block_table q_positions k_positions inv_freq value_inv_freq "
             "prepared_mask scale softcap causal top_left window_left window_right interleaved rope_factor keys_rotated values_rotated dropout "
             "dropout_seed dropout_offset layout").split()
TENSORS = ATTENTION.index("scale")  # so many options are tensors
WITHOUT_GRADIENTS = ("mask", "block_table")
SINKS = ATTENTION.index("sinks")


def _keep_attention(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    q, k, v, *options = inputs
    ctx.save_for_backward(q, k, v, *output, *options[:TENSORS])
    ctx.options = options[TENSORS:]
    ctx.mark_non_differentiable(output[1])


def _contiguous(tensor: Tensor) -> Tensor:
    return tensor if tensor.stride(-1) == 1 else tensor.contiguous()


class _Last(torch.autograd.Function):
    """Gives the first `count` tensors back, as results of all of them whose gradients nobody knows."""

    @staticmethod
    def forward(ctx: Any, count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tensors[:count]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise NotImplementedError("gyre.torch: gradients of attention's gradients are not computed")


def _once(gradients: Callable[..., tuple[Tensor | None, ...]]) -> Callable[..., tuple[Tensor | None, ...]]:
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


def _sinks_gradient(sinks: Tensor, out_grad: Tensor, out: Tensor, lse: Tensor, layout: int) -> Tensor:
    """-Σ exp(sink - lse) out_grad · out over a head's rows: a sink is a score whose value is 0."""
    rows = (out_grad.float() * out.float()).sum(-1)
    rows = rows if layout == BHSD else rows.transpose(-1, -2)  # [batch, heads, seqlen], or [heads, tokens]
    terms = torch.exp(sinks[:, None] - lse).where(lse > -torch.inf, 0) * rows  # rows that see no key have no lse
    return -(terms.sum(-1) if layout == THD else terms.sum((0, 2)))


@_once
def _attention_gradients(ctx: Any, out_grad: Tensor, lse_grad: Tensor | None) -> tuple[Tensor | None, ...]:
    q, k, v, out, lse, *tensors = ctx.saved_tensors
    named = dict(zip(ATTENTION, tensors))
    for name in WITHOUT_GRADIENTS:
        if named[name] is not None:
            raise NotImplementedError(f"gyre::attention has no gradients of calls with {name}")
    needs = (*ctx.needs_input_grad, *[False] * len(ATTENTION))  # PyTorch tells nothing of options behind the last that was given
    need_bias, need_sinks = needs[3], needs[3 + SINKS]
    # The gradients of q, k and v see sinks in lse alone.
    tensors[SINKS] = None
    q_grad, k_grad, v_grad, bias_grad = torch.ops.gyre.attention_backward(
        _contiguous(out_grad), q, k, v, out, lse, need_bias, *tensors, *ctx.options)
    bias_grad = bias_grad.to(named["bias"].dtype) if need_bias else None
    options: list[Tensor | None] = [None] * len(ATTENTION)
    options[0] = bias_grad
    if need_sinks:
        options[SINKS] = _sinks_gradient(named["sinks"], out_grad, out, lse, ctx.options[-1])
    return (q_grad, k_grad, v_grad, *options)


torch.library.register_autograd("gyre::attention", _attention_gradients, setup_context=_keep_attention)

ROTARY = "inv_freq cos sin positions position_offset reverse interleaved rotary_offset factor layout".split()
REVERSE = ROTARY.index("reverse")


def _keep_rotary(tensors: int) -> Callable[[Any, tuple[Any, ...], Any], None]:
    """Makes the function that keeps what the gradient needs, of an operator whose first so many inputs are rotated."""

    def keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs[tensors : tensors + 4])
        ctx.options = list(inputs[tensors + 4 :])

    return keep


def _options_back(ctx: Any) -> list[Any]:
    options = [*ctx.saved_tensors, *ctx.options]
    options[REVERSE] = not options[REVERSE]
    return options


def _rotary_gradients(ctx: Any, out_grad: Tensor) -> tuple[Tensor | None, ...]:
    return (torch.ops.gyre.rotary(_contiguous(out_grad), *_options_back(ctx)),) + (None,) * len(ROTARY)


def _rotary_qk_gradients(ctx: Any, q_grad: Tensor, k_grad: Tensor) -> tuple[Tensor | None, ...]:
    grads = torch.ops.gyre.rotary_qk(_contiguous(q_grad), _contiguous(k_grad), *_options_back(ctx))
    return (*grads,) + (None,) * len(ROTARY)


torch.library.register_autograd("gyre::rotary", _rotary_gradients, setup_context=_keep_rotary(1))
torch.library.register_autograd("gyre::rotary_qk", _rotary_qk_gradients, setup_context=_keep_rotary(2))


LINEAR = "kv_state k_state seqused_k cu_seqlens_q cu_seqlens_k q_positions k_positions inv_freq".split()


def _keep_linear(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    q, k, v, ctx.return_state, *options = inputs
    ctx.save_for_backward(q, k, v, *options[: len(LINEAR)])
    ctx.options = options[len(LINEAR) :]


@_once
def _linear_gradients(ctx: Any, out_grad: Tensor, kv_grad: Tensor, k_grad: Tensor) -> tuple[Tensor | None, ...]:
    q, k, v, *tensors = ctx.saved_tensors
    after = (kv_grad.contiguous(), k_grad.contiguous()) if ctx.return_state else (None, None)
    grads = torch.ops.gyre.linear_attention_backward(_contiguous(out_grad), *after, q, k, v, *tensors, *ctx.options)
    states = grads[3:] if tensors[0] is not None else (None, None)
    return (*grads[:3], None, *states) + (None,) * (len(LINEAR) - 2 + len(ctx.options))


torch.library.register_autograd("gyre::linear_attention", _linear_gradients, setup_context=_keep_linear)
