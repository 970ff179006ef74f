"""Options of attention() as the words that the operators take."""

from typing import Any, TypedDict

import torch

from .. import Rope
from .._values import ALIGNMENTS, choose
from ._frequencies import frequencies, same_pairing


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


# Options that the operators take under the same name: tensors unless they are None, and numbers unless they are 0.
_TENSORS = frozenset("bias mask prepared_mask sinks alibi seqused_k cu_seqlens_q cu_seqlens_k block_table q_positions k_positions".split())
_NUMBERS = frozenset("softcap keys_rotated values_rotated".split())
# Options that others look at.
_SEEN_ELSEWHERE = frozenset("dropout_seed dropout_offset return_lse out".split())


def words_of(options: AttentionOptions, q: torch.Tensor, v: torch.Tensor) -> dict[str, Any]:
    """Leaves out what says nothing: PyTorch takes its time for each argument that is handed on. Errors: TypeError, ValueError."""
    words: dict[str, Any] = {}
    for name, value in options.items():
        if name in _TENSORS:
            if value is not None:
                words[name] = value
        elif name in _NUMBERS:
            if value:
                words[name] = value
        elif name in _TRANSLATIONS:
            _TRANSLATIONS[name](words, options, q, v)
        elif name not in _SEEN_ELSEWHERE:
            raise TypeError(f"attention() got an unexpected keyword argument {name!r}")
    return words


def _add_rope(words: dict[str, Any], options: AttentionOptions, q: torch.Tensor, v: torch.Tensor) -> None:
    rope = options["rope"]
    if rope is not None:
        words["inv_freq"] = frequencies(rope, "rope", q.size(-1))
        if rope.attention_factor != 1:
            words["rope_factor"] = rope.attention_factor
        if rope.pairing == "interleaved":
            words["interleaved"] = True


def _add_value_rope(words: dict[str, Any], options: AttentionOptions, q: torch.Tensor, v: torch.Tensor) -> None:
    value_rope = options["value_rope"]
    if value_rope is not None:
        words["value_inv_freq"] = frequencies(value_rope, "value_rope", v.size(-1))
        if same_pairing(options.get("rope"), value_rope)["interleaved"]:
            words["interleaved"] = True


def _add_alignment(words: dict[str, Any], options: AttentionOptions, q: torch.Tensor, v: torch.Tensor) -> None:
    if choose(options["alignment"], "alignment", ALIGNMENTS) == 1:
        words["top_left"] = True


def _add_window(words: dict[str, Any], options: AttentionOptions, q: torch.Tensor, v: torch.Tensor) -> None:
    window = options["window"]
    if window is not None:
        if not isinstance(window, (tuple, list)) or len(window) != 2:
            raise TypeError(f"window: got {window!r}, expected None or (left, right), tokens, -1 for unbounded")
        words["window_left"], words["window_right"] = window


def _add_dropout(words: dict[str, Any], options: AttentionOptions, q: torch.Tensor, v: torch.Tensor) -> None:
    if options["dropout"]:
        words["dropout"] = options["dropout"]
        seed = options.get("dropout_seed", 0)
        # The operators have seeds of 64 bits with a sign.
        words["dropout_seed"] = seed - 2**64 if type(seed) is int and 2**63 <= seed < 2**64 else seed
        words["dropout_offset"] = options.get("dropout_offset", 0)


# Options that become other words of the operators.
_TRANSLATIONS = {"rope": _add_rope, "value_rope": _add_value_rope, "alignment": _add_alignment, "window": _add_window,
                 "dropout": _add_dropout}
