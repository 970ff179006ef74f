"""Gyre's attention for JAX, on the CPU, in jit and with gradients.

    import gyre.jax, jax.numpy as jnp
    out = gyre.jax.attention(q, k, v, causal=True, rope=gyre.Rope())     # [batch, seqlen, heads, head_dim]
"""

from ._attention import attention

__all__ = ["attention"]
