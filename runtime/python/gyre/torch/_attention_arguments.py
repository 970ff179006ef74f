"""Options of attention() as the arguments that the operators take."""

from typing import Any, TypedDict

import torch

from .. import Rope
from .._frequencies import are_interleaved
from .._values import ALIGNMENTS, choose, flag
from ._frequencies import frequencies
from ._numbers import number, seed, whole
from ._schemas import ATTENTION
from ._tensors import as_tensor, features


class AttentionOptions(TypedDict, total=False):
    """The options of attention() that few calls have."""

    alignment: str
    window: tuple[int, int] | None
    softcap: float
    bias: torch.Tensor | None
    mask: torch.Tensor | None
    sinks: torch.Tensor | None
    alibi: torch.Tensor | None
    seqused_k: torch.Tensor | None
    cu_seqlens_q: torch.Tensor | None
    cu_seqlens_k: torch.Tensor | None
    block_table: torch.Tensor | None
    rope: Rope | None
    value_rope: Rope | None
    keys_rotated: bool
    values_rotated: bool
    q_positions: torch.Tensor | None
    k_positions: torch.Tensor | None
    dropout: float
    dropout_seed: int
    dropout_offset: int
    return_lse: bool
    out: torch.Tensor | None
    prepared_mask: torch.Tensor | None


# Options that the operators take under the same name: tensors unless they are None, flags unless they are False.
_TENSORS = frozenset(ATTENTION.tensors) & AttentionOptions.__annotations__.keys()
_FLAGS = frozenset(("keys_rotated", "values_rotated"))
# Options that others look at.
_SEEN_ELSEWHERE = frozenset(("dropout_seed", "dropout_offset", "return_lse", "out"))


def arguments_of(options: AttentionOptions, q: torch.Tensor, v: torch.Tensor) -> dict[str, Any]:
    """Leaves out what says nothing: PyTorch takes its time for each argument that is handed on. Errors: TypeError, ValueError."""
    arguments: dict[str, Any] = {}
    for name, value in options.items():
        if name in _TENSORS:
            if value is not None:
                arguments[name] = as_tensor(value, name)
        elif name in _FLAGS:
            if flag(value, name):
                arguments[name] = True
        elif name == "softcap":
            cap = 0.0 if value is None else number(value, name)
            if cap:
                arguments[name] = cap
        elif name in _TRANSLATIONS:
            _TRANSLATIONS[name](arguments, options, q, v)
        elif name not in _SEEN_ELSEWHERE:
            raise TypeError(f"attention() got an unexpected keyword argument {name!r}")
    return arguments


def _add_rope(arguments: dict[str, Any], options: AttentionOptions, q: torch.Tensor, v: torch.Tensor) -> None:
    rope = options["rope"]
    if rope is not None:
        arguments["inv_freq"] = frequencies(rope, "rope", features(q, "q"))
        if rope.attention_factor != 1:
            arguments["rope_factor"] = rope.attention_factor
        if rope.pairing == "interleaved":
            arguments["interleaved"] = True


def _add_value_rope(arguments: dict[str, Any], options: AttentionOptions, q: torch.Tensor, v: torch.Tensor) -> None:
    value_rope = options["value_rope"]
    if value_rope is not None:
        arguments["value_inv_freq"] = frequencies(value_rope, "value_rope", features(v, "v"))
        if are_interleaved(options.get("rope"), value_rope):
            arguments["interleaved"] = True


def _add_alignment(arguments: dict[str, Any], options: AttentionOptions, q: torch.Tensor, v: torch.Tensor) -> None:
    if choose(options["alignment"], "alignment", ALIGNMENTS) == 1:
        arguments["top_left"] = True


def _add_window(arguments: dict[str, Any], options: AttentionOptions, q: torch.Tensor, v: torch.Tensor) -> None:
    window = options["window"]
    if window is not None:
        if not isinstance(window, (tuple, list)) or len(window) != 2:
            raise TypeError(f"window: got {window!r}, expected None or (left, right), tokens, -1 for unbounded")
        arguments["window_left"], arguments["window_right"] = whole(window[0], "window"), whole(window[1], "window")


def _add_dropout(arguments: dict[str, Any], options: AttentionOptions, q: torch.Tensor, v: torch.Tensor) -> None:
    dropout = 0.0 if options["dropout"] is None else number(options["dropout"], "dropout")
    if dropout:
        arguments["dropout"] = dropout
        arguments["dropout_seed"] = seed(options.get("dropout_seed", 0), "dropout_seed")
        arguments["dropout_offset"] = whole(options.get("dropout_offset", 0), "dropout_offset")


# Options that become other arguments of the operators.
_TRANSLATIONS = {"rope": _add_rope, "value_rope": _add_value_rope, "alignment": _add_alignment, "window": _add_window,
                 "dropout": _add_dropout}
