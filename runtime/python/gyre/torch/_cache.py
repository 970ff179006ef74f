"""Caches of keys and values that grow, for PyTorch."""

import torch

from .. import Rope
from .._frequencies import are_interleaved
from .._values import LAYOUTS, choose
from . import _in_place
from ._frequencies import frequencies
from ._tensors import as_tensor, features, optional_tensor, refuse_gradients


def cache_append(k: torch.Tensor, v: torch.Tensor, k_cache: torch.Tensor, v_cache: torch.Tensor, *,
                 cache_seqlens: torch.Tensor | None = None, block_table: torch.Tensor | None = None,
                 cu_seqlens_k: torch.Tensor | None = None, rope: Rope | None = None, value_rope: Rope | None = None,
                 positions: torch.Tensor | None = None, layout: str = "bhsd", cache_layout: str = "bhsd") -> None:
    """gyre.cache_append() of tensors: rotates new keys and values, converts them to the cache's type and writes them behind those that
    it holds. It has no gradients. attention() is then told keys_rotated, values_rotated and seqused_k.

    Errors: RuntimeError with the library's text; ValueError, TypeError.
    """
    head_dim, v_head_dim = features(k, "k"), features(v, "v")
    refuse_gradients(as_tensor(k_cache, "k_cache"), "k_cache")
    refuse_gradients(as_tensor(v_cache, "v_cache"), "v_cache")
    _in_place.cache_append(
        k.detach(), v.detach(), k_cache, v_cache, optional_tensor(cache_seqlens, "cache_seqlens"), optional_tensor(block_table, "block_table"),
        optional_tensor(cu_seqlens_k, "cu_seqlens_k"), optional_tensor(positions, "positions"),
        frequencies(rope, "rope", head_dim), frequencies(value_rope, "value_rope", v_head_dim),
        are_interleaved(rope, value_rope), 1.0 if rope is None else rope.attention_factor,
        choose(layout, "layout", LAYOUTS), choose(cache_layout, "cache_layout", LAYOUTS))
