"""gyre's calls on tensors in a device's memory, by the structures of the Python package, which a test compares with the headers."""

import ctypes
import math
from ctypes import byref, c_void_p, pointer

import _structures as s
import numpy as np

CUDA = 2  # gyre_device
DTYPES = {"f32": 0, "f16": 1, "bf16": 2, "i32": 4, "bool": 6}  # gyre_dtype
STORED = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i32": np.int32, "bool": np.bool_}


def stored(values, dtype):
    """Doubles rounded to the type, as its bits, and what they are as doubles."""
    if dtype != "bf16":
        bits = values.astype(STORED[dtype])
        return bits, bits.astype(np.float64)
    wide = values.astype(np.float32).view(np.uint32)
    bits = ((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16).astype(np.uint16)
    return bits, loaded(bits, dtype)


def loaded(bits, dtype):
    if dtype == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return bits.astype(np.float64)


class OnDevice:
    """A dense tensor in the device's memory; it frees itself."""

    def __init__(self, driver, bits, dtype):
        self.driver, self.shape, self.dtype, self.like = driver, bits.shape, dtype, np.empty_like(bits)
        self.pointer = driver.allocate(bits.nbytes)
        driver.upload(self.pointer, np.ascontiguousarray(bits))

    def __del__(self):
        self.driver.free(self.pointer)

    def view(self):
        tensor = s.Tensor(data=self.pointer, dtype=DTYPES[self.dtype], device=CUDA, rank=len(self.shape))
        tensor.shape[:len(self.shape)] = self.shape
        tensor.strides[:len(self.shape)] = [math.prod(self.shape[i + 1:]) for i in range(len(self.shape))]
        return tensor

    def bits(self):
        self.driver.download(self.like, self.pointer)
        return self.like.copy()


def device_targets(path):
    """The library's targets that this device runs: what a context can be made of."""
    library, found, info = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL), [], s.TargetInfo()
    for index in range(library.gyre_target_count()):
        if library.gyre_target_at(index, byref(info)) and info.linked and info.runnable and info.device == CUDA:
            found.append(info.name.decode())
    return found


class Library:
    """libgyre.so, and a context on the driver's stream. Calls come as functions that queue them once more."""

    def __init__(self, path, driver, kernels=None, target="cuda"):
        self.library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        for name in ("gyre_last_error", "gyre_selected_kernel"):
            getattr(self.library, name).restype = ctypes.c_char_p
        self.context = c_void_p()
        options = s.ContextOptions(cuda_stream=driver.stream, target=target.encode(), library=kernels.encode() if kernels else None)
        self.check(self.library.gyre_context_create(byref(options), byref(self.context)))

    def check(self, status):
        if status:
            raise RuntimeError(self.library.gyre_last_error().decode())

    def selected(self):
        return self.library.gyre_selected_kernel(self.context).decode()

    def attention_args(self, tensors, *, causal=0, window_left=-1, rope=False, value_rope=False, softcap=0.0, from_cache=False):
        args = s.AttentionArgs(causal=causal, window_left=window_left, softcap=softcap,
                               keys_rotated=int(rope and from_cache), values_rotated=int(value_rope and from_cache))
        for name in ("q", "k", "v", "out"):
            setattr(args, name, tensors[name].view())
        for name in ("lse", "bias", "mask", "sinks", "alibi", "seqused_k", "page_table"):
            if name in tensors:
                setattr(args, name, pointer(tensors[name].view()))
        rotation = s.RopeFields()
        if rope:
            args.rope = pointer(rotation)
        if value_rope:
            args.value_rope = pointer(rotation)
        return args

    def attention(self, tensors, **options):
        """tensors: OnDevice by the names of gyre_attention_args, [batch, seqlen, heads, head_dim]."""
        args = self.attention_args(tensors, **options)
        return lambda: self.check(self.library.gyre_attention(self.context, byref(args)))

    def backward(self, tensors, **options):
        """tensors: likewise, lse and the gradients out_grad, q_grad, k_grad and v_grad among them."""
        forward = self.attention_args(tensors, **options)
        gradients = {name: tensors[name].view() for name in ("out_grad", "q_grad", "k_grad", "v_grad")}
        args = s.AttentionBackwardArgs(forward=pointer(forward), **gradients)
        return lambda: self.check(self.library.gyre_attention_backward(self.context, byref(args)))

    def rotary(self, x, out, reverse=0):
        args = s.RotaryArgs(x=x.view(), out=out.view(), rope=s.RopeFields(), reverse=reverse)
        return lambda: self.check(self.library.gyre_rotary(self.context, byref(args)))

    def append(self, k, v, k_cache, v_cache, seqlens):
        rotation = s.RopeFields()
        lengths = seqlens.view()
        args = s.CacheAppendArgs(k=k.view(), v=v.view(), k_cache=k_cache.view(), v_cache=v_cache.view(),
                                 cache_seqlens=pointer(lengths), rope=pointer(rotation))
        return lambda: self.check(self.library.gyre_cache_append(self.context, byref(args)))


def libraries(options, driver, kernels=None):
    """A Library for each of the targets that this device runs."""
    return {target: Library(options.library, driver, kernels=kernels, target=target) for target in device_targets(options.library)}
