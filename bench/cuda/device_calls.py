"""gyre_rotary() and gyre_attention() on PyTorch's CUDA tensors. The structures are gyre.h's, field by field; the library checks their size."""

import ctypes
import os
import sys
from ctypes import POINTER, byref, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compare"))
from gyre import AttentionArgs, ContextOptions, Rope, Tensor  # pylint: disable=wrong-import-position

CUDA = 2  # gyre_device
BHSD = 1  # gyre_layout
FEW_QUERIES = 16  # whose keys are cut into parts, if they are not rotated in the call


def default_rope():
    return Rope(size=ctypes.sizeof(Rope), theta=10000.0, attention_factor=1.0)


class ContextOptionsWithStream(ctypes.Structure):
    _fields_ = ContextOptions._fields_ + [("cuda_stream", c_void_p)]  # pylint: disable=protected-access


class RotaryArgs(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("layout", c_int), ("x", Tensor), ("out", Tensor), ("rope", Rope), ("reverse", c_int32),
                ("positions", POINTER(Tensor)), ("position_offset", c_int64), ("workspace", c_void_p),
                ("workspace_size", c_size_t)]


class DeviceCalls:
    """The shared library, and a context on PyTorch's stream. Calls come as functions that queue them once more."""

    def __init__(self, path, torch):
        self.library = ctypes.CDLL(path)
        self.library.gyre_last_error.restype = ctypes.c_char_p
        self.dtypes = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}
        self.context = c_void_p()
        options = ContextOptionsWithStream(size=ctypes.sizeof(ContextOptionsWithStream),
                                           cuda_stream=torch.cuda.current_stream().cuda_stream)
        self.check(self.library.gyre_context_create(byref(options), byref(self.context)))

    def check(self, status):
        if status:
            raise RuntimeError(self.library.gyre_last_error().decode())

    def view(self, tensor):
        view = Tensor(data=tensor.data_ptr(), dtype=self.dtypes[tensor.dtype], device=CUDA, rank=tensor.dim())
        view.shape[:tensor.dim()] = tensor.shape
        view.strides[:tensor.dim()] = tensor.stride()
        return view

    def rotary(self, x, out):
        """Of [batch, seqlen, heads, head_dim]."""
        args = RotaryArgs(size=ctypes.sizeof(RotaryArgs), x=self.view(x), out=self.view(out), rope=default_rope())
        return lambda: self.check(self.library.gyre_rotary(self.context, byref(args)))

    def attention(self, q, k, v, out, causal, rotation):
        """Of [batch, heads, seqlen, head_dim]. rotation: "plain", "rope" (queries and keys) or "roper" (values, too); with few
        queries, of a cache that holds keys and values rotated."""
        args = AttentionArgs(size=ctypes.sizeof(AttentionArgs), layout=BHSD, q=self.view(q), k=self.view(k), v=self.view(v),
                             out=self.view(out), causal=causal, window_left=-1, window_right=-1)
        rope = default_rope()
        from_cache = int(q.shape[2] <= FEW_QUERIES)
        if rotation != "plain":
            args.rope, args.keys_rotated = ctypes.pointer(rope), from_cache
        if rotation == "roper":
            args.value_rope, args.values_rotated = ctypes.pointer(rope), from_cache
        return lambda: self.check(self.library.gyre_attention(self.context, byref(args)))
