"""A call of model_calls by onnxruntime: its operators Attention, MultiHeadAttention and GroupQueryAttention, those that have the call.

GroupQueryAttention finds all keys but those of the queries in a cache, and appends these. bf16 has no kernels.
"""

import numpy as np
from model_arrays import angles
from model_torch import added_mask
from onnx_graph import CONTRIBUTED, TYPES, Graph


def side_by_side(x):
    """[batch, tokens, heads * dim]"""
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def by_heads(run, call):
    return lambda: run().view(call.batch, call.queries, call.heads, -1).transpose(1, 2)


def tables(graph, call, *batch):
    """The names of cosines and sines, [*batch, tokens, pairs]; "" without a rotation."""
    if not call.rope:
        return ["", ""]
    angle = angles(np.arange(call.keys), call.rope, call.head_dim)
    return [graph.give(name, np.broadcast_to(table(angle), (*batch, *angle.shape))) for name, table in (("cos", np.cos), ("sin", np.sin))]


def rotated(graph, call, name):
    """The name of a tensor, rotated by a node of its own if the call has a rotation."""
    if not call.rope:
        return name
    graph.add("RotaryEmbedding", [name, *tables(graph, call, call.batch)], [f"{name}_rotated"],
              interleaved=int(call.rope.pairing == "interleaved"), rotary_embedding_dim=call.rope.rotary_dim)
    return f"{name}_rotated"


def is_square(call):
    return call.is_causal_alone and call.queries == call.keys


def mask_of(call, inputs, dtype):
    """What is added to scores, None if the diagonal says all."""
    if call.is_causal_alone and call.queries in (1, call.keys):
        return None
    mask = added_mask(inputs, dtype)
    return None if mask is None else mask.expand(-1, -1, call.queries, -1).numpy()


def attention(call, inputs, dtype, threads):
    graph = Graph(dtype)
    q, k = (rotated(graph, call, graph.give(name, array)) for name, array in (("q", inputs.q), ("k", inputs.k)))
    mask = mask_of(call, inputs, dtype)
    graph.add("Attention", [q, k, graph.give("v", inputs.v), graph.give("mask", mask)], ["out"], is_causal=int(is_square(call)),
              scale=inputs.scale, softcap=call.softcap or None)
    shape = (call.batch, call.heads, call.queries, call.value_dim)
    return graph.run(threads, {"out": np.empty(shape, graph.dtype)})


def multi_head(call, inputs, dtype, threads):
    graph = Graph(dtype)
    names = [graph.give(name, side_by_side(array)) for name, array in (("q", inputs.q), ("k", inputs.k), ("v", inputs.v))]
    graph.add("MultiHeadAttention", [*names, "", "", graph.give("mask", mask_of(call, inputs, dtype))], ["out"], CONTRIBUTED,
              num_heads=call.heads, scale=inputs.scale, unidirectional=int(is_square(call)))
    return by_heads(graph.run(threads, {"out": np.empty((call.batch, call.queries, call.heads * call.value_dim), graph.dtype)}), call)


def group_query(call, inputs, dtype, threads):
    graph = Graph(dtype)
    lengths = np.full(call.batch, call.keys) if inputs.lengths is None else inputs.lengths
    last = [np.stack([x[entry, :, held - call.queries:held] for entry, held in enumerate(lengths)]) for x in (inputs.k, inputs.v)]
    names = [graph.give(name, side_by_side(x)) for name, x in zip("qkv", (inputs.q, *last))]
    names += [graph.give("keys", inputs.k), graph.give("values", inputs.v), graph.give("last", lengths - 1, np.int32),
              graph.give("total", np.array([call.keys]), np.int32)]
    names += tables(graph, call)
    added = call.alibi or call.relative_bias or call.padding == "left"
    names += ["", graph.give("mask", mask_of(call, inputs, dtype) if added else None), graph.give("sinks", inputs.sinks)]
    graph.add("GroupQueryAttention", names, ["out", "all_keys", "all_values"], CONTRIBUTED, num_heads=call.heads,
              kv_num_heads=call.kv_heads, scale=inputs.scale, softcap=call.softcap or None,
              local_window_size=call.window + 1 if call.window else None, do_rotary=int(bool(call.rope)),
              rotary_interleaved=int(bool(call.rope) and call.rope.pairing == "interleaved"))
    shape = (call.batch, call.queries, call.heads * call.head_dim)
    cache = {"all_keys": graph.inputs["keys"], "all_values": graph.inputs["values"]}
    return by_heads(graph.run(threads, {"out": np.empty(shape, graph.dtype), **cache}), call)


def forms(call, inputs, dtype, threads):
    """By operator, functions that return [batch, heads, queries, v_head_dim]."""
    if dtype not in TYPES:
        return {}
    found = {} if call.sinks else {"Attention": attention}
    if call.group == 1 and not (call.softcap or call.sinks or call.rope):
        found["MultiHeadAttention"] = multi_head
    if call.causal and call.value_dim == call.head_dim and call.padding != "right":
        found["GroupQueryAttention"] = group_query
    return {name: form(call, inputs, dtype, threads) for name, form in found.items()}
