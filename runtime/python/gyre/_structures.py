"""The structures of include/gyre/*.h, field by field. tests/python compares each with what a C compiler makes of the headers."""

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, ClassVar

DTYPES = {"float32": 0, "float16": 1, "bfloat16": 2, "float64": 3, "int32": 4, "int64": 5, "bool": 6}  # gyre_dtype, by the frameworks' names
MAX_RANK = 4
MAX_AXES = 4


class Structure(ctypes.Structure):
    """A structure that begins with its size and grows at its end, as argument structures of the C API do."""

    defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=ctypes.sizeof(self), **{**self.defaults, **fields})


class Tensor(ctypes.Structure):
    """gyre_tensor: address, type, device, rank, extents and strides in elements."""

    _fields_ = [("data", c_void_p), ("dtype", c_int), ("device", c_int), ("rank", c_int32),
                ("shape", c_int64 * MAX_RANK), ("strides", c_int64 * MAX_RANK)]


TensorPointer = POINTER(Tensor)


class ContextOptions(Structure):
    _fields_ = [("size", c_uint32), ("threads", c_int32), ("target", c_char_p), ("parallel_for", c_void_p), ("pool", c_void_p),
                ("library", c_char_p), ("cuda_stream", c_void_p)]


class RopeFields(Structure):
    """gyre_rope."""

    _fields_ = [("size", c_uint32), ("pairing", c_int), ("rotary_dim", c_int32), ("rotary_offset", c_int32),
                ("theta", c_double), ("frequency_base", c_int), ("inv_freq", POINTER(c_double)),
                ("attention_factor", c_double), ("cos", TensorPointer), ("sin", TensorPointer), ("axes", c_int32),
                ("sections", c_int32 * MAX_AXES), ("section_order", c_int)]
    defaults = {"theta": 10000.0, "attention_factor": 1.0}


RopePointer = POINTER(RopeFields)


class FrequencyRule(Structure):
    _fields_ = [("size", c_uint32), ("rope_type", c_char_p), ("rope_theta", c_double), ("factor", c_double),
                ("original_max_position_embeddings", c_int64), ("max_position_embeddings", c_int64),
                ("attention_factor", c_double), ("beta_fast", c_double), ("beta_slow", c_double), ("mscale", c_double),
                ("mscale_all_dim", c_double), ("truncate", c_int32), ("short_factor", POINTER(c_double)),
                ("long_factor", POINTER(c_double)), ("low_freq_factor", c_double), ("high_freq_factor", c_double),
                ("partial_rotary_factor", c_double)]
    defaults = {"rope_type": b"default", "rope_theta": 10000.0, "truncate": 1}


class RotaryArgs(Structure):
    defaults = {"rope": RopeFields()}
    _fields_ = [("size", c_uint32), ("layout", c_int), ("x", Tensor), ("out", Tensor), ("rope", RopeFields),
                ("reverse", c_int32), ("positions", TensorPointer), ("position_offset", c_int64), ("workspace", c_void_p),
                ("workspace_size", c_size_t), ("cuda_stream", c_void_p), ("reserved", c_void_p)]


class RotaryQkArgs(Structure):
    defaults = {"rope": RopeFields()}
    _fields_ = [("size", c_uint32), ("layout", c_int), ("q", Tensor), ("k", Tensor), ("q_out", Tensor), ("k_out", Tensor),
                ("rope", RopeFields), ("reverse", c_int32), ("positions", TensorPointer), ("position_offset", c_int64),
                ("workspace", c_void_p), ("workspace_size", c_size_t), ("cuda_stream", c_void_p), ("reserved", c_void_p)]


class CacheAppendArgs(Structure):
    _fields_ = [("size", c_uint32), ("layout", c_int), ("cache_layout", c_int), ("k", Tensor), ("v", Tensor),
                ("k_cache", Tensor), ("v_cache", Tensor), ("cu_seqlens_k", TensorPointer), ("cache_seqlens", TensorPointer),
                ("page_table", TensorPointer), ("rope", RopePointer), ("value_rope", RopePointer),
                ("positions", TensorPointer), ("workspace", c_void_p), ("workspace_size", c_size_t), ("value_order", c_int),
                ("cuda_stream", c_void_p)]


