"""Tensors for tests of gyre.torch, and attention in float64. A test that imports this is skipped where there is no gyre.torch."""

import sys

try:
    import torch

    import gyre.torch  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ROUNDING = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}


def random(*shape, dtype=torch.float32, seed=0, grad=False):
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(*shape, generator=generator).to(dtype).requires_grad_(grad)


def inputs(dtype=torch.float32, grad=False, lq=9, lk=12):
    return (random(2, 4, lq, 64, dtype=dtype, grad=grad), random(2, 2, lk, 64, dtype=dtype, seed=1, grad=grad),
            random(2, 2, lk, 64, dtype=dtype, seed=2, grad=grad))


def eager(q, k, v, seen=None, bias=None, rope=None):
    """In float64."""
    q, k, v = (x.double() for x in (q, k, v))
    if rope is not None:
        angle = torch.arange(k.shape[2])[:, None] * torch.tensor([10000.0 ** (-i / 32) for i in range(32)], dtype=torch.float64)

        def turn(x, a):
            first, second = x.chunk(2, -1)
            return torch.cat((first * a.cos() - second * a.sin(), second * a.cos() + first * a.sin()), -1)

        q, k = turn(q, angle[-q.shape[2]:]), turn(k, angle)
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias.double()
    if seen is not None:
        scores = scores.masked_fill(~seen, -torch.inf)
    return torch.softmax(scores, -1) @ v


def causal(lq, lk):
    return torch.ones(lq, lk, dtype=torch.bool).tril(lk - lq)
