"""Shapes and strides of what the operators return, for torch.compile and fake tensors."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from ._attention_short import layout_of
from ._results import BHSD, new_lse, new_out, new_states
from ._schemas import Schema

_Fake = Callable[[Any], Any]  # of a call's arguments, by name


def _fake(*names: str) -> Callable[[_Fake], _Fake]:
    """Makes a function what these operators are on fake tensors."""

    def register(function: _Fake) -> _Fake:
        for name in names:
            bind = Schema(getattr(torch.ops.gyre, name).default, 0).bind
            torch.library.register_fake(f"gyre::{name}")(lambda *given, bind=bind, **named: function(SimpleNamespace(**bind(given, named))))
        return function

    return register


@_fake("attention", "attention_with_lse")
def _(call: Any) -> tuple[Tensor, Tensor]:
    return new_out(call.q, call.v, call.layout), new_lse(call.q, call.layout)


@_fake("attention_forward", "attention_plain")
def _(call: Any) -> Tensor:
    return new_out(call.q, call.v, call.layout)


@_fake("_attention_unrecorded")
def _(call: Any) -> Tensor:
    return new_out(call.q, call.v, BHSD)


@_fake("_attention_short")
def _(call: Any) -> Tensor:
    return new_out(call.q, call.v, layout_of(call.flags))


@_fake("_attention_short_with_lse")
def _(call: Any) -> tuple[Tensor, Tensor]:
    return new_out(call.q, call.v, layout_of(call.flags)), new_lse(call.q, layout_of(call.flags))


@_fake("attention_backward")
def _(call: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    shape = call.bias.shape if call.need_bias_grad and call.bias is not None else (0,)
    return torch.empty_like(call.q), torch.empty_like(call.k), torch.empty_like(call.v), call.q.new_empty(shape, dtype=torch.float32)


@_fake("rotary")
def _(call: Any) -> Tensor:
    return torch.empty_like(call.x)


@_fake("rotary_qk")
def _(call: Any) -> tuple[Tensor, Tensor]:
    return torch.empty_like(call.q), torch.empty_like(call.k)


@_fake("attention_out", "rotary_out", "rotary_qk_out", "cache_append")
def _(call: Any) -> None:
    """Writes into arguments alone."""


def _no_states(k: Tensor) -> tuple[Tensor, Tensor]:
    return k.new_empty(0, dtype=torch.float32), k.new_empty(0, dtype=torch.float32)


@_fake("linear_attention")
def _(call: Any) -> tuple[Tensor, Tensor, Tensor]:
    states = new_states(call.k, call.v, call.cu_seqlens_q, call.layout) if call.return_state else _no_states(call.k)
    return new_out(call.q, call.v, call.layout), *states


@_fake("linear_attention_backward")
def _(call: Any) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    states = _no_states(call.k) if call.kv_state is None else new_states(call.k, call.v, call.cu_seqlens_q, call.layout)
    return torch.empty_like(call.q), torch.empty_like(call.k), torch.empty_like(call.v), *states
