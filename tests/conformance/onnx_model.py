"""One node test of the ONNX package: its attributes and its stored tensors by the operator's own names."""
import pathlib

import numpy as np
import onnx
import onnx.numpy_helper

EXPECTED_VERSION = "1.22.0"
EXPECTED_COUNTS = {"rotary_embedding": 8, "attention": 64}

# The operators' formal names, in the order in which a node lists its inputs and outputs; "" stands for an absent one.
INPUTS = {
    "Attention": ["Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"],
    "RotaryEmbedding": ["X", "cos_cache", "sin_cache", "position_ids"],
}
OUTPUTS = {
    "Attention": ["Y", "present_key", "present_value", "qk_matmul_output"],
    "RotaryEmbedding": ["Y"],
}


def data_folder():
    return pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"


def case_names():
    """All rotary and attention node tests; fails unless the package has exactly those that this suite was made for."""
    if onnx.__version__ != EXPECTED_VERSION:
        raise SystemExit(f"onnx is {onnx.__version__}, expected {EXPECTED_VERSION}")
    names = []
    for operation, count in EXPECTED_COUNTS.items():
        folders = data_folder().glob(f"test_{operation}*")
        found = sorted(f.name.removeprefix("test_") for f in folders if not f.name.endswith("_expanded"))
        if len(found) != count:
            raise SystemExit(f"{operation}: found {len(found)} node tests, expected {count}")
        names += found
    return names


class Case:
    """inputs and outputs: dictionaries of arrays, by formal name, of those that the node has."""

    def __init__(self, name):
        folder = data_folder() / f"test_{name}"
        model = onnx.load(folder / "model.onnx")
        (node,) = model.graph.node
        self.name = name
        self.operation = node.op_type
        self.attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        self.inputs = self._load(folder, "input", INPUTS[node.op_type], node.input, model.graph.input)
        self.outputs = self._load(folder, "output", OUTPUTS[node.op_type], node.output, model.graph.output)
        assert "Y" in self.outputs, f"{name}: nothing to compare"

    @staticmethod
    def _load(folder, kind, formal_names, actual_names, graph_values):
        arrays = {}
        for index, value in enumerate(graph_values):
            tensor = onnx.load_tensor(folder / "test_data_set_0" / f"{kind}_{index}.pb")
            arrays[value.name] = onnx.numpy_helper.to_array(tensor)
        named = {formal: arrays.pop(actual) for formal, actual in zip(formal_names, actual_names) if actual}
        assert not arrays, f"{folder.name}: {sorted(arrays)} are stored but the node does not use them"
        return named

    def attribute(self, name, default):
        return self.attributes.get(name, default)


def split_heads(x, heads):
    """[batch, seqlen, heads * dim] to [batch, heads, seqlen, dim]; four dimensions already are that."""
    if x.ndim == 4:
        return x
    batch, seqlen, hidden = x.shape
    return np.ascontiguousarray(x.reshape(batch, seqlen, heads, hidden // heads).transpose(0, 2, 1, 3))


def join_heads(x):
    """[batch, heads, seqlen, dim] to [batch, seqlen, heads * dim]."""
    batch, heads, seqlen, dim = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, seqlen, heads * dim)
