"""The shared library that lies beside this file, the types of its functions, and its statuses as exceptions."""

import ctypes
import os
import pathlib
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p
from typing import NoReturn

from . import _structures as s

_EXCEPTIONS = {1: ValueError, 2: ValueError, 3: TypeError, 4: NotImplementedError, 5: ValueError, 6: MemoryError}

_OPERATIONS = {
    "gyre_attention": s.AttentionArgs,
    "gyre_attention_backward": s.AttentionBackwardArgs,
    "gyre_attention_merge": s.AttentionMergeArgs,
    "gyre_cache_append": s.CacheAppendArgs,
    "gyre_linear_attention": s.LinearAttentionArgs,
    "gyre_linear_attention_backward": s.LinearAttentionBackwardArgs,
    "gyre_rotary": s.RotaryArgs,
    "gyre_rotary_qk": s.RotaryQkArgs,
}

_FUNCTIONS = {
    "gyre_version": (c_char_p, []),
    "gyre_last_error": (c_char_p, []),
    "gyre_cpu_features": (c_char_p, []),
    "gyre_context_create": (c_int, [POINTER(s.ContextOptions), POINTER(c_void_p)]),
    "gyre_context_destroy": (None, [c_void_p]),
    "gyre_context_threads": (c_int32, [c_void_p]),
    "gyre_context_target": (c_char_p, [c_void_p]),
    "gyre_selected_kernel": (c_char_p, [c_void_p]),
    "gyre_target_count": (c_int32, []),
    "gyre_target_at": (c_int32, [c_int32, POINTER(s.TargetInfo)]),
    "gyre_kernel_count": (c_int32, []),
    "gyre_kernel_at": (c_int32, [c_int32, POINTER(s.KernelInfo)]),
    "gyre_frequencies": (c_int, [POINTER(s.FrequencyRule), c_int32, c_int32, c_int64, POINTER(c_double),
                                 POINTER(c_double)]),
    "gyre_mask_prepare_size": (c_int, [POINTER(s.AttentionArgs), POINTER(c_size_t)]),
    "gyre_mask_prepare": (c_int, [c_void_p, POINTER(s.AttentionArgs), c_void_p, c_size_t]),
    **{name: (c_int, [c_void_p, POINTER(args)]) for name, args in _OPERATIONS.items()},
}


def _find() -> pathlib.Path:
    """The library of this package, or the one that the environment variable GYRE_LIBRARY names."""
    named = os.environ.get("GYRE_LIBRARY")
    if named:
        return pathlib.Path(named)
    folder = pathlib.Path(__file__).parent
    found = sorted(folder.glob("libgyre.so*"))
    if not found:
        raise ImportError(f"there is no libgyre.so in {folder}: install the package (pip install ./runtime/python), or name a "
                          "library by the environment variable GYRE_LIBRARY")
    return found[0]


path = _find()
library = ctypes.CDLL(str(path))
for _name, (_result, _arguments) in _FUNCTIONS.items():
    getattr(library, _name).restype = _result
    getattr(library, _name).argtypes = _arguments


def _in_words_of_python(text: str) -> str:
    """The library's text with the names that arguments have here, and what to do about features that lie apart."""
    text = text.removeprefix("forward.")  # gradients take those arguments without a structure of their own
    text = text.replace("page_table", "block_table")
    name = text.split(":")[0]
    if not text.endswith("expected the last to be 1"):
        return text
    return f"{text}, as in numpy.ascontiguousarray({name}), or {name}.contiguous() of PyTorch"


def fail(status: int) -> NoReturn:
    """Raises what a status means, with the library's text."""
    raise _EXCEPTIONS.get(status, RuntimeError)(_in_words_of_python(library.gyre_last_error().decode()))


def check(status: int) -> None:
    """Returns for GYRE_OK. Errors: ValueError, TypeError, NotImplementedError, MemoryError, RuntimeError."""
    if status:
        fail(status)
