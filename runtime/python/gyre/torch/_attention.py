"""Attention for PyTorch."""

from typing import Any

import torch

from .. import Rope
from .._values import ALIGNMENTS, LAYOUTS, choose
from ._frequencies import frequencies, same_pairing


def _autocast(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """As autocast casts what scaled_dot_product_attention is given."""
    if not torch.is_autocast_enabled("cpu") or not all(t.is_floating_point() for t in tensors):
        return tensors
    dtype = torch.get_autocast_dtype("cpu")
    return tuple(t.to(dtype) if t.dtype != torch.float64 else t for t in tensors)


_DEFAULTS = {"scale": 0.0, "softcap": 0.0, "causal": False, "top_left": False, "window_left": -1, "window_right": -1,
             "interleaved": False, "rope_factor": 1.0, "keys_rotated": False, "values_rotated": False, "dropout": 0.0,
             "dropout_seed": 0, "dropout_offset": 0, "layout": 1}


def _is_told(name: str, value: Any) -> bool:
    """False of what the operator does by itself."""
    return name not in _DEFAULTS or value != _DEFAULTS[name]


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, scale: float | None = None, causal: bool = False,
              alignment: str = "bottom_right", window: tuple[int, int] | None = None, softcap: float = 0.0,
              bias: torch.Tensor | None = None, mask: torch.Tensor | None = None, sinks: torch.Tensor | None = None,
              alibi: torch.Tensor | None = None, seqused_k: torch.Tensor | None = None,
              cu_seqlens_q: torch.Tensor | None = None, cu_seqlens_k: torch.Tensor | None = None,
              block_table: torch.Tensor | None = None, rope: Rope | None = None, value_rope: Rope | None = None,
              keys_rotated: bool = False, values_rotated: bool = False, q_positions: torch.Tensor | None = None,
              k_positions: torch.Tensor | None = None, dropout: float = 0.0, dropout_seed: int = 0, dropout_offset: int = 0,
              layout: str = "bhsd", return_lse: bool = False, out: torch.Tensor | None = None) -> Any:
    """gyre.attention() of tensors, with gradients of q, k, v and bias. Its layout is PyTorch's, "bhsd", unless another is given.

    Gradients are those of calls without mask, sinks and block_table; a mask with gradients may be a bias of 0 and -inf.
    Where gradients are not recorded, `out` is where the result is written. Under autocast q, k and v are cast to its type.
    Returns out, or (out, lse). Errors: RuntimeError with the library's text; ValueError, TypeError.
    """
    q, k, v = _autocast(q, k, v)
    left, right = window if window is not None else (-1, -1)
    options = dict(
        bias=bias, mask=mask, sinks=sinks, alibi=alibi, seqused_k=seqused_k, cu_seqlens_q=cu_seqlens_q,
        cu_seqlens_k=cu_seqlens_k, block_table=block_table, q_positions=q_positions, k_positions=k_positions,
        inv_freq=frequencies(rope, "rope", q.shape[-1]), value_inv_freq=frequencies(value_rope, "value_rope", v.shape[-1]),
        scale=0.0 if scale is None else scale, softcap=softcap, causal=causal,
        top_left=choose(alignment, "alignment", ALIGNMENTS) == 1, window_left=left, window_right=right,
        rope_factor=1.0 if rope is None else rope.attention_factor, keys_rotated=keys_rotated, values_rotated=values_rotated,
        dropout=dropout, dropout_seed=dropout_seed, dropout_offset=dropout_offset, layout=choose(layout, "layout", LAYOUTS),
        **same_pairing(rope, value_rope))
    # PyTorch takes a while for each argument that is handed on.
    options = {name: value for name, value in options.items() if value is not None and _is_told(name, value)}
    if out is None:
        result, lse = torch.ops.gyre.attention(q, k, v, **options)
        return (result, lse) if return_lse else result
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (q, k, v, bias)):
        raise ValueError("out: is given where gradients are recorded, expected None")
    lse = q.new_empty(_lse_shape(q, layout), dtype=torch.float32) if return_lse else None
    torch.ops.gyre.attention_out(q, k, v, out, lse, **options)
    return (out, lse) if return_lse else out


def _lse_shape(q: torch.Tensor, layout: str) -> tuple[int, ...]:
    if layout == "thd":
        return q.shape[1], q.shape[0]
    return (q.shape[0], q.shape[1], q.shape[2]) if layout == "bhsd" else (q.shape[0], q.shape[2], q.shape[1])
