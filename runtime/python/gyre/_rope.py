"""Rotations: which features turn, and by which angles."""

import ctypes
from ctypes import pointer
from typing import Any, Sequence

from . import _rope_config
from ._arrays import view
from ._structures import MAX_AXES, RopeFields
from ._values import choose, each, integer, real

PAIRINGS = {"half": 0, "interleaved": 1}
FREQUENCY_BASES = {"rotary_dim": 0, "head_dim": 1}
SECTION_ORDERS = {"contiguous": 0, "interleaved": 1}


class Rope:
    """A rotation of the features rotary_offset .. rotary_offset + rotary_dim - 1 of a head.

    theta             base of the geometric series of frequencies, theta^(-2i / D) radians a token, >= 1
    rotary_dim        even; 0: the head from rotary_offset to its end, or twice the number of frequencies
    rotary_offset     the first rotated feature; attention takes 0 only
    pairing           "half": features i and i + rotary_dim / 2 turn together; "interleaved": 2i and 2i + 1
    inv_freq          frequencies instead of theta's, [rotary_dim / 2], radians a token
    attention_factor  multiplies cosines and sines of queries and keys
    cos, sin          tables instead of frequencies, [rows, rotary_dim / 2], read at the position; or, for rotary() only, a row
                      a token, [batch, seqlen, rotary_dim / 2]; float32, float16 or bfloat16, any strides. Not copied
    frequency_base    D: "rotary_dim" or "head_dim"
    sections          M-RoPE: how many pairs read each of 2 to 4 axes of positions
    section_order     "contiguous" or "interleaved"

    Errors: ValueError, TypeError. What depends on the head is checked by the calls that take the rotation.
    """

    def __init__(self, theta: float = 10000.0, *, rotary_dim: int = 0, rotary_offset: int = 0, pairing: str = "half",
                 inv_freq: Any = None, attention_factor: float = 1.0, cos: Any = None, sin: Any = None,
                 frequency_base: str = "rotary_dim", sections: Sequence[int] = (), section_order: str = "contiguous") -> None:
        fields = RopeFields(theta=real(theta, "theta"), rotary_offset=integer(rotary_offset, "rotary_offset"),
                            pairing=choose(pairing, "pairing", PAIRINGS),
                            attention_factor=real(attention_factor, "attention_factor"),
                            frequency_base=choose(frequency_base, "frequency_base", FREQUENCY_BASES),
                            section_order=choose(section_order, "section_order", SECTION_ORDERS))
        self.inv_freq = None if inv_freq is None else tuple(real(f, "inv_freq") for f in each(inv_freq, "inv_freq"))
        rotary_dim = integer(rotary_dim, "rotary_dim")
        if self.inv_freq is not None:
            rotary_dim = rotary_dim or 2 * len(self.inv_freq)
            if rotary_dim != 2 * len(self.inv_freq):
                raise ValueError(f"inv_freq: got {len(self.inv_freq)} frequencies, expected rotary_dim / 2 = {rotary_dim // 2}")
            fields.inv_freq = (ctypes.c_double * len(self.inv_freq))(*self.inv_freq)
        fields.rotary_dim = rotary_dim
        sections = each(sections, "sections")
        if len(sections) > MAX_AXES:
            raise ValueError(f"sections: got {len(sections)}, expected at most {MAX_AXES}")
        fields.axes = len(sections)
        fields.sections[: len(sections)] = [integer(n, "sections") for n in sections]
        self._tables = [None if table is None else view(table, f"rope.{name}") for name, table in (("cos", cos), ("sin", sin))]
        for name, table in zip(("cos", "sin"), self._tables):
            if table is not None:
                setattr(fields, name, pointer(table.tensor(f"rope.{name}")))
        self.pairing = pairing
        self.has_tables = cos is not None or sin is not None
        self.axes = fields.axes
        self.over_rotary_dim = fields.frequency_base == 0
        self.attention_factor = fields.attention_factor
        self.theta = fields.theta
        self.rotary_dim = rotary_dim
        self.rotary_offset = fields.rotary_offset
        self._fields = fields

    @classmethod
    def from_config(cls, config: Any, *, length: int = 0, layer_type: str | None = None) -> "Rope":
        """The rotation of a model's configuration: a Hugging Face configuration object, or a mapping as in its config.json.

        length      tokens of the sequence, which rules "dynamic" and "longrope" read; 0: not known
        layer_type  which rule, where a configuration has one for each kind of layer, such as "sliding_attention"

        Errors: ValueError (an unknown rule, a missing or impossible parameter), TypeError.
        """
        return cls(**_rope_config.read(config, length, layer_type))

    def __repr__(self) -> str:
        words = [f"theta={self.theta:g}"] if self.inv_freq is None else [f"inv_freq=[{len(self.inv_freq)} frequencies]"]
        if self._tables[0] is not None:
            words = ["cos=…", "sin=…"]
        if self.rotary_dim:
            words.append(f"rotary_dim={self.rotary_dim}")
        if self.pairing != "half":
            words.append(f"pairing={self.pairing!r}")
        if self.attention_factor != 1:
            words.append(f"attention_factor={self.attention_factor:g}")
        return f"gyre.Rope({', '.join(words)})"


def fields_of(rope: Rope | None, name: str) -> RopeFields | None:
    """Errors: TypeError, if it is no Rope."""
    if rope is None:
        return None
    if not isinstance(rope, Rope):
        raise TypeError(f"{name}: got {type(rope).__name__}, expected a gyre.Rope or None")
    return rope._fields


def pointer_to(rope: Rope | None, name: str) -> Any:
    """Of an argument structure's field."""
    fields = fields_of(rope, name)
    return None if fields is None else pointer(fields)


