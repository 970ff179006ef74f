"""A graph of oneDNN's Graph API, by ctypes: operations on tensors, and the one partition that they become.

Names and numbers are those of oneapi/dnnl/dnnl_graph_types.h, 3.x, whose softmax has a mode from 3.8 on.
"""

import ctypes

OPERATIONS = {"Add": 2, "MatMul": 39, "Multiply": 46, "SoftMax": 64, "Tanh": 75}
AXIS, TRANSPOSE_B, MODE = 48, 102, 132
TYPES = {"f16": 1, "bf16": 2, "f32": 3}
STRIDED, VARIABLE, CPU = 2, 1, 1
Dimensions = ctypes.c_int64 * 12


class LogicalTensor(ctypes.Structure):
    _fields_ = [("id", ctypes.c_size_t), ("ndims", ctypes.c_int), ("dims", Dimensions), ("data_type", ctypes.c_int),
                ("property", ctypes.c_int), ("layout_type", ctypes.c_int), ("strides", Dimensions)]


def pointers(tensors):
    return (ctypes.c_void_p * len(tensors))(*(ctypes.addressof(each) for each in tensors))


def strides_of(shape, given=None):
    """The given strides; without them, and where there is one element, those of a tensor without gaps."""
    strides = [given[-1] if given and shape[-1] > 1 else 1]
    for place in reversed(range(len(shape) - 1)):
        whole = strides[0] * shape[place + 1]
        strides.insert(0, given[place] if given and shape[place] > 1 else whole)
    return strides


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int), ("hash", ctypes.c_char_p)]


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.dnnl_version.restype = ctypes.POINTER(Version)
        version = self.c.dnnl_version().contents
        self.version = (version.major, version.minor, version.patch)
        self.engine, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("dnnl_engine_create", ctypes.byref(self.engine), CPU, ctypes.c_size_t(0))
        self.call("dnnl_stream_create", ctypes.byref(self.stream), self.engine, 1)

    def call(self, name, *arguments):
        status = getattr(self.c, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} returns {status}")

    def made(self, name, *arguments):
        """What the function of this name writes to its first argument."""
        found = ctypes.c_void_p()
        self.call(name, ctypes.byref(found), *arguments)
        return found


class Graph:
    """Operations in their order; tensors that the caller gives stay his."""

    def __init__(self, library):
        self.library = library
        self.tensors, self.memory = [], {}  # logical ones by their numbers; by number, what was given
        self.count = 0
        self.graph = library.made("dnnl_graph_graph_create", CPU)

    def logical(self, dtype, shape, strides=None):
        tensor = LogicalTensor(len(self.tensors), len(shape), Dimensions(*shape), TYPES[dtype], VARIABLE, STRIDED,
                               Dimensions(*strides_of(shape, strides)))
        self.tensors.append(tensor)
        return tensor

    def given(self, dtype, memory):
        """A tensor of PyTorch's memory."""
        tensor = self.logical(dtype, memory.shape, memory.stride())
        self.memory[tensor.id] = memory
        return tensor

    def add(self, operation, inputs, output, transpose_b=False):
        c = self.library
        made = c.made("dnnl_graph_op_create", ctypes.c_size_t(self.count), OPERATIONS[operation], operation.encode())
        self.count += 1
        if transpose_b:
            c.call("dnnl_graph_op_set_attr_bool", made, TRANSPOSE_B, ctypes.byref(ctypes.c_uint8(1)), ctypes.c_size_t(1))
        if operation == "SoftMax":
            c.call("dnnl_graph_op_set_attr_s64", made, AXIS, ctypes.byref(ctypes.c_int64(-1)), ctypes.c_size_t(1))
            if c.version >= (3, 8):
                c.call("dnnl_graph_op_set_attr_str", made, MODE, b"inf_as_zero", ctypes.c_size_t(11))
        for tensor in inputs:
            c.call("dnnl_graph_op_add_input", made, ctypes.byref(tensor))
        c.call("dnnl_graph_op_add_output", made, ctypes.byref(output))
        c.call("dnnl_graph_add_op", self.graph, made)
        return output

    def compiled(self, output):
        """A function that runs the graph; None if it is not one partition."""
        c = self.library
        c.call("dnnl_graph_graph_finalize", self.graph)
        c.call("dnnl_graph_graph_filter", self.graph, 1)
        count = ctypes.c_size_t()
        c.call("dnnl_graph_graph_get_partition_num", self.graph, ctypes.byref(count))
        if count.value != 1:
            return None
        partition = ctypes.c_void_p()
        c.call("dnnl_graph_graph_get_partitions", self.graph, ctypes.c_size_t(1), ctypes.byref(partition))
        compiled = c.made("dnnl_graph_compiled_partition_create", partition)
        memory = self.memory
        inputs = [tensor for tensor in self.ports(partition) if tensor.id != output.id]
        c.call("dnnl_graph_partition_compile", partition, compiled, ctypes.c_size_t(len(inputs)), pointers(inputs), ctypes.c_size_t(1),
               pointers([output]), c.engine)

        def handles(tensors):
            made = [c.made("dnnl_graph_tensor_create", ctypes.byref(each), c.engine, ctypes.c_void_p(memory[each.id].data_ptr()))
                    for each in tensors]
            return (ctypes.c_void_p * len(made))(*made)

        reads, writes = handles(inputs), handles([output])
        execute, wait = c.c.dnnl_graph_compiled_partition_execute, c.c.dnnl_stream_wait
        number, one = ctypes.c_size_t(len(inputs)), ctypes.c_size_t(1)

        def run():
            if execute(compiled, c.stream, number, reads, one, writes) or wait(c.stream):
                raise RuntimeError("oneDNN did not run")
            return memory[output.id]  # which keeps the inputs, too

        return run

    def ports(self, partition):
        """The given tensors that a partition reads, in its order."""
        count = ctypes.c_size_t()
        self.library.call("dnnl_graph_partition_get_input_ports_num", partition, ctypes.byref(count))
        found = (LogicalTensor * count.value)()
        self.library.call("dnnl_graph_partition_get_input_ports", partition, count, found)
        return [self.tensors[each.id] for each in found]
