"""Results as the operators make them, not filled: their shapes and strides."""

import torch
from torch import Tensor

from .._values import LAYOUTS

BSHD, BHSD, THD = (LAYOUTS[name] for name in ("bshd", "bhsd", "thd"))


def new_out(q: Tensor, v: Tensor, layout: int) -> Tensor:
    """The result of attention. It lies in memory as bshd or thd."""
    dim = v.shape[-1]
    if layout == THD:
        return q.new_empty(q.shape[0], q.shape[1], dim)
    tokens, heads = (q.shape[2], q.shape[1]) if layout == BHSD else (q.shape[1], q.shape[2])
    out = q.new_empty(q.shape[0], tokens, heads, dim)
    return out.transpose(1, 2) if layout == BHSD else out


def new_lse(q: Tensor, layout: int) -> Tensor:
    """[batch, heads, seqlen], or [heads, tokens] of packed sequences."""
    if layout == THD:
        return q.new_empty(q.shape[1], q.shape[0], dtype=torch.float32)
    heads, tokens = (q.shape[1], q.shape[2]) if layout == BHSD else (q.shape[2], q.shape[1])
    return q.new_empty(q.shape[0], heads, tokens, dtype=torch.float32)


def new_states(k: Tensor, v: Tensor, cu_seqlens_q: Tensor | None, layout: int) -> tuple[Tensor, Tensor]:
    """kv_state and k_state of linear attention."""
    sequences = cu_seqlens_q.shape[0] - 1 if layout == THD and cu_seqlens_q is not None else k.shape[0]
    shape = (sequences, k.shape[2 if layout == BSHD else 1], k.shape[-1])
    return k.new_empty(*shape, v.shape[-1], dtype=torch.float32), k.new_empty(shape, dtype=torch.float32)
