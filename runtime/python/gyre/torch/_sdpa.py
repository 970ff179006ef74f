"""torch.nn.functional.scaled_dot_product_attention on the CPU, taken over and given back."""

import warnings
from collections import Counter
from typing import Any

import torch
from torch import Tensor

from . import _sdpa_fallback
from ._attention_short import packed, short_with_lse
from ._operators import direct
from ._sdpa_layout import as_pytorch_lays_grads, as_pytorch_lays_lse, tokens_come_first
from ._tensors import bias_of, contiguous, of_rank_4

_attention_out = direct(torch.ops.gyre.attention_out.default)
_TYPES = (torch.float32, torch.float16, torch.bfloat16)
_LEAST_SCALE, _LARGEST_SCALE = torch.finfo(torch.float32).tiny, torch.finfo(torch.float32).max  # the library takes 0, inf and NaN as mistakes
_calls: Counter[str] = Counter()
_taken: torch.library.Library | None = None  # the registration; it ends with this object


def _takes(q: Tensor, k: Tensor, v: Tensor, dropout_p: float, mask: Tensor | None, scale: float | None) -> bool:
    return (q.dtype in _TYPES and dropout_p == 0 and max(q.shape[-1], v.shape[-1]) <= 512
            and (scale is None or _LEAST_SCALE <= abs(scale) <= _LARGEST_SCALE)
            and (mask is None or mask.dtype == torch.bool or mask.dtype in _TYPES))


def _forward(q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0, is_causal: bool = False, *, attn_mask: Tensor | None = None,
             scale: float | None = None) -> tuple[Tensor, Tensor]:
    if not _takes(q, k, v, dropout_p, attn_mask, scale):
        _calls["left to PyTorch"] += 1
        out, lse = _sdpa_fallback.forward(q, k, v, dropout_p, is_causal, attn_mask, scale)
        return torch.empty_like(q).copy_(out), as_pytorch_lays_lse(lse)
    _calls["forward"] += 1
    arguments: dict[str, Any] = {"causal": True} if is_causal else {}
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        arguments["mask"] = of_rank_4(attn_mask)
    elif attn_mask is not None:
        arguments["bias"] = bias_of(attn_mask, q.dtype)
    q_read, k, v = contiguous(q), contiguous(k), contiguous(v)
    if scale is not None:
        arguments["scale"] = scale
    few = packed(arguments | {"top_left": True}) if tokens_come_first(q) else None
    if few is not None:
        out, lse = short_with_lse(q_read, k, v, *few)
        return out, as_pytorch_lays_lse(lse)
    out, lse = torch.empty_like(q), q.new_empty(q.shape[:3], dtype=torch.float32)
    written = contiguous(out)
    _attention_out(q_read, k, v, written, lse, top_left=True, **arguments)
    return out if written is out else out.copy_(written), as_pytorch_lays_lse(lse)


def _backward(out_grad: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, dropout_p: float, is_causal: bool, *,
              attn_mask: Tensor | None = None, scale: float | None = None) -> tuple[Tensor, Tensor, Tensor]:
    if not _takes(q, k, v, dropout_p, attn_mask, scale):
        _calls["backward left to PyTorch"] += 1
        return as_pytorch_lays_grads(_sdpa_fallback.backward(out_grad, q, k, v, dropout_p, is_causal, attn_mask, scale))
    _calls["backward"] += 1
    grads: tuple[Tensor, Tensor, Tensor, Tensor] = torch.ops.gyre.attention_backward(
        *(contiguous(x) for x in (out_grad, q, k, v, out)), lse.contiguous(), False, bias=bias_of(attn_mask, q.dtype),
        scale=scale or 0.0, causal=is_causal, top_left=True)
    return as_pytorch_lays_grads(grads[:3])


def enable_sdpa() -> None:
    """Takes scaled_dot_product_attention over on the CPU, forward and backward, until disable_sdpa(). Twice is once.

    What the library does not do (dropout, float64), and what PyTorch computes without a kernel of its own (values of another head size
    than keys), goes on as before; sdpa_calls() tells how many calls were taken.
    """
    global _taken
    if _taken is None:
        _taken = torch.library.Library("aten", "IMPL")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Warning only once for all operators")  # 2.10 tells of every override
            _taken.impl("_scaled_dot_product_flash_attention_for_cpu", _forward, "CPU", allow_override=True)
            _taken.impl("_scaled_dot_product_flash_attention_for_cpu_backward", _backward, "CPU", allow_override=True)


def disable_sdpa() -> None:
    """Gives scaled_dot_product_attention back to PyTorch."""
    global _taken
    if _taken is not None:
        _taken._destroy()
        _taken = None


def sdpa_calls() -> dict[str, int]:
    """How many calls were taken ("forward", "backward") and how many left to PyTorch since the program began."""
    return dict(_calls)
