"""Attention for PyTorch."""

from typing import TYPE_CHECKING, Any

import torch

from .. import prepare_mask as prepare
from . import _attention_options
from ._attention_arguments import AttentionOptions
from ._modes import grads_are_on, has_tangents, is_traced
from ._tensors import as_tensor
from ._unrecorded import unrecorded

if TYPE_CHECKING:
    from typing_extensions import Unpack  # of typing from Python 3.11 on


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, scale: float | None = None, causal: bool = False,
              layout: str = "bhsd", **options: "Unpack[AttentionOptions]") -> Any:
    """gyre.attention() of tensors, with gradients of q, k, v, bias and sinks. Its layout is PyTorch's, "bhsd", unless another is given.

    options    as gyre.attention() takes them: alignment, window, softcap, bias, mask, prepared_mask, sinks, alibi, seqused_k,
               cu_seqlens_q, cu_seqlens_k, block_table, rope, value_rope, keys_rotated, values_rotated, q_positions, k_positions,
               dropout, dropout_seed, dropout_offset, return_lse, out

    Calls with block_table have no gradients. alibi, scale, softcap and dropout have none: one that requires them is refused.
    lse has gradients, too, but not with dropout, nor where v has 512 features. Where gradients are recorded, a mask is handed on as a bias of 0 and -inf.
    Where gradients are recorded, k and v of 16 bits beside q in float32 are converted to float32.
    Where gradients are not recorded, `out` is where the result is written. Under autocast q, k and v are cast to its type.
    Gradients have no gradients, and there are none forward: both raise.
    Returns out, or (out, lse). Errors: RuntimeError with the library's text; ValueError, TypeError, NotImplementedError.
    """
    try:
        recorded = grads_are_on() and (q.requires_grad or k.requires_grad or v.requires_grad)
    except AttributeError:
        name, given = next((name, x) for name, x in (("q", q), ("k", k), ("v", v)) if not isinstance(x, torch.Tensor))
        raise TypeError(f"{name}: got {type(given).__name__}, expected a torch.Tensor") from None
    # Python takes as long to fill in 23 defaults and to look at them as the library takes for a token: a call without options does not.
    is_short = (
        not options
        and not recorded
        and (scale is None or (type(scale) is float and scale != 0))
        and type(causal) is bool
        and layout == "bhsd"
        and not is_traced()
        and not has_tangents()
    )
    if is_short:
        return unrecorded(q, k, v, scale or 0.0, causal)
    return _attention_options.attention(q, k, v, scale, causal, layout, options)


def prepare_mask(mask: torch.Tensor, q: torch.Tensor, k: torch.Tensor, *, causal: bool = False, alignment: str = "bottom_right",
                 window: tuple[int, int] | None = None, seqused_k: torch.Tensor | None = None, layout: str = "bhsd") -> torch.Tensor:
    """gyre.prepare_mask() of tensors: what attention() takes as prepared_mask. Calls that record gradients do without it."""
    prepared: torch.Tensor = prepare(mask, as_tensor(q, "q").detach(), as_tensor(k, "k").detach(), causal=causal, alignment=alignment, window=window, seqused_k=seqused_k, layout=layout)
    return prepared
