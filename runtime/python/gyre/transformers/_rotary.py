"""Models' own rotations, taken over and given back."""

import functools
import sys
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from .. import torch as operators
from ..torch._tensors import contiguous
from ._rotations import Rotation, of_one, recognize

_TYPES = (torch.float32, torch.float16, torch.bfloat16)
_calls = 0
_originals: dict[tuple[Any, str], Any] = {}  # by owner and name
_KINDS = 4  # of layers, each with tables of its own
_seen: dict[Rotation, list[tuple[Any, ...]]] = {}  # the tables that were looked at last: all layers of a kind read the same


def rotary_calls() -> int:
    """How many rotations were computed here since the program began; those of compiled models stay the model's own."""
    return _calls


def _tables_are_as_told(rotation: Rotation, cos: torch.Tensor, sin: torch.Tensor) -> bool:
    if cos.is_inference() or sin.is_inference():  # which do not tell when they are written to
        return rotation.is_as_told(cos) and rotation.is_as_told(sin)
    seen = _seen.setdefault(rotation, [])
    for its_cos, its_sin, versions, found in seen:
        if its_cos() is cos and its_sin() is sin and versions == (cos._version, sin._version):
            return bool(found)
    found = rotation.is_as_told(cos) and rotation.is_as_told(sin)
    seen.insert(0, (weakref.ref(cos), weakref.ref(sin), (cos._version, sin._version), found))
    del seen[_KINDS:]
    return found


def _takes(rotation: Rotation, q: Any, k: Any, cos: Any, sin: Any, axis: int) -> bool:
    """Whether this call is one that the library does, as the function would."""
    if torch.compiler.is_compiling() or not all(isinstance(x, torch.Tensor) and x.device.type == "cpu" for x in (q, k, cos, sin)):
        return False
    # A token alone takes the model as long, and 20 us less behind large products.
    if axis in (1, 2) and q.dim() == 4 and q.shape[0] * q.shape[3 - axis] == 1:
        return False
    tokens, rotated = 3 - axis, cos.shape[-1] * (2 if rotation.tables == "once" else 1)
    return (axis in (1, 2) and q.dim() == k.dim() == 4 and cos.dim() == 3 and cos.shape == sin.shape and q.dtype == k.dtype
            and q.dtype in _TYPES and cos.dtype in _TYPES and q.numel() > 0 and k.numel() > 0
            and torch.result_type(q, cos) == q.dtype  # else the function's result is of the tables' type
            and cos.shape[0] in (1, q.shape[0]) and q.shape[0] == k.shape[0] and cos.shape[1] == q.shape[tokens] == k.shape[tokens]
            and all(rotated == x.shape[-1] or rotation.partial and rotated < x.shape[-1] for x in (q, k))
            and not cos.requires_grad and not sin.requires_grad and _tables_are_as_told(rotation, cos, sin))


def _taking(original: Callable[..., Any], rotation: Rotation) -> Callable[..., Any]:
    @functools.wraps(original)
    def rotate(q: Any, k: Any, cos: Any, sin: Any, *others: Any, unsqueeze_dim: int = 1, **named: Any) -> Any:
        global _calls
        if others or named or not _takes(rotation, q, k, cos, sin, unsqueeze_dim):
            return original(q, k, cos, sin, *others, unsqueeze_dim=unsqueeze_dim, **named)
        _calls += 1
        return rotation.rotate(contiguous(q), contiguous(k), rotation.distinct(cos), rotation.distinct(sin),
                               "bhsd" if unsqueeze_dim == 1 else "bshd")

    return rotate


