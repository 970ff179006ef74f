"""Linear attention for PyTorch."""

from typing import Any

import torch

from .. import Rope
from .._frequencies import are_interleaved
from .._values import LAYOUTS, choose, flag, pair
from ._frequencies import frequencies
from ._gradients_linear import linear_attention as _linear_attention
from ._modes import autocast, refuse_tangents
from ._tensors import features, optional_tensor

State = tuple[torch.Tensor, torch.Tensor]


def linear_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False,
                     seqused_k: torch.Tensor | None = None, cu_seqlens_q: torch.Tensor | None = None,
                     cu_seqlens_k: torch.Tensor | None = None, rope: Rope | None = None, q_positions: torch.Tensor | None = None,
                     k_positions: torch.Tensor | None = None, state: State | None = None, return_state: bool = False,
                     layout: str = "bhsd") -> Any:
    """gyre.linear_attention() of tensors, with gradients of q, k, v and of the state that is given.

    Under autocast q, k and v are cast to its type; states stay float32.
    Returns out, or (out, state). Errors: RuntimeError with the library's text; ValueError, TypeError, NotImplementedError
    (gradients of gradients, and tangents).
    """
    causal, return_state = flag(causal, "causal") == 1, flag(return_state, "return_state") == 1
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        features(tensor, name)
    q, k, v = autocast(q, k, v)
    kv_state, k_state = pair(state, "state", "(kv_state, k_state)")
    kv_state, k_state = optional_tensor(kv_state, "kv_state"), optional_tensor(k_state, "k_state")
    refuse_tangents(q, k, v, kv_state, k_state)
    out, *after = _linear_attention(
        q, k, v, return_state, kv_state, k_state, optional_tensor(seqused_k, "seqused_k"), optional_tensor(cu_seqlens_q, "cu_seqlens_q"),
        optional_tensor(cu_seqlens_k, "cu_seqlens_k"), optional_tensor(q_positions, "q_positions"), optional_tensor(k_positions, "k_positions"),
        frequencies(rope, "rope", q.shape[-1]), causal, are_interleaved(rope),
        1.0 if rope is None else rope.attention_factor, choose(layout, "layout", LAYOUTS))
    return (out, tuple(after)) if return_state else out
