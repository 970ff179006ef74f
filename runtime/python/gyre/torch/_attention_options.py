"""Attention for PyTorch with any of its options."""

import math
from typing import Any

import torch

from .._values import LAYOUTS, choose
from ._attention_short import packed, short, short_with_lse
from ._attention_words import AttentionOptions, words_of
from ._gradients import attention as _with_gradients
from ._modes import any_autocast, autocast, grads_are_on, has_tangents, is_traced, refuse_tangents
from ._operators import direct

_ops = torch.ops.gyre
_with_lse, _forward, _plain, _out = (
    _ops.attention_with_lse.default, _ops.attention_forward.default, _ops.attention_plain.default,
    _ops.attention_out.default)
_direct_with_lse, _direct_forward = direct(_with_lse), direct(_forward)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float | None, causal: bool, layout: str,
              options: AttentionOptions) -> Any:
    """attention() of _attention.py, with whichever options are given."""
    if any_autocast():
        q, k, v = autocast(q, k, v)
    words = words_of(options, q, v)
    if not is_traced() and has_tangents():
        refuse_tangents(q, k, v, words.get("bias"), words.get("sinks"), words.get("alibi"))
    recorded = grads_are_on() and _requires_grad(q, k, v, words)
    if recorded and "mask" in words:
        words["bias"] = _as_bias(words.pop("mask"), words.get("bias"), q.dtype)
        words.pop("prepared_mask", None)
    if scale == 0:
        raise ValueError("scale: got 0, expected another number, or None for 1 / sqrt(head_dim)")
    return_lse, out = options.get("return_lse"), options.get("out")
    if not (words or recorded or return_lse) and out is None:
        return _plain(q, k, v, scale or 0.0, causal, choose(layout, "layout", LAYOUTS))
    if scale is not None:
        words["scale"] = scale
    if causal:
        words["causal"] = causal
    if layout != "bhsd":
        words["layout"] = choose(layout, "layout", LAYOUTS)
    if out is not None:
        if recorded:
            raise ValueError("out: is given where gradients are recorded, expected None")
        lse = q.new_empty(_lse_shape(q, layout), dtype=torch.float32) if return_lse else None
        _out(q, k, v, out, lse, **words)
        return (out, lse) if return_lse else out
    if recorded:
        result, lse = _with_gradients(q, k, v, **words)
        return (result, lse) if return_lse else result
    if is_traced():
        return (_with_lse if return_lse else _forward)(q, k, v, **words)
    few = packed(words)
    if few is not None:
        return (short_with_lse if return_lse else short)(q, k, v, *few)
    return (_direct_with_lse if return_lse else _direct_forward)(q, k, v, **words)


def _requires_grad(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, words: dict[str, Any]) -> bool:
    """Whether gradients are asked for. Errors: ValueError (of slopes)."""
    if "alibi" in words and words["alibi"].requires_grad:
        raise ValueError("alibi: requires gradients, which are not computed, expected alibi.detach(), or a bias of slopes times distances")
    return (q.requires_grad or k.requires_grad or v.requires_grad or ("bias" in words and words["bias"].requires_grad)
            or ("sinks" in words and words["sinks"].requires_grad))


def _as_bias(mask: torch.Tensor, bias: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor:
    if mask.dtype != torch.bool:
        raise TypeError(f"mask: got {mask.dtype}, expected torch.bool")
    masked = torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -math.inf)
    return masked if bias is None else bias + masked


def _lse_shape(q: torch.Tensor, layout: str) -> tuple[int, ...]:
    if layout == "thd":
        return q.shape[1], q.shape[0]
    return (q.shape[0], q.shape[1], q.shape[2]) if layout == "bhsd" else (q.shape[0], q.shape[2], q.shape[1])