def _taking_one(original: Callable[..., Any], rotation: Rotation) -> Callable[..., Any]:
    @functools.wraps(original)
    def rotate(x: Any, cos: Any, sin: Any, *others: Any, unsqueeze_dim: int = 1, **named: Any) -> Any:
        global _calls
        if others or named or rotation.sorted or not _takes(rotation, x, x, cos, sin, unsqueeze_dim):
            return original(x, cos, sin, *others, unsqueeze_dim=unsqueeze_dim, **named)
        _calls += 1
        return operators.rotary(contiguous(x), (rotation.distinct(cos), rotation.distinct(sin)),
                                interleaved=rotation.pairing == "interleaved", layout="bhsd" if unsqueeze_dim == 1 else "bshd")

    return rotate


def _roformer(original: Callable[..., Any]) -> Callable[..., Any]:
    """RoFormer's: tables of sines and cosines in one row, interleaved features, and values too if the model wants it."""

    @functools.wraps(original)
    def rotate(sinusoidal_pos: torch.Tensor, query_layer: torch.Tensor, key_layer: torch.Tensor,
               value_layer: torch.Tensor | None = None) -> tuple[torch.Tensor, ...]:
        global _calls
        if (torch.compiler.is_compiling() or query_layer.dtype not in _TYPES or sinusoidal_pos.dtype not in _TYPES
                or sinusoidal_pos.requires_grad):
            own: tuple[torch.Tensor, ...] = original(sinusoidal_pos, query_layer, key_layer, value_layer)
            return own
        _calls += 1
        sin, cos = sinusoidal_pos[:, 0].chunk(2, -1)
        turned = operators.rotary_qk(query_layer, key_layer, (cos, sin), interleaved=True)
        if value_layer is None:
            return turned
        return (*turned, operators.rotary(value_layer, (cos, sin), interleaved=True))

    return rotate


def _take(owner: Any, name: str, taking: Callable[..., Any]) -> None:
    _originals[owner, name] = vars(owner)[name]
    setattr(owner, name, taking)


def _take_module(module: ModuleType) -> dict[str, str]:
    """What became of each function for rotations of a module."""
    told = {}
    for name, function in list(vars(module).items()):
        if name.startswith("apply_rotary") and callable(function):
            if (module, name) in _originals:
                told[f"{module.__name__}.{name}"] = "taken over"
                continue
            rotation = recognize(function)
            if isinstance(rotation, Rotation):
                _take(module, name, (_taking_one if of_one(function) else _taking)(function, rotation))
            told[f"{module.__name__}.{name}"] = rotation if isinstance(rotation, str) else "taken over"
    attention = getattr(module, "RoFormerSelfAttention", None)
    if attention is not None:
        if (attention, "apply_rotary_position_embeddings") not in _originals:
            _take(attention, "apply_rotary_position_embeddings",
                  staticmethod(_roformer(attention.apply_rotary_position_embeddings)))
        told[f"{module.__name__}.RoFormerSelfAttention"] = "taken over"
    return told


def enable_rotary(model: torch.nn.Module) -> dict[str, str]:
    """Takes the rotations of a model's layers over, for all models of its kind, until disable_rotary(). Twice is once.

    A function that models call for them is taken over if its source has no branches and it gives, of random tensors, what one of the
    known rotations gives: halves or interleaved pairs, of the whole head or its first features, tables with each angle once or twice. Calls that
    are not on the CPU, or in other types, go on as before.

    Returns what became of each function: "taken over", or why not. Errors: ValueError, if none was taken over.
    """
    told: dict[str, str] = {}
    for name in sorted({type(layer).__module__ for layer in model.modules()}):
        if name.startswith("torch."):
            continue
        told |= _take_module(sys.modules[name])
    if "taken over" not in told.values():
        reasons = "; ".join(f"{name} {reason}" for name, reason in told.items()) or "it calls no function for them that is known"
        raise ValueError(f"model: the rotations of {type(model).__name__} cannot be taken over: {reasons}")
    return told


def disable_rotary() -> None:
    """Gives all rotations back to their models."""
    for (owner, name), original in _originals.items():
        setattr(owner, name, original)
    _originals.clear()
    _seen.clear()
