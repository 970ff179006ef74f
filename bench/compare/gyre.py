"""The C API of gyre.h on NumPy arrays: as much of it as the comparisons need. The structures are gyre.h's, field by field; their
size, which the library checks, tells if they no longer are.
"""

import ctypes
from ctypes import POINTER, byref, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p

import numpy as np

BHSD = 1  # gyre_layout
DTYPES = {"float32": 0, "float16": 1, "uint16": 2}  # gyre_dtype; NumPy has no bf16: its bits, as uint16


class Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("dtype", c_int), ("device", c_int), ("rank", c_int32),
                ("shape", c_int64 * 4), ("strides", c_int64 * 4)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("threads", c_int32), ("target", ctypes.c_char_p), ("parallel_for", c_void_p),
                ("pool", c_void_p), ("library", ctypes.c_char_p)]


class Rope(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("pairing", c_int), ("rotary_dim", c_int32), ("rotary_offset", c_int32),
                ("theta", c_double), ("frequency_base", c_int), ("inv_freq", POINTER(c_double)),
                ("attention_factor", c_double), ("cos", POINTER(Tensor)), ("sin", POINTER(Tensor)), ("axes", c_int32),
                ("sections", c_int32 * 4), ("section_order", c_int)]


class AttentionArgs(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("layout", c_int), ("q", Tensor), ("k", Tensor), ("v", Tensor), ("out", Tensor),
                ("lse", POINTER(Tensor)), ("scale", c_float), ("softcap", c_float), ("causal", c_int32),
                ("alignment", c_int), ("window_left", c_int64), ("window_right", c_int64), ("bias", POINTER(Tensor)),
                ("mask", POINTER(Tensor)), ("sinks", POINTER(Tensor)), ("alibi", POINTER(Tensor)),
                ("seqused_k", POINTER(Tensor)), ("cu_seqlens_q", POINTER(Tensor)), ("cu_seqlens_k", POINTER(Tensor)),
                ("rope", POINTER(Rope)), ("value_rope", POINTER(Rope)), ("keys_rotated", c_int32),
                ("values_rotated", c_int32), ("q_positions", POINTER(Tensor)), ("k_positions", POINTER(Tensor)),
                ("workspace", c_void_p), ("workspace_size", c_size_t), ("score", ctypes.c_char_p),
                ("score_inputs", c_void_p), ("score_input_count", c_int32), ("page_table", POINTER(Tensor)),
                ("value_order", c_int)]


class BackwardArgs(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("forward", POINTER(AttentionArgs)), ("out_grad", Tensor), ("q_grad", Tensor),
                ("k_grad", Tensor), ("v_grad", Tensor), ("workspace", c_void_p), ("workspace_size", c_size_t)]


def to_bf16(array):
    """The bits of a float32 array, rounded to nearest, ties to even."""
    bits = array.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def to_f32(array):
    """bf16 bits, float16 or float32 as float32."""
    return (array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array.astype(np.float32)


def values_in_blocks(v):
    """gyre_value_order: of every 32 tokens of [batch, heads, tokens, v_head_dim] the transpose, in the same shape."""
    batch, heads, tokens, dim = v.shape
    blocks = v.reshape(batch, heads, tokens // 32, 32, dim).swapaxes(3, 4)
    return np.ascontiguousarray(blocks).reshape(v.shape)


def view(array):
    """A float32 or float16 array, or bits of bf16, in C order; it must outlive the call."""
    assert array.flags.c_contiguous
    tensor = Tensor(data=array.ctypes.data, dtype=DTYPES[array.dtype.name], device=1, rank=array.ndim)
    tensor.shape[:array.ndim] = array.shape
    tensor.strides[:array.ndim] = [stride // array.itemsize for stride in array.strides]
    return tensor


class Gyre:
    """The shared library, and a context of so many threads."""

    def __init__(self, path, threads):
        self.library = ctypes.CDLL(path)
        for name in ("gyre_last_error", "gyre_selected_kernel"):
            getattr(self.library, name).restype = ctypes.c_char_p
        self.context = c_void_p()
        options = ContextOptions(size=ctypes.sizeof(ContextOptions), threads=threads)
        self.check(self.library.gyre_context_create(byref(options), byref(self.context)))

    def check(self, status):
        if status:
            raise RuntimeError(self.library.gyre_last_error().decode())

    def attention_args(self, q, k, v, out, causal, rotation):
        args = AttentionArgs(size=ctypes.sizeof(AttentionArgs), layout=BHSD, q=view(q), k=view(k), v=view(v), out=view(out),
                             causal=causal, window_left=-1, window_right=-1)
        rope = Rope(size=ctypes.sizeof(Rope), theta=10000.0, attention_factor=1.0)
        if rotation != "plain":
            args.rope = ctypes.pointer(rope)
        if rotation == "roper":
            args.value_rope = ctypes.pointer(rope)
        return args

    def attention(self, q, k, v, out, causal, rotation, value_order=0):
        """A function that computes attention of these [batch, heads, seqlen, head_dim] arrays into out; q may have more heads.

        rotation: "plain", "rope" (queries and keys) or "roper" (values, too). value_order: 1, if v is in blocks.
        """
        args = self.attention_args(q, k, v, out, causal, rotation)
        args.value_order = value_order
        return lambda: self.check(self.library.gyre_attention(self.context, byref(args)))

    def attention_with_gradients(self, q, k, v, out, out_grad, gradients, causal, rotation):
        """Two functions: attention as above, which also keeps what the second needs, the gradients of q, k and v."""
        lse = np.zeros(q.shape[:3], np.float32)
        lse_view = view(lse)
        forward = self.attention_args(q, k, v, out, causal, rotation)
        forward.lse = ctypes.pointer(lse_view)
        q_grad, k_grad, v_grad = (view(gradient) for gradient in gradients)
        args = BackwardArgs(size=ctypes.sizeof(BackwardArgs), forward=ctypes.pointer(forward), out_grad=view(out_grad),
                            q_grad=q_grad, k_grad=k_grad, v_grad=v_grad)

        def backward():
            assert lse.size == lse_view.shape[0] * lse_view.shape[1] * lse_view.shape[2]  # keeps it alive
            self.check(self.library.gyre_attention_backward(self.context, byref(args)))

        return lambda: self.check(self.library.gyre_attention(self.context, byref(forward))), backward

    def selected_kernel(self):
        return self.library.gyre_selected_kernel(self.context).decode()
