"""Shapes and strides of what the operators return, for torch.compile and fake tensors."""

from typing import Any, Callable, TypeVar

import torch
from torch import Tensor

BSHD, BHSD, THD = 0, 1, 2
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _fake(name: str) -> Callable[[_Function], _Function]:
    """torch.library.register_fake() of an operator of ours, with a type."""
    registers: Callable[[_Function], _Function] = torch.library.register_fake(f"gyre::{name}")
    return registers


def _attention_out(q: Tensor, v: Tensor, layout: int) -> Tensor:
    dim = v.shape[-1]
    if layout == THD:
        return q.new_empty(q.shape[0], q.shape[1], dim)
    tokens, heads = (q.shape[2], q.shape[1]) if layout == BHSD else (q.shape[1], q.shape[2])
    out = q.new_empty(q.shape[0], tokens, heads, dim)
    return out.transpose(1, 2) if layout == BHSD else out


def _lse(q: Tensor, layout: int) -> Tensor:
    if layout == THD:
        return q.new_empty(q.shape[1], q.shape[0], dtype=torch.float32)
    heads, tokens = (q.shape[1], q.shape[2]) if layout == BHSD else (q.shape[2], q.shape[1])
    return q.new_empty(q.shape[0], heads, tokens, dtype=torch.float32)


def _layout_of(options: tuple[Any, ...], count: int, named: dict[str, Any]) -> int:
    """Options come by name or, all of them, by place."""
    layout: int = options[-1] if len(options) == count else named.get("layout", BHSD)
    return layout


@_fake("attention")
@_fake("attention_with_lse")
def _(q: Tensor, k: Tensor, v: Tensor, *options: Any, **named: Any) -> tuple[Tensor, Tensor]:
    layout = _layout_of(options, 27, named)
    return _attention_out(q, v, layout), _lse(q, layout)


@_fake("attention_forward")
def _(q: Tensor, k: Tensor, v: Tensor, *options: Any, **named: Any) -> Tensor:
    return _attention_out(q, v, _layout_of(options, 27, named))


@_fake("attention_plain")
def _(q: Tensor, k: Tensor, v: Tensor, *options: Any, **named: Any) -> Tensor:
    return _attention_out(q, v, _layout_of(options, 3, named))


@_fake("_attention_unrecorded")
def _(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensor:
    return _attention_out(q, v, BHSD)


@_fake("_attention_short")
def _(q: Tensor, k: Tensor, v: Tensor, first: Tensor | None, second: Tensor | None, scale: float, softcap: float, flags: int, window: int) -> Tensor:
    return _attention_out(q, v, flags >> 8 & 3)


@_fake("_attention_short_with_lse")
def _(q: Tensor, k: Tensor, v: Tensor, first: Tensor | None, second: Tensor | None, scale: float, softcap: float, flags: int,
      window: int) -> tuple[Tensor, Tensor]:
    return _attention_out(q, v, flags >> 8 & 3), _lse(q, flags >> 8 & 3)


@_fake("attention_out")
def _(q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor | None, *options: Any, **named: Any) -> None:
    return None


@_fake("attention_backward")
def _(out_grad: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, need_bias_grad: bool, bias: Tensor | None = None,
      *options: Any, **named: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    shape = bias.shape if need_bias_grad and bias is not None else (0,)
    return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v), q.new_empty(shape, dtype=torch.float32)


@_fake("rotary")
def _(x: Tensor, *options: Any, **named: Any) -> Tensor:
    return torch.empty_like(x)


@_fake("rotary_out")
def _(x: Tensor, out: Tensor, *options: Any, **named: Any) -> None:
    return None


@_fake("rotary_qk")
def _(q: Tensor, k: Tensor, *options: Any, **named: Any) -> tuple[Tensor, Tensor]:
    return torch.empty_like(q), torch.empty_like(k)


@_fake("rotary_qk_out")
def _(q: Tensor, k: Tensor, q_out: Tensor, k_out: Tensor, *options: Any, **named: Any) -> None:
    return None


@_fake("cache_append")
def _(k: Tensor, v: Tensor, k_cache: Tensor, v_cache: Tensor, *options: Any, **named: Any) -> None:
    return None


def _states(k: Tensor, v: Tensor, cu_seqlens_q: Tensor | None, layout: int) -> tuple[Tensor, Tensor]:
    sequences = cu_seqlens_q.shape[0] - 1 if layout == THD and cu_seqlens_q is not None else k.shape[0]
    shape = (sequences, k.shape[2 if layout == BSHD else 1], k.shape[-1])
    return k.new_empty(*shape, v.shape[-1], dtype=torch.float32), k.new_empty(shape, dtype=torch.float32)


def _no_states(k: Tensor) -> tuple[Tensor, Tensor]:
    return k.new_empty(0, dtype=torch.float32), k.new_empty(0, dtype=torch.float32)


@_fake("linear_attention")
def _(q: Tensor, k: Tensor, v: Tensor, return_state: bool = False, *options: Any, cu_seqlens_q: Tensor | None = None,
      **named: Any) -> tuple[Tensor, Tensor, Tensor]:
    layout = _layout_of(options, 12, named)
    lists = options[3] if len(options) > 3 else cu_seqlens_q
    return _attention_out(q, v, layout), *(_states(k, v, lists, layout) if return_state else _no_states(k))


@_fake("linear_attention_backward")
def _(out_grad: Tensor, kv_state_out_grad: Tensor | None, k_state_out_grad: Tensor | None, q: Tensor, k: Tensor, v: Tensor,
      kv_state: Tensor | None = None, *options: Any, cu_seqlens_q: Tensor | None = None,
      **named: Any) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    layout = _layout_of(options, 11, named)
    lists = options[2] if len(options) > 2 else cu_seqlens_q
    return (torch.empty_like(q), torch.empty_like(k), torch.empty_like(v),
            *(_no_states(k) if kv_state is None else _states(k, v, lists, layout)))
