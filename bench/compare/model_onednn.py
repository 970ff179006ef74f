"""A call of model_calls by oneDNN: its Graph API's fused attention, with what hides keys or is added to scores as one mask."""

import torch
from model_torch import added_mask, tensors
from onednn_graph import Graph, Library


def by_key_heads(x, call):
    """[batch, key heads, heads on each, tokens, dim] where key heads are shared, a view."""
    return x if call.group == 1 else x.unsqueeze(2) if x.shape[1] == 1 else x.unflatten(1, (call.kv_heads, -1))


class OneDnn:
    def __init__(self, path):
        self.library = Library(path)

    def form(self, call, inputs, dtype):
        """A function that returns [batch, heads, queries, v_head_dim]; None for what the pattern does not have."""
        if call.sinks or call.rope:
            return None
        mask = added_mask(inputs, dtype)
        is_old = self.library.version < (3, 8)  # masks of heads are wrong and take a second, values that are narrower than keys end the program
        if is_old and (call.value_dim != call.head_dim or (mask is not None and mask.shape[1] > 1)):
            return None
        graph = Graph(self.library)
        q, k, v = (by_key_heads(x, call) for x in tensors(inputs, dtype))
        query, key, value = (graph.given(dtype, x) for x in (q, k, v))
        shape = (*q.shape[:-1], call.keys)
        of_scores = dtype if is_old else "f32"

        def scores(operation, *read, **attributes):
            return graph.add(operation, read, graph.logical(of_scores, shape), **attributes)

        def constant(number):
            return graph.given(dtype, torch.full((1,), number, dtype=q.dtype))

        score = scores("Multiply", scores("MatMul", query, key, transpose_b=True), constant(inputs.scale / (call.softcap or 1)))
        if call.softcap:
            score = scores("Multiply", scores("Tanh", score), constant(call.softcap))
        if mask is not None:
            whole = mask.expand(call.batch, -1, -1, -1)  # 3.6 reads it so
            score = scores("Add", score, graph.given(dtype, by_key_heads(whole, call).contiguous()))
        weights = graph.add("SoftMax", [score], graph.logical(dtype, shape))
        result = torch.empty((*q.shape[:-1], call.value_dim), dtype=q.dtype)
        output = graph.add("MatMul", [weights, value], graph.given(dtype, result))
        run = graph.compiled(output)
        return run if run is None or call.group == 1 else lambda: run().flatten(1, 2)
