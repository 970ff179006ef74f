"""Rotations: which features turn, and by which angles."""

import ctypes
import functools
from collections.abc import Sequence
from ctypes import pointer
from typing import Any

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

    Its attributes are there to be read: a rotation does not change.
    Errors: ValueError, TypeError. What depends on the head is checked by the calls that take the rotation.
    """

    def __init__(self, theta: float = 10000.0, *, rotary_dim: int = 0, rotary_offset: int = 0, pairing: str = "half",
                 inv_freq: Any = None, attention_factor: float = 1.0, cos: Any = None, sin: Any = None,
                 frequency_base: str = "rotary_dim", sections: Sequence[int] = (), section_order: str = "contiguous") -> None:
        self.theta = real(theta, "theta")
        self.rotary_offset = integer(rotary_offset, "rotary_offset")
        self.pairing = pairing
        self.attention_factor = real(attention_factor, "attention_factor")
        self.over_rotary_dim = choose(frequency_base, "frequency_base", FREQUENCY_BASES) == 0
        self.inv_freq = None if inv_freq is None else tuple([real(f, "inv_freq") for f in each(inv_freq, "inv_freq")])
        self.rotary_dim = integer(rotary_dim, "rotary_dim")
        if self.inv_freq is not None:
            if not self.inv_freq:
                raise ValueError("inv_freq: got no frequencies, expected at least one")
            self.rotary_dim = self.rotary_dim or 2 * len(self.inv_freq)
            if self.rotary_dim != 2 * len(self.inv_freq):
                raise ValueError(f"inv_freq: got {len(self.inv_freq)} frequencies, expected rotary_dim / 2 = {self.rotary_dim // 2}")
        self.sections = tuple([integer(n, "sections") for n in each(sections, "sections")])
        if len(self.sections) > MAX_AXES:
            raise ValueError(f"sections: got {len(self.sections)}, expected at most {MAX_AXES}")
        self.axes = len(self.sections)
        self.has_tables = cos is not None or sin is not None
        self._tables = (None if cos is None else view(cos, "cos"), None if sin is None else view(sin, "sin"))
        self._numbers = {"pairing": choose(pairing, "pairing", PAIRINGS),
                         "section_order": choose(section_order, "section_order", SECTION_ORDERS)}
        self.kept: dict[Any, Any] = {}  # what a framework makes of it, such as tensors of frequencies
        # Numbers as text, exactly: what torch.compile compares, and takes as constants.
        self.words = repr(self.theta) if self.inv_freq is None else " ".join([repr(f) for f in self.inv_freq])

    @functools.cached_property
    def _fields(self) -> RopeFields:
        """The library's structure, once a call wants it: torch.compile traces the construction of a Rope, but no addresses."""
        fields = RopeFields(theta=self.theta, rotary_dim=self.rotary_dim, rotary_offset=self.rotary_offset,
                            attention_factor=self.attention_factor, frequency_base=FREQUENCY_BASES["rotary_dim" if self.over_rotary_dim else "head_dim"],
                            axes=self.axes, **self._numbers)
        fields.sections[: self.axes] = self.sections
        if self.inv_freq is not None:
            fields.inv_freq = (ctypes.c_double * len(self.inv_freq))(*self.inv_freq)
        for name, table in zip(("cos", "sin"), self._tables):
            if table is not None:
                setattr(fields, name, pointer(table.tensor(f"rope.{name}")))
        return fields

    def __getstate__(self) -> dict[str, Any]:
        """For copies and files, of modules that hold a rotation, say. Errors: TypeError, with tables."""
        if self.has_tables:
            raise TypeError("rope: has tables, whose memory it does not own: it cannot be copied or stored")
        return {name: value for name, value in self.__dict__.items() if name != "_fields"} | {"kept": {}}

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
    """Returns what an argument structure's field points to: the rotation, or None."""
    fields = fields_of(rope, name)
    return None if fields is None else pointer(fields)


