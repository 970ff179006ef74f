"""Operators that write into the caller's tensors, as PyTorch's own do: autograd counts it, and what cannot be written is refused."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.autograd.graph import increment_version

from ._modes import is_traced
from ._operators import direct

_library = torch.library.Library("gyre", "IMPL")
_below_autograd = torch._C._after_ADInplaceOrView_keyset
under_autograd = torch._C._AutoDispatchBelowADInplaceOrView  # in which writing is not counted


def _count(tensors: Sequence[torch.Tensor | None]) -> None:
    """A backward pass that saved one of these tensors before then raises, instead of reading what was written since."""
    increment_version([tensor for tensor in tensors if tensor is not None and not tensor.is_inference()])


class Writer:
    """A call of an operator that writes: what the operator does by itself, without the 8 us that Python's kernels take for it."""

    def __init__(self, operator: Any) -> None:
        self._operator, self._direct = operator, direct(operator)
        self._written = [(place, argument.name) for place, argument in enumerate(operator._schema.arguments)
                         if argument.alias_info is not None and argument.alias_info.is_write]
        name = operator._schema.name.removeprefix("gyre::")
        _library.impl(name, self._count, "ADInplaceOrView", with_keyset=True)
        _library.impl(name, self._resolve, "Negative", with_keyset=True)

    def __call__(self, *given: Any, **named: Any) -> None:
        if is_traced():
            self._operator(*given, **named)
            return
        with under_autograd():
            self._direct(*given, **named)
        _count(self._outputs(given, named))

    def _outputs(self, given: tuple[Any, ...], named: dict[str, Any]) -> list[torch.Tensor | None]:
        return [given[place] if place < len(given) else named.get(name) for place, name in self._written]

    def _count(self, keys: Any, *given: Any, **named: Any) -> None:
        self._operator.redispatch(keys & _below_autograd, *given, **named)
        _count(self._outputs(given, named))

    def _resolve(self, keys: Any, *given: Any, **named: Any) -> None:
        """PyTorch's own way wants what is written to be returned, too, and otherwise ends the process."""
        for (_, name), tensor in zip(self._written, self._outputs(given, named)):
            if tensor is not None and tensor.is_neg():
                raise ValueError(f"{name}: is a view that negates, expected memory to write to")
        given = tuple(x.resolve_neg() if isinstance(x, torch.Tensor) else x for x in given)
        named = {name: x.resolve_neg() if isinstance(x, torch.Tensor) else x for name, x in named.items()}
        self._operator.redispatch(keys.remove(torch._C.DispatchKey.Negative), *given, **named)


attention_out = Writer(torch.ops.gyre.attention_out.default)
cache_append = Writer(torch.ops.gyre.cache_append.default)
for _operator in torch.ops.gyre.rotary_out, torch.ops.gyre.rotary_qk_out:  # only programs write by these into what is there already
    Writer(_operator.default)
