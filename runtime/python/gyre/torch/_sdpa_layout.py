"""Strides of what PyTorch's operators give: torch.compile takes them for granted, and models call view().

scaled_dot_product_attention lays its result as queries are laid, its lse with heads side by side, and gradients of tokens with heads side by
side.
"""

from torch import Tensor


def tokens_come_first(q: Tensor) -> bool:
    """Whether memory holds [batch, seqlen, heads, head_dim], as the operators lay results that they make."""
    batch, heads, tokens, dim = q.shape
    strides = (tokens * heads * dim, dim, heads * dim, 1)
    return all(given == expected or extent == 1 for given, expected, extent in zip(q.stride(), strides, q.shape))


def as_pytorch_lays_lse(lse: Tensor) -> Tensor:
    """[batch, heads, seqlen], of strides that PyTorch's has."""
    return lse if lse.shape[1] == 1 or lse.shape[2] == 1 else lse.transpose(1, 2).contiguous().transpose(1, 2)


def as_pytorch_lays_grads(grads: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of q, k and v, [batch, heads, seqlen, head_dim], of strides that PyTorch's have."""
    q_grad, k_grad, v_grad = (grad.transpose(1, 2).contiguous().transpose(1, 2) for grad in grads)
    return q_grad, k_grad, v_grad
