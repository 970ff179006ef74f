"""The operators under torch.func's transforms (grad, vjp, jacrev, vmap), which do not take gradients that an operator has registered."""

from collections.abc import Callable
from typing import Any

import torch

from ._schemas import Schema

# Whether a transform is at work: what torch.autograd.Function asks.
transforms: Callable[[], bool] = torch._C._are_functorch_transforms_active


def transformable(operator: Any, keep: Callable[..., None], gradients: Callable[..., Any], registered: Any = None) -> Callable[..., Any]:
    """Registers gradients as torch.library.register_autograd() takes them, and returns a call of the operator that transforms take, too.

    registered    the operator that has them, for calls that no transform looks at; None: `operator`
    """
    registered = registered or operator
    torch.library.register_autograd(registered._schema.name, gradients, setup_context=keep)
    bind = Schema(operator, 0).bind

    class Function(torch.autograd.Function):
        generate_vmap_rule = True
        forward = staticmethod(operator)
        setup_context = staticmethod(keep)
        backward = staticmethod(gradients)

    def call(*given: Any, **named: Any) -> Any:
        if torch.compiler.is_compiling() or not transforms():
            return registered(*given, **named)
        return Function.apply(*bind(given, named).values())

    return call
