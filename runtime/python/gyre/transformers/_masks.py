"""Masks for attention_forward(): None, or [batch, keys] where only padding has to be told, or [batch, 1, queries, keys]."""

from collections.abc import Callable
from typing import Any

import torch
from transformers.masking_utils import causal_mask_function, prepare_padding_mask, sdpa_mask, sliding_window_causal_mask_function


def _same_code(function: Any, model: Any) -> bool:
    """True if a closure was made as another was, but for the numbers in it."""
    if getattr(function, "__code__", None) is not model.__code__:
        return False
    cells, its_cells = function.__closure__ or (), model.__closure__ or ()
    for cell, its_cell in zip(cells, its_cells):
        given, known = cell.cell_contents, its_cell.cell_contents
        if isinstance(known, (tuple, list)):
            if len(given) != len(known) or not all(_same_code(a, b) for a, b in zip(given, known)):
                return False
        elif callable(known) and not _same_code(given, known):
            return False
    return len(cells) == len(its_cells)


_WINDOW = sliding_window_causal_mask_function(3)


def is_told_by_arguments(mask_function: Callable[..., Any]) -> bool:
    """True of a plain causal mask, and of one with a window, whose size the layer hands to attention."""
    return mask_function is causal_mask_function or _same_code(mask_function, _WINDOW)


def _padding_of_keys(attention_mask: torch.Tensor, tokens: int, kv_length: int, kv_offset: int, keys: int) -> torch.Tensor:
    """[batch, keys], of a mask of all tokens so far; or of one that mask() has returned: generate() hands it in once more."""
    if attention_mask.shape[1] == keys and attention_mask.shape[1] < tokens:
        return attention_mask.to(torch.bool)
    padding = prepare_padding_mask(attention_mask, kv_length, kv_offset)
    assert padding is not None  # of a mask, there is a mask
    return padding[:, kv_offset : kv_offset + keys].to(torch.bool)


def mask(batch_size: int, q_length: int, kv_length: int, q_offset: int = 0, kv_offset: int = 0,
         mask_function: Callable[..., Any] = causal_mask_function, attention_mask: torch.Tensor | None = None,
         **options: Any) -> torch.Tensor | None:
    """What Transformers asks an attention implementation for. As it does for sdpa wherever a mask is more than causal, window and
    padding.

    The last query stands at the last of the keys that are told of: later ones, of a cache with room, are cut off by whoever reads this.
    """
    known = all(isinstance(number, int) for number in (q_offset, kv_offset, q_length, kv_length))
    if not known or not is_told_by_arguments(mask_function):
        return sdpa_mask(batch_size=batch_size, q_length=q_length, kv_length=kv_length, q_offset=q_offset, kv_offset=kv_offset,
                         mask_function=mask_function, attention_mask=attention_mask, **options)
    keys = min(kv_length, q_offset + q_length - kv_offset)
    # No mask: a prompt, or one token behind keys that fill their tensor.
    is_plain = keys == q_length or (q_length == 1 and keys == kv_length and not torch.compiler.is_compiling())
    if attention_mask is not None:
        padding = _padding_of_keys(attention_mask, q_offset + q_length, kv_length, kv_offset, keys)
        return None if is_plain and padding.all() else padding
    return None if is_plain else torch.ones(1, keys, dtype=torch.bool)
