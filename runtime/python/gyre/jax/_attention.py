"""Attention for JAX, by XLA's foreign function interface."""

import ctypes
import functools
from typing import Any

import jax
import numpy as np

from .. import Rope, _library
from .._attention_args import window_of
from .._call import shape_of
from .._frequencies import frequencies_of, are_interleaved
from .._structures import DTYPES
from .._values import ALIGNMENTS, choose, flag, scale_of, single

_file = _library.path.parent / "libgyre_jax.so"
if not _file.exists():
    raise ImportError(f"gyre.jax: there is no {_file}: this package was built without JAX's operators")
_operators = ctypes.CDLL(str(_file))
for _name in ("gyre_jax_attention", "gyre_jax_attention_backward"):
    jax.ffi.register_ffi_target(_name, jax.ffi.pycapsule(getattr(_operators, _name)), platform="cpu")


def _attributes(options: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    kinds = {"scale": np.float32, "softcap": np.float32, "window_left": np.int64, "window_right": np.int64, "rope_factor": np.float64,
             "inv_freq": np.float64, "value_inv_freq": np.float64}
    return {name: np.asarray(value, kinds[name])[()] if name in kinds else value for name, value in options}


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1, 2))
def _call(name: str, shapes: tuple[jax.ShapeDtypeStruct, ...], options: tuple[tuple[str, Any], ...], *tensors: Any) -> Any:
    return jax.ffi.ffi_call(name, shapes, vmap_method="sequential")(*tensors, **_attributes(options))


@_call.defjvp
def _refuse_gradients(*_: Any) -> Any:
    """What differentiates a gradient comes here: the gradients of attention itself are _gradients()."""
    raise NotImplementedError("gyre.jax: gradients of attention's gradients are not computed")


def _forward(q: Any, k: Any, v: Any, options: tuple[tuple[str, Any], ...]) -> Any:
    out = jax.ShapeDtypeStruct((*q.shape[:-1], v.shape[-1]), q.dtype)
    lse = jax.ShapeDtypeStruct((q.shape[0], q.shape[2], q.shape[1]), np.float32)
    return _call("gyre_jax_attention", (out, lse), options, q, k, v)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def _attention(q: Any, k: Any, v: Any, options: tuple[tuple[str, Any], ...]) -> Any:
    return _forward(q, k, v, options)[0]


def _keep(q: Any, k: Any, v: Any, options: tuple[tuple[str, Any], ...]) -> tuple[Any, tuple[Any, ...]]:
    out, lse = _forward(q, k, v, options)
    return out, (q, k, v, out, lse)


def _gradients(options: tuple[tuple[str, Any], ...], kept: tuple[Any, ...], out_grad: Any) -> Any:
    q, k, v, out, lse = kept
    # Keys and values may have 16 bits beside queries of 32, which the gradients do not take.
    tensors = (q, k.astype(q.dtype), v.astype(q.dtype))
    shapes = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in tensors)
    grads = _call("gyre_jax_attention_backward", shapes, options, *tensors, out, lse, out_grad)
    return tuple(grad.astype(x.dtype) for grad, x in zip(grads, (q, k, v)))


_attention.defvjp(_keep, _gradients)


def attention(q: Any, k: Any, v: Any, *, scale: float | None = None, causal: bool = False, alignment: str = "bottom_right",
              window: tuple[int, int] | None = None, softcap: float = 0.0, rope: Rope | None = None,
              value_rope: Rope | None = None) -> Any:
    """gyre.attention() of JAX's arrays, with gradients of q, k and v. Its options are constants of a compiled function.

    q, k, v    [batch, seqlen, heads, head_dim], float32, float16 or bfloat16

    Errors: what XLA raises, with the library's text; ValueError, TypeError.
    """
    for name, array in (("q", q), ("k", k), ("v", v)):
        if len(shape_of(array, name)) != 4:
            raise ValueError(f"{name}: got rank {len(array.shape)}, expected 4")
        if str(array.dtype) not in DTYPES:  # the library has no words for others
            raise TypeError(f"{name}: got dtype {array.dtype}, expected float32, float16 or bfloat16")
    limits = window if isinstance(window, (tuple, list)) else ()
    for name, number in (("scale", scale), ("softcap", softcap), *(("window", limit) for limit in limits)):
        if isinstance(number, jax.core.Tracer):
            raise TypeError(f"{name}: is traced, expected a constant, as by static_argnames of jax.jit")
    left, right = window_of(window)
    options = {"scale": scale_of(scale), "softcap": single(softcap, "softcap"), "causal": bool(flag(causal, "causal")),
               "top_left": choose(alignment, "alignment", ALIGNMENTS) == 1, "window_left": left, "window_right": right,
               "interleaved": are_interleaved(rope, value_rope), "inv_freq": frequencies_of(rope, "rope", q.shape[-1]),
               "rope_factor": 1.0 if rope is None else rope.attention_factor,
               "value_inv_freq": frequencies_of(value_rope, "value_rope", v.shape[-1])}
    return _attention(q, k, v, tuple(options.items()))
