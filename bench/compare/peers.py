"""Other libraries' attention, by the same signature as gyre.Gyre.attention(): a function without arguments that returns the
result. A library that is not installed raises ImportError.
"""

import numpy as np


def angles(length, head_dim):
    """cos and sin of rotary embedding in the half pairing, theta 10000: float32, [length, head_dim / 2]."""
    a = np.arange(length)[:, None] * 10000.0 ** (-np.arange(head_dim // 2) / (head_dim // 2))
    return np.cos(a).astype(np.float32), np.sin(a).astype(np.float32)


class Torch:
    """scaled_dot_product_attention; rotations in eager mode, as models write them."""

    name = "torch"

    def __init__(self, threads):
        import torch

        self.torch = torch
        self.version = torch.__version__
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    def rotate(self, x, cos, sin):
        first, second = x.chunk(2, dim=-1)
        return self.torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)

    def tensor(self, array):
        """bf16 comes as its bits."""
        if array.dtype != np.uint16:
            return self.torch.from_numpy(array)
        return self.torch.from_numpy(array.view(np.int16)).view(self.torch.bfloat16)

    def attention(self, q, k, v, causal, rotation):
        shape = q.shape
        # Query heads that share keys are rows of the same head for PyTorch: much faster than its enable_gqa.
        q = q.reshape(k.shape[0], k.shape[1], -1, k.shape[3])
        q, k, v = (self.tensor(x) for x in (q, k, v))
        cos, sin = (self.torch.from_numpy(x).to(q.dtype) for x in angles(q.shape[2], q.shape[3]))

        def call():
            rotated = rotation != "plain"
            queries, keys = (self.rotate(x, cos, sin) if rotated else x for x in (q, k))
            values = self.rotate(v, cos, sin) if rotation == "roper" else v
            out = self.torch.nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=causal)
            return (self.rotate(out, cos, -sin) if rotation == "roper" else out).float().numpy().reshape(shape)

        return call


class OnnxRuntime:
    """f32 alone. The operators RotaryEmbedding and Attention of opset 23."""

    name = "onnxruntime"

    def __init__(self, threads):
        import onnx
        import onnxruntime

        self.onnx, self.runtime = onnx, onnxruntime
        self.version = onnxruntime.__version__
        self.threads = threads

    def model(self, shape, causal, rotation):
        make = self.onnx.helper
        inputs = {name: shape for name in "qkv"}
        rotated = {"plain": "", "rope": "qk", "roper": "qkv"}[rotation]
        if rotated:
            inputs.update({name: (1, shape[2], shape[3] // 2) for name in ("cos", "sin", "minus_sin")})
        nodes = [make.make_node("RotaryEmbedding", [name, "cos", "sin"], [f"{name}_rotated"]) for name in rotated]
        names = [f"{name}_rotated" if name in rotated else name for name in "qkv"]
        result = "mixed" if rotation == "roper" else "out"
        nodes.append(make.make_node("Attention", names, [result], is_causal=int(causal)))
        if rotation == "roper":
            nodes.append(make.make_node("RotaryEmbedding", [result, "cos", "minus_sin"], ["out"]))
        real = self.onnx.TensorProto.FLOAT
        graph = make.make_graph(nodes, "attention",
                                [make.make_tensor_value_info(name, real, size) for name, size in inputs.items()],
                                [make.make_tensor_value_info("out", real, shape)])
        return make.make_model(graph, opset_imports=[make.make_opsetid("", 23)], ir_version=10)

    def attention(self, q, k, v, causal, rotation):
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.add_session_config_entry("session.force_spinning_stop", "1")  # its threads would take time from the others
        session = self.runtime.InferenceSession(self.model(q.shape, causal, rotation).SerializeToString(), options,
                                                providers=["CPUExecutionProvider"])
        feeds = {"q": q, "k": k, "v": v}
        if rotation != "plain":
            cos, sin = (x[None] for x in angles(q.shape[2], q.shape[3]))
            feeds.update(cos=cos, sin=sin, minus_sin=-sin)
        wanted = {each.name for each in session.get_inputs()}
        feeds = {name: value for name, value in feeds.items() if name in wanted}
        return lambda: session.run(["out"], feeds)[0]
