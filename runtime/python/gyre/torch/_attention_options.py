"""Attention for PyTorch with any of its options."""

from typing import Any

import torch

from .._values import LAYOUTS, choose, flag
from ._attention_arguments import AttentionOptions, arguments_of
from ._attention_short import packed, short, short_with_lse
from ._gradients import attention as _with_gradients
from ._in_place import attention_out
from ._modes import any_autocast, autocast, grads_are_on, has_tangents, is_traced, refuse_tangents
from ._numbers import number
from ._operators import direct
from ._results import BHSD, new_lse
from ._tensors import as_tensor, masking_bias, refuse_gradients

_ops = torch.ops.gyre
_with_lse, _forward, _plain = (
    _ops.attention_with_lse.default, _ops.attention_forward.default, _ops.attention_plain.default)
_direct_with_lse, _direct_forward = direct(_with_lse), direct(_forward)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float | None, causal: bool, layout: str,
              options: AttentionOptions) -> Any:
    """attention() of _attention.py, with whichever options are given."""
    causal = flag(causal, "causal") == 1
    if scale is not None:
        scale = number(scale, "scale")
    if any_autocast():
        q, k, v = autocast(q, k, v)
    arguments = arguments_of(options, q, v)
    if has_tangents():
        refuse_tangents(q, k, v, arguments.get("bias"), arguments.get("sinks"), arguments.get("alibi"))
    recorded = grads_are_on() and _requires_grad(q, k, v, arguments)
    if recorded and "mask" in arguments:
        arguments["bias"] = _with_mask(arguments.get("bias"), arguments.pop("mask"), q.dtype)
        arguments.pop("prepared_mask", None)
    if scale == 0:
        raise ValueError("scale: got 0, expected another number, or None for 1 / sqrt(head_dim)")
    if recorded and _has_narrow_keys(q, k, v) and "block_table" not in arguments:
        k, v = k.float(), v.float()
    return_lse, out = flag(options.get("return_lse", False), "return_lse") == 1, options.get("out")
    if not (arguments or recorded or return_lse) and out is None:
        return _plain(q, k, v, scale or 0.0, causal, choose(layout, "layout", LAYOUTS))
    if scale is not None:
        arguments["scale"] = scale
    if causal:
        arguments["causal"] = causal
    if layout != "bhsd":
        arguments["layout"] = choose(layout, "layout", LAYOUTS)
    if out is not None:
        if recorded:
            raise ValueError("out: is given where gradients are recorded, expected None")
        refuse_gradients(as_tensor(out, "out"), "out")
        lse = new_lse(q, arguments.get("layout", BHSD)) if return_lse else None
        attention_out(q, k, v, out, lse, **arguments)
        return (out, lse) if return_lse else out
    if recorded:
        result, lse = _with_gradients(q, k, v, **arguments)
        return (result, lse) if return_lse else result
    if is_traced():
        return (_with_lse if return_lse else _forward)(q, k, v, **arguments)
    few = packed(arguments)
    if few is not None:
        return (short_with_lse if return_lse else short)(q, k, v, *few)
    return (_direct_with_lse if return_lse else _direct_forward)(q, k, v, **arguments)


def _requires_grad(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, arguments: dict[str, Any]) -> bool:
    """Whether gradients are asked for. Errors: ValueError (of slopes)."""
    if "alibi" in arguments and arguments["alibi"].requires_grad:
        raise ValueError("alibi: requires gradients, which are not computed, expected alibi.detach(), or a bias of slopes times distances")
    return (q.requires_grad or k.requires_grad or v.requires_grad or ("bias" in arguments and arguments["bias"].requires_grad)
            or ("sinks" in arguments and arguments["sinks"].requires_grad))


def _has_narrow_keys(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> bool:
    """Whether keys and values have 16 bits beside queries of 32, which attention takes, but its gradients do not."""
    return q.dtype == torch.float32 and k.dtype == v.dtype and k.dtype in (torch.float16, torch.bfloat16)


def _with_mask(bias: torch.Tensor | None, mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A bias that masks, too. Errors: TypeError."""
    if mask.dtype != torch.bool:
        raise TypeError(f"mask: got {mask.dtype}, expected torch.bool")
    masked = masking_bias(mask, dtype)
    return masked if bias is None else bias + masked
