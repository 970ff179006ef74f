"""Attention and its gradients by plain operators, for what the library does not do: float64, large heads."""

import math

import torch
from torch import Tensor

from ._tensors import bias_of


def _weights(q: Tensor, k: Tensor, is_causal: bool, mask: Tensor | None, scale: float) -> tuple[Tensor, Tensor]:
    """Probabilities, and the log of their denominators, in q's type or float32 if that is shorter."""
    scores = (q @ k.transpose(-1, -2)) * scale
    if is_causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril(), -math.inf)
    bias = bias_of(mask, scores.dtype)
    if bias is not None:
        scores = scores + bias
    lse = torch.logsumexp(scores, -1)
    return torch.exp(scores - lse[..., None]).masked_fill((lse == -math.inf)[..., None], 0.0), lse  # of rows that see no key


def _wide(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """In a type that sums are formed in, with as many heads of keys as of queries."""
    dtype = torch.float64 if q.dtype == torch.float64 else torch.float32
    group = q.shape[1] // k.shape[1]
    return q.to(dtype), k.to(dtype).repeat_interleave(group, 1), v.to(dtype).repeat_interleave(group, 1)


def _scale(q: Tensor, scale: float | None) -> float:
    return float(q.shape[-1]) ** -0.5 if scale is None else scale


def forward(q: Tensor, k: Tensor, v: Tensor, dropout_p: float, is_causal: bool, mask: Tensor | None,
            scale: float | None) -> tuple[Tensor, Tensor]:
    """out and lse. PyTorch gives this operator no dropout on the CPU; with any there are no gradients."""
    wide_q, wide_k, wide_v = _wide(q, k, v)
    p, lse = _weights(wide_q, wide_k, is_causal, mask, _scale(q, scale))
    return (torch.dropout(p, dropout_p, dropout_p > 0) @ wide_v).to(q.dtype), lse


def backward(out_grad: Tensor, q: Tensor, k: Tensor, v: Tensor, dropout_p: float, is_causal: bool, mask: Tensor | None,
             scale: float | None) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of q, k and v. Errors: NotImplementedError, with dropout."""
    if dropout_p > 0:
        raise NotImplementedError("gyre.torch: scaled_dot_product_attention with dropout has no gradients here")
    wide_q, wide_k, wide_v = _wide(q, k, v)
    factor, out_grad = _scale(q, scale), out_grad.to(wide_q.dtype)
    p, _ = _weights(wide_q, wide_k, is_causal, mask, factor)
    p_grad = out_grad @ wide_v.transpose(-1, -2)
    scores_grad = p * (p_grad - (p * p_grad).sum(-1, keepdim=True)) * factor

    def of_group(grad: Tensor, of: Tensor) -> Tensor:
        groups: Tensor = grad.unflatten(1, (of.shape[1], -1))
        return groups.sum(2).to(of.dtype)

    return ((scores_grad @ wide_k).to(q.dtype), of_group(scores_grad.transpose(-1, -2) @ wide_q, k),
            of_group(p.transpose(-1, -2) @ out_grad, v))
