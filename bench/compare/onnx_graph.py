"""Graphs of ONNX operators that onnxruntime runs."""

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import helper

TYPES = {"f32": (np.float32, onnx.TensorProto.FLOAT), "f16": (np.float16, onnx.TensorProto.FLOAT16)}
INTEGER = onnx.TensorProto.INT32
CONTRIBUTED = "com.microsoft"
OPSETS = (("", 24), (CONTRIBUTED, 1))


class Graph:
    """Nodes and what they read: by name, arrays that the caller keeps."""

    def __init__(self, dtype):
        self.dtype, self.type = TYPES[dtype]
        self.nodes, self.inputs = [], {}

    def give(self, name, array, dtype=None):
        """The name; "" without an array, as an optional input has it.

        Copied into PyTorch's memory, in which the others find theirs: NumPy's may have huge pages, and begins within a cache line.
        """
        if array is None:
            return ""
        self.inputs[name] = torch.from_numpy(np.ascontiguousarray(array, dtype or self.dtype)).clone().numpy()
        return name

    def add(self, operator, inputs, outputs, domain="", **attributes):
        given = {name: value for name, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, **given))

    def run(self, threads, results):
        """A function that computes `results`, by name arrays of which the first is returned; they may be inputs, too."""
        kinds = {np.dtype(np.int32): INTEGER}
        values = [[helper.make_tensor_value_info(name, kinds.get(array.dtype, self.type), array.shape) for name, array in arrays.items()]
                  for arrays in (self.inputs, results)]
        model = helper.make_model(helper.make_graph(self.nodes, "attention", *values), ir_version=11,
                                  opset_imports=[helper.make_opsetid(*each) for each in OPSETS])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.force_spinning_stop", "1")  # its threads would take time from the others
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for arrays, bind in ((self.inputs, binding.bind_ortvalue_input), (results, binding.bind_ortvalue_output)):
            for name, array in arrays.items():
                bind(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
        first = torch.from_numpy(next(iter(results.values())))

        def run():
            session.run_with_iobinding(binding)
            return first

        return run
