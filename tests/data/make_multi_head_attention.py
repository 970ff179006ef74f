#!/usr/bin/env python3
"""Writes multi_head_attention.inc: what labml-nn's RotaryValuePEMultiHeadAttention computes, for multi_head_attention_test.cpp.

    python3 make_multi_head_attention.py > multi_head_attention.inc          needs: labml-nn, labml, einops, torch

Only results are stored. Weights and inputs are numbers that number() below and the test form alike; the module runs in double.
"""
import textwrap

import importlib.metadata
import torch
from labml_nn.transformers.rope.value_pe import RotaryValuePEMultiHeadAttention

HEADS, D_MODEL, BATCH = 2, 16, 2

# name, rope_percentage, rope_value_percentage, queries, keys, self-attention, mask
CASES = [
    ("self, half of each head", 0.5, 0.5, 5, 5, True, "none"),
    ("self, causal mask", 1.0, 1.0, 6, 6, True, "causal"),
    ("self, values only", 0.0, 1.0, 4, 4, True, "causal"),
    ("cross", 0.5, 1.0, 3, 6, False, "none"),
    ("cross, mask", 1.0, 0.25, 3, 6, False, "scattered"),
]


def number(seed, i):
    """In [-0.5, 0.5), exact in f32."""
    x = (i * 2654435761 + seed * 40503 + 12345) % 2**32
    x ^= x >> 15
    x = x * 2246822519 % 2**32
    return (x >> 16) / 65536 - 0.5


def numbers(seed, *shape):
    count = torch.Size(shape).numel()
    return torch.tensor([number(seed, i) for i in range(count)], dtype=torch.float64).reshape(shape)


def make_mask(kind, queries, keys):
    if kind == "none":
        return None
    if kind == "causal":
        return torch.ones(queries, keys).tril()[:, :, None].bool()
    mask = numbers(9, queries, keys, BATCH) > 0
    mask[:, 0] = True  # every query sees a key: there labml-nn gives NaN otherwise
    return mask


def listed(values):
    text = ", ".join(f"{v:.7g}" for v in values.detach().flatten().tolist())
    return "{" + "\n  ".join(textwrap.wrap(text, 118)) + "}"


def main():
    print(f"// Written by make_multi_head_attention.py from labml-nn {importlib.metadata.version('labml-nn')}. Do not edit.")
    print("// name, rope_percentage, rope_value_percentage, queries, keys, self-attention, mask;")
    print("// out, attention [queries, keys, batch, heads], gradients of query, key, value (self-attention: of the one input), of")
    print("// weights and biases in the order of parameters()")
    for name, rope, value_rope, queries, keys, is_self, kind in CASES:
        module = RotaryValuePEMultiHeadAttention(HEADS, D_MODEL, rope, value_rope).double()
        for seed, parameter in enumerate(module.parameters()):
            parameter.data = numbers(20 + seed, *parameter.shape)
        inputs = [4 * numbers(1 + i, n, BATCH, D_MODEL) for i, n in enumerate([queries, keys, keys])]
        inputs = [x.requires_grad_() for x in inputs]
        query, key, value = [inputs[0]] * 3 if is_self else inputs
        out = module(query=query, key=key, value=value, mask=make_mask(kind, queries, keys))
        out.backward(numbers(4, *out.shape))
        print(f'{{"{name}", {rope}, {value_rope}, {queries}, {keys}, {str(is_self).lower()}, "{kind}",')
        print(f" {listed(out)},\n {listed(module.attn)},")
        print(" {" + ",\n  ".join(listed(x.grad) for x in (inputs[:1] if is_self else inputs)) + "},")
        print(" {" + ",\n  ".join(listed(p.grad) for p in module.parameters()) + "}},")


if __name__ == "__main__":
    main()