class ScoreInput(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("tensor", Tensor)]


class AttentionArgs(Structure):
    _fields_ = [("size", c_uint32), ("layout", c_int), ("q", Tensor), ("k", Tensor), ("v", Tensor), ("out", Tensor),
                ("lse", TensorPointer), ("scale", c_float), ("softcap", c_float), ("causal", c_int32), ("alignment", c_int),
                ("window_left", c_int64), ("window_right", c_int64), ("bias", TensorPointer), ("mask", TensorPointer),
                ("sinks", TensorPointer), ("alibi", TensorPointer), ("seqused_k", TensorPointer),
                ("cu_seqlens_q", TensorPointer), ("cu_seqlens_k", TensorPointer), ("rope", RopePointer),
                ("value_rope", RopePointer), ("keys_rotated", c_int32), ("values_rotated", c_int32),
                ("q_positions", TensorPointer), ("k_positions", TensorPointer), ("workspace", c_void_p),
                ("workspace_size", c_size_t), ("score", c_char_p), ("score_inputs", POINTER(ScoreInput)),
                ("score_input_count", c_int32), ("page_table", TensorPointer), ("value_order", c_int), ("dropout", c_float),
                ("dropout_offset", c_uint32), ("dropout_seed", c_uint64), ("prepared_mask", c_void_p),
                ("prepared_mask_size", c_size_t), ("cuda_stream", c_void_p), ("reserved", c_void_p)]
    defaults = {"window_left": -1, "window_right": -1}


class AttentionBackwardArgs(Structure):
    _fields_ = [("size", c_uint32), ("forward", POINTER(AttentionArgs)), ("out_grad", Tensor), ("q_grad", Tensor),
                ("k_grad", Tensor), ("v_grad", Tensor), ("workspace", c_void_p), ("workspace_size", c_size_t),
                ("bias_grad", TensorPointer), ("cuda_stream", c_void_p)]


class AttentionMergeArgs(Structure):
    _fields_ = [("size", c_uint32), ("layout", c_int), ("parts", c_int32), ("part_out", Tensor), ("part_lse", Tensor),
                ("part_out_stride", c_int64), ("part_lse_stride", c_int64), ("out", Tensor), ("lse", TensorPointer),
                ("workspace", c_void_p), ("workspace_size", c_size_t), ("cuda_stream", c_void_p)]


class LinearAttentionArgs(Structure):
    _fields_ = [("size", c_uint32), ("layout", c_int), ("q", Tensor), ("k", Tensor), ("v", Tensor), ("out", Tensor),
                ("causal", c_int32), ("seqused_k", TensorPointer), ("cu_seqlens_q", TensorPointer),
                ("cu_seqlens_k", TensorPointer), ("rope", RopePointer), ("q_positions", TensorPointer),
                ("k_positions", TensorPointer), ("kv_state", TensorPointer), ("k_state", TensorPointer),
                ("kv_state_out", TensorPointer), ("k_state_out", TensorPointer), ("workspace", c_void_p),
                ("workspace_size", c_size_t), ("cuda_stream", c_void_p)]


class LinearAttentionBackwardArgs(Structure):
    _fields_ = [("size", c_uint32), ("forward", POINTER(LinearAttentionArgs)), ("out_grad", Tensor), ("q_grad", Tensor),
                ("k_grad", Tensor), ("v_grad", Tensor), ("kv_state_out_grad", TensorPointer),
                ("k_state_out_grad", TensorPointer), ("kv_state_grad", TensorPointer), ("k_state_grad", TensorPointer),
                ("workspace", c_void_p), ("workspace_size", c_size_t)]


class TargetInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("linked", c_int32), ("runnable", c_int32), ("features", c_char_p),
                ("missing", c_char_p), ("rest", c_char_p), ("device", c_int)]


class KernelInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("operation", c_char_p), ("variant", c_char_p), ("target", c_char_p),
                ("attributes", c_char_p), ("evidence", c_char_p), ("library", c_char_p), ("runnable", c_int32)]
