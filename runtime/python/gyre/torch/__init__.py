"""Gyre's operators for PyTorch, on the CPU: attention, rotations, and scaled_dot_product_attention taken over.

    import torch, gyre.torch
    q = k = v = torch.randn(1, 8, 128, 64)                               # [batch, heads, seqlen, head_dim]
    out = gyre.torch.attention(q, k, v, causal=True, rope=gyre.Rope())   # with gradients; torch.compile takes it whole
    gyre.torch.enable_sdpa()                                             # torch.nn.functional.scaled_dot_product_attention

The operators are torch.ops.gyre.*, on PyTorch's stable ABI: 2.10 or later. They run on PyTorch's own threads.
"""

from . import _load  # noqa: F401  registers the operators, and then what Python knows of them
from . import _fakes, _gradients, _gradients_linear, _gradients_rotary, _in_place  # noqa: F401
from ._attention import attention, prepare_mask
from ._cache import cache_append
from ._linear_attention import linear_attention
from ._modules import LinearAttention, RotaryEmbedding, RotaryValueMultiHeadAttention
from ._rotary import rotary, rotary_qk
from ._sdpa import disable_sdpa, enable_sdpa, sdpa_calls

__all__ = ["LinearAttention", "RotaryEmbedding", "RotaryValueMultiHeadAttention", "attention", "cache_append", "disable_sdpa",
           "enable_sdpa", "linear_attention", "prepare_mask", "rotary", "rotary_qk", "sdpa_calls"]
