"""Attention for PyTorch with any of its options."""

import math
from typing import Any

import torch

from .. import Rope
from .._values import ALIGNMENTS, LAYOUTS, choose
from ._frequencies import frequencies, same_pairing
from ._modes import autocast

_ops = torch.ops.gyre
_with_gradients, _with_lse, _forward, _plain, _out = (
    _ops.attention.default, _ops.attention_with_lse.default, _ops.attention_forward.default, _ops.attention_plain.default,
    _ops.attention_out.default)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, scale: float | None = None, causal: bool = False,
              layout: str = "bhsd", alignment: str = "bottom_right", window: tuple[int, int] | None = None, softcap: float = 0.0,
              bias: torch.Tensor | None = None, mask: torch.Tensor | None = None, sinks: torch.Tensor | None = None,
              alibi: torch.Tensor | None = None, seqused_k: torch.Tensor | None = None,
              cu_seqlens_q: torch.Tensor | None = None, cu_seqlens_k: torch.Tensor | None = None,
              block_table: torch.Tensor | None = None, rope: Rope | None = None, value_rope: Rope | None = None,
              keys_rotated: bool = False, values_rotated: bool = False, q_positions: torch.Tensor | None = None,
              k_positions: torch.Tensor | None = None, dropout: float = 0.0, dropout_seed: int = 0, dropout_offset: int = 0,
              return_lse: bool = False, out: torch.Tensor | None = None,
              prepared_mask: torch.Tensor | None = None) -> Any:
    """attention() of _attention.py, with whichever options are given."""
    if torch.is_autocast_enabled("cpu"):
        q, k, v = autocast(q, k, v)
    # Written out, since a call of records_gradients() takes as long as the tenth of a small call.
    recorded = torch.is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad or
                                            (bias is not None and bias.requires_grad) or (sinks is not None and sinks.requires_grad))
    if recorded and mask is not None:
        bias = _as_bias(mask, bias, q.dtype)
        mask = prepared_mask = None
    # PyTorch takes its time for each argument that is handed on: those that say nothing are not.
    options: dict[str, Any] = {}
    if bias is not None:
        options["bias"] = bias
    if mask is not None:
        options["mask"] = mask
    if prepared_mask is not None:
        options["prepared_mask"] = prepared_mask
    if sinks is not None:
        options["sinks"] = sinks
    if alibi is not None:
        if alibi.requires_grad and torch.is_grad_enabled():
            raise ValueError("alibi: requires gradients, which are not computed, expected alibi.detach(), or a bias of slopes times distances")
        options["alibi"] = alibi
    if seqused_k is not None:
        options["seqused_k"] = seqused_k
    if cu_seqlens_q is not None:
        options["cu_seqlens_q"] = cu_seqlens_q
    if cu_seqlens_k is not None:
        options["cu_seqlens_k"] = cu_seqlens_k
    if block_table is not None:
        options["block_table"] = block_table
    if q_positions is not None:
        options["q_positions"] = q_positions
    if k_positions is not None:
        options["k_positions"] = k_positions
    if rope is not None or value_rope is not None:
        options |= _rotations(q, v, rope, value_rope)
    if keys_rotated:
        options["keys_rotated"] = True
    if values_rotated:
        options["values_rotated"] = True
    if softcap:
        options["softcap"] = softcap
    if alignment != "bottom_right":
        options["top_left"] = choose(alignment, "alignment", ALIGNMENTS) == 1
    if window is not None:
        if not isinstance(window, (tuple, list)) or len(window) != 2:
            raise TypeError(f"window: got {window!r}, expected None or (left, right), tokens, -1 for unbounded")
        options["window_left"], options["window_right"] = window
    if dropout:
        options |= {"dropout": dropout, "dropout_seed": dropout_seed, "dropout_offset": dropout_offset}
    if scale == 0:
        raise ValueError("scale: got 0, expected another number, or None for 1 / sqrt(head_dim)")
    if not (options or recorded or return_lse) and out is None:
        return _plain(q, k, v, scale or 0.0, causal, choose(layout, "layout", LAYOUTS))
    if scale is not None:
        options["scale"] = scale
    if causal:
        options["causal"] = causal
    if layout != "bhsd":
        options["layout"] = choose(layout, "layout", LAYOUTS)
    if out is not None:
        if recorded:
            raise ValueError("out: is given where gradients are recorded, expected None")
        lse = q.new_empty(_lse_shape(q, layout), dtype=torch.float32) if return_lse else None
        _out(q, k, v, out, lse, **options)
        return (out, lse) if return_lse else out
    if recorded:
        result, lse = _with_gradients(q, k, v, **options)
        return (result, lse) if return_lse else result
    return _with_lse(q, k, v, **options) if return_lse else _forward(q, k, v, **options)


def _as_bias(mask: torch.Tensor, bias: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor:
    masked = torch.zeros(mask.shape, dtype=dtype).masked_fill_(~mask, -math.inf)
    return masked if bias is None else bias + masked


def _rotations(q: torch.Tensor, v: torch.Tensor, rope: Rope | None, value_rope: Rope | None) -> dict[str, Any]:
    options: dict[str, Any] = {}
    pairing = None
    if rope is not None:
        pairing = rope.pairing
        options["inv_freq"] = frequencies(rope, "rope", q.shape[-1])
        if rope.attention_factor != 1:
            options["rope_factor"] = rope.attention_factor
    if value_rope is not None:
        options["value_inv_freq"] = frequencies(value_rope, "value_rope", v.shape[-1])
        if pairing not in (None, value_rope.pairing):
            same_pairing(rope, value_rope)  # refuses them
        pairing = value_rope.pairing
    if pairing == "interleaved":
        options["interleaved"] = True
    return options


def _lse_shape(q: torch.Tensor, layout: str) -> tuple[int, ...]:
    if layout == "thd":
        return q.shape[1], q.shape[0]
    return (q.shape[0], q.shape[1], q.shape[2]) if layout == "bhsd" else (q.shape[0], q.shape[2], q.shape[1])
