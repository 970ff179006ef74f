"""What an object with __dlpack__ holds, without a copy: DLPack's ABI, https://dmlc.github.io/dlpack, versions 0 and 1."""

import ctypes
from ctypes import POINTER, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any

CPU_DEVICES = {1: "CPU", 3: "CUDA host memory", 11: "ROCm host memory"}
READ_ONLY = 1  # a bit of Versioned.flags


class DLTensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8),
                ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class Managed(ctypes.Structure):
    """DLManagedTensor, in a capsule called "dltensor"."""

    _fields_ = [("tensor", DLTensor), ("manager", c_void_p), ("deleter", c_void_p)]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned, in a capsule called "dltensor_versioned"."""

    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("manager", c_void_p), ("deleter", c_void_p), ("flags", c_uint64),
                ("tensor", DLTensor)]


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _capsule(array: Any, name: str) -> Any:
    try:
        device = array.__dlpack_device__()[0]
        if device not in CPU_DEVICES:
            raise ValueError(f"{name}: is on a device of DLPack's type {int(device)}, expected the CPU (1)")
        if getattr(array, "is_neg", bool)():  # a view of PyTorch's, which hands out the numbers before they are negated
            raise ValueError(f"{name}: is a view that negates, expected resolve_neg() of it")
        try:
            return array.__dlpack__(max_version=(1, 0))
        except TypeError:  # a producer from before version 1
            return array.__dlpack__()
    except (BufferError, RuntimeError, AttributeError) as error:  # needs gradients, was deleted, is lazy …
        raise ValueError(f"{name}: its owner does not hand it out: {error}") from error


def read(array: Any, name: str) -> tuple[DLTensor, bool, Any]:
    """The tensor, whether it may only be read, and what keeps it alive: the capsule, which is never consumed.

    Errors: ValueError, if the owner refuses, or it is not in the CPU's memory; TypeError, if it gives something else.
    """
    capsule = _capsule(array, name)
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise ValueError(f"{name}: is given by DLPack {versioned.major}, expected version 1 or before")
        return versioned.tensor, bool(versioned.flags & READ_ONLY), capsule
    if _is_valid(capsule, b"dltensor"):
        return Managed.from_address(_pointer(capsule, b"dltensor")).tensor, False, capsule
    raise TypeError(f"{name}: __dlpack__() gave {type(capsule).__name__}, expected a capsule with a tensor")
