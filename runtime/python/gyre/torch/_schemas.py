"""Arguments of the operators, by the names that their schemas in torch_ops/ give them."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch


class Schema:
    """An operator's arguments in order.

    names     all of them
    options   those after the tensors that every call has
    tensors   the options that are tensors, which come first
    """

    def __init__(self, operator: Any, required: int) -> None:
        arguments = operator._schema.arguments
        self._defaults: dict[str, Any] = {argument.name: argument.default_value for argument in arguments}
        self.names = tuple(self._defaults)
        self.options = self.names[required:]
        self.tensors = tuple(argument.name for argument in arguments[required:] if str(argument.type) == "Optional[Tensor]")

    def bind(self, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The value that a call gives each argument: by place, by name or by default."""
        return {**self._defaults, **dict(zip(self.names, given)), **named}


ATTENTION = Schema(torch.ops.gyre.attention_with_lse.default, 3)
