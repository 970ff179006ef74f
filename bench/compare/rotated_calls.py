"""Plain attention, RoPE on queries and keys, and RoPER, which also rotates values and the result back: by Gyre, PyTorch and onnxruntime.

Half pairing, theta 10000. Tensors are [batch, heads, tokens, dim]; query heads may share key heads. What makes a call returns a function
without arguments that returns the result.
"""

import gyre
import model_ours
import numpy as np
import torch
from model_arrays import angles
from model_calls import Rope

HALF = Rope("half")
ROPES = {"plain": (), "rope": ("rope",), "roper": ("rope", "value_rope")}  # arguments of gyre.attention()


def options_of(rotation, causal):
    """What gyre.attention() is given."""
    return {"layout": "bhsd", "causal": causal, **{name: gyre.Rope() for name in ROPES[rotation]}}


def of_gyre(context, q, k, v, causal, rotation, **more):
    out = torch.zeros_like(q)
    run = model_ours.prepare(context, q, k, v, out, {**options_of(rotation, causal), **more})
    return lambda: run() or out


def tables(length, head_dim):
    """cos and sin, float32 [length, head_dim / 2]."""
    angle = angles(np.arange(length), HALF, head_dim)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def rotate(x, cos, sin):
    """As models write it."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def rotated(attend, rotation, q):
    """A function of tensors like q that rotates them around attend(q, k, v)."""
    if rotation == "plain":
        return attend
    cos, sin = (torch.from_numpy(table).to(q.dtype) for table in tables(q.shape[2], q.shape[3]))

    def run(q, k, v):
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if rotation == "rope":
            return attend(q, k, v)
        return rotate(attend(q, k, rotate(v, cos, sin)), cos, -sin)

    return run


def fused(causal):
    return lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def of_torch(q, k, v, causal, rotation):
    # Query heads that share keys are rows of the same head for PyTorch: much faster than its enable_gqa.
    rows = q.reshape(k.shape[0], k.shape[1], -1, k.shape[3])
    attend = rotated(fused(causal), rotation, rows)
    return lambda: attend(rows, k, v).reshape(q.shape)


def of_onnxruntime(q, k, v, causal, rotation, threads):
    """By the operators RotaryEmbedding and Attention, in f32. Errors: ImportError."""
    from onnx_graph import Graph

    graph = Graph("f32")
    names = {name: graph.give(name, x.numpy()) for name, x in zip("qkv", (q, k, v))}
    if rotation != "plain":
        cos, sin = (table[None] for table in tables(q.shape[2], q.shape[3]))
        angles = graph.give("cos", cos), graph.give("sin", sin)
        for name in "qk" if rotation == "rope" else "qkv":
            names[name] = f"{name}_rotated"
            graph.add("RotaryEmbedding", [name, *angles], [names[name]])
    graph.add("Attention", list(names.values()), ["mixed" if rotation == "roper" else "out"], is_causal=int(causal))
    if rotation == "roper":
        graph.add("RotaryEmbedding", ["mixed", "cos", graph.give("minus_sin", -sin)], ["out"])
    return graph.run(threads, {"out": np.empty(q.shape, np.float32)})
