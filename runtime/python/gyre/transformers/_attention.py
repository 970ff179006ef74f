"""The function that layers of Transformers call for attention."""

from typing import Any

import torch

from .. import torch as operators
from ._shared_masks import prepared

_calls = 0


def calls() -> int:
    """How many calls were computed here since the program began; calls of compiled models are not counted."""
    return _calls


def attention_forward(module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
                      attention_mask: torch.Tensor | None, dropout: float = 0.0, scaling: float | None = None,
                      sliding_window: int | None = None, softcap: float | None = None, is_causal: bool | None = None,
                      s_aux: torch.Tensor | None = None, position_bias: torch.Tensor | None = None,
                      **kwargs: Any) -> tuple[torch.Tensor, None]:
    """query [batch, heads, queries, head_dim], key and value [batch, kv heads, keys, head_dim]; attention_mask as _masks.mask() gives.

    Returns the result, [batch, queries, heads, head_dim], and None: probabilities are never formed.
    """
    global _calls
    if not torch.compiler.is_compiling():
        _calls += 1
    causal = is_causal if is_causal is not None else getattr(module, "is_causal", True)
    window = None if not sliding_window else (sliding_window - 1, -1 if causal else sliding_window - 1)
    mask = bias = looked_at = None
    if attention_mask is not None and attention_mask.dim() == 2:
        causal = True
        window = None if not sliding_window else (sliding_window - 1, -1)
        keys = attention_mask.shape[1]
        key, value = key[:, :, :keys], value[:, :, :keys]
        position_bias = None if position_bias is None else position_bias[..., :keys]
        mask = attention_mask[:, None, None, :]
    elif attention_mask is not None:  # it says all, causality and windows too
        causal, window = False, None
        mask, bias = (attention_mask, None) if attention_mask.dtype == torch.bool else (None, attention_mask)
        looked_at = prepared(attention_mask, query, key, value)
    elif causal and query.shape[2] == 1:
        causal = False
    elif causal and key.shape[2] > query.shape[2]:  # a cache with room that holds these tokens alone
        keys = query.shape[2]
        key, value = key[:, :, :keys], value[:, :, :keys]
        position_bias = None if position_bias is None else position_bias[..., :keys]
    if position_bias is not None:
        bias = position_bias if bias is None else bias + position_bias
    seed = int(torch.randint(0, 2**62, ())) if dropout else 0
    out = operators.attention(
        query, key, value, mask=mask, bias=bias, sinks=None if s_aux is None else s_aux.float(), scale=scaling, causal=causal,
        window=window, softcap=softcap or 0.0, prepared_mask=looked_at, dropout=dropout, dropout_seed=seed)
    return out.transpose(1, 2).contiguous(), None
