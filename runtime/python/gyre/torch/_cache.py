"""Caches of keys and values that grow, for PyTorch."""

import torch

from .. import Rope
from .._frequencies import are_interleaved
from .._values import LAYOUTS, choose
from ._frequencies import frequencies
from ._tensors import refuse_gradients


def cache_append(k: torch.Tensor, v: torch.Tensor, k_cache: torch.Tensor, v_cache: torch.Tensor, *,
                 cache_seqlens: torch.Tensor | None = None, block_table: torch.Tensor | None = None,
                 cu_seqlens_k: torch.Tensor | None = None, rope: Rope | None = None, value_rope: Rope | None = None,
                 positions: torch.Tensor | None = None, layout: str = "bhsd", cache_layout: str = "bhsd") -> None:
    """gyre.cache_append() of tensors: rotates new keys and values, converts them to the cache's type and writes them behind those that
    it holds. It has no gradients. attention() is then told keys_rotated, values_rotated and seqused_k.

    Errors: RuntimeError with the library's text; ValueError, TypeError.
    """
    refuse_gradients(k_cache, "k_cache")
    refuse_gradients(v_cache, "v_cache")
    torch.ops.gyre.cache_append(
        k.detach(), v.detach(), k_cache, v_cache, cache_seqlens, block_table, cu_seqlens_k, positions,
        frequencies(rope, "rope", k.shape[-1]), frequencies(value_rope, "value_rope", v.shape[-1]),
        are_interleaved(rope, value_rope), 1.0 if rope is None else rope.attention_factor,
        choose(layout, "layout", LAYOUTS), choose(cache_layout, "cache_layout", LAYOUTS))
