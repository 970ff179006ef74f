"""Configurations of models as the arguments of Rope."""

import ctypes
from collections.abc import Mapping
from typing import Any

from . import _library
from ._structures import FrequencyRule
from ._values import integer, real

# A rule has these keys; a configuration without a rule of its own has them itself.
_REALS = ("factor", "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "low_freq_factor",
          "high_freq_factor", "partial_rotary_factor")
_COUNTS = ("original_max_position_embeddings", "max_position_embeddings")
_LISTS = ("short_factor", "long_factor")
_OLDER_NAMES = {"su": "longrope", "mrope": "default"}
_RULE_KEYS = {*_REALS, *_COUNTS, *_LISTS, "rope_type", "type", "rope_theta", "truncate", "mrope_section", "mrope_interleaved"}
# What else in a configuration goes by such a name. Which layers do without rotation is no matter of one call.
_MODEL_KEYS = {"rope_theta", "rope_scaling", "rope_parameters", "rope_interleave", "rotary_dim", "rotary_pct", "rotary_emb_base",
               "partial_rotary_factor", "qk_rope_head_dim", "rope_local_base_freq", "no_rope_layers", "no_rope_layer_interval",
               "ignore_keys_at_rope_validation"}


# Models whose rotation the keys of their configuration do not tell.
_OF_THEIR_OWN = {"ernie4_5_vl_moe_text": "it orders its frequencies by axes", "ernie4_5_vl_moe": "it orders its frequencies by axes"}
# What layers of one kind may say for themselves, and the rotation depends on.
_PER_LAYER = ("head_dim", "qk_rope_head_dim", "hidden_size", "num_attention_heads", "partial_rotary_factor")


def _everything(config: Any) -> Mapping[str, Any]:
    if not isinstance(config, Mapping) and not hasattr(config, "__dict__"):
        raise TypeError(f"config: got {type(config).__name__}, expected a model's configuration, or a mapping as in its config.json")
    return config if isinstance(config, Mapping) else config.to_dict() if hasattr(config, "to_dict") else vars(config)


class _Config:
    """A configuration object or a mapping; what is None counts as absent."""

    def __init__(self, config: Any) -> None:
        self.given = config
        everything = _everything(config)
        for key in everything:
            if ("rope" in key or "rotary" in key) and key not in _MODEL_KEYS and everything[key] not in (None, False):
                raise ValueError(f"{key}: is not known, and may change the rotation: give gyre.Rope its arguments")

        self._check_kind()

    def _check_kind(self) -> None:
        """Refuses rotations by other rules than a text's."""
        reason = _OF_THEIR_OWN.get(self.get("model_type") or "")
        if reason is None and self.get("patch_size") is not None and self.get("vocab_size", "text_config") is None:
            reason = "patches of images turn by two axes"
        if reason is not None:
            raise ValueError(f"config: has a rotation of its own ({reason}): give gyre.Rope its arguments")

    def of_layers(self, layer_type: str | None) -> "_Config":
        """What layers of one kind read, in a configuration that tells more of some layers. Errors: ValueError, if they differ among themselves."""
        everything = _everything(self.given)
        per_layer = everything.get("per_layer_config")
        if not per_layer or layer_type is None:
            return self
        own = {int(number): layer for number, layer in per_layer.items()}
        told: dict[str, Any] = {}
        for index, kind in enumerate(everything.get("layer_types") or ()):
            for name in _PER_LAYER if kind == layer_type else ():
                value = own.get(index, {}).get(name, everything.get(name))
                if told.setdefault(name, value) != value:
                    raise ValueError(f"{name}: differs among the layers of kind {layer_type}: give gyre.Rope its arguments")
        return _Config({**everything, **told})

    def get(self, *names: str) -> Any:
        for name in names:
            value = self.given.get(name) if isinstance(self.given, Mapping) else getattr(self.given, name, None)
            if value is not None:
                return value
        return None


def _rule_of(config: _Config, layer_type: str | None) -> dict[str, Any]:
    """The parameters of the rule. Errors: ValueError, if there are several and none is chosen."""
    given = config.get("rope_parameters", "rope_scaling") or {}
    per_layer = {name: rule for name, rule in given.items() if isinstance(rule, Mapping)}
    local = config.get("rope_local_base_freq")  # Gemma 3's, of layers with a window
    if local and not per_layer:
        per_layer = {"full_attention": given, "sliding_attention": {"rope_type": "default", "rope_theta": local}}
    if not per_layer:
        return dict(given)
    if layer_type not in per_layer:
        raise ValueError(f"layer_type: got {layer_type!r}, expected one of {', '.join(per_layer)}")
    return dict(per_layer[layer_type])


def _head_dim(config: _Config) -> int:
    head_dim = config.get("qk_rope_head_dim", "head_dim")  # of a latent head only the former part rotates
    if head_dim:
        return integer(head_dim, "head_dim")
    hidden, heads = config.get("hidden_size", "n_embd"), config.get("num_attention_heads", "n_head")
    if not hidden or not heads:
        raise ValueError("head_dim: got none, expected it, or hidden_size and num_attention_heads")
    return integer(hidden, "hidden_size") // integer(heads, "num_attention_heads")


def _share(config: _Config, share: float) -> float:
    """The part of _head_dim()'s features that turn. Where a latent head tells them by themselves, a share is that of the whole head."""
    rotated, head_dim = config.get("qk_rope_head_dim"), config.get("head_dim")
    if not rotated or share == 1 or head_dim in (None, rotated):
        return share
    if int(head_dim * share) != rotated:
        raise ValueError(f"partial_rotary_factor: got {share} of head_dim {head_dim}, expected what qk_rope_head_dim says, {rotated}")
    return 1.0


def _fill(parameters: Mapping[str, Any], rule: FrequencyRule) -> None:
    for name in _REALS:
        if parameters.get(name) is not None:
            setattr(rule, name, float(parameters[name]))
    for name in _COUNTS:
        if parameters.get(name) is not None:
            setattr(rule, name, integer(parameters[name], name, 64))
    if parameters.get("truncate") is not None:
        rule.truncate = bool(parameters["truncate"])


def _fill_lists(parameters: Mapping[str, Any], rule: FrequencyRule, pairs: int) -> None:
    for name in _LISTS:
        numbers = parameters.get(name)
        if numbers is None:
            continue
        if len(numbers) != pairs:
            raise ValueError(f"{name}: got {len(numbers)} numbers, expected rotary_dim / 2 = {pairs}")
        setattr(rule, name, (ctypes.c_double * pairs)(*numbers))


def read(given: Any, length: int, layer_type: str | None) -> dict[str, Any]:
    """The arguments of Rope: frequencies, pairing, attention factor and sections."""
    config = _Config(given)
    text = config.get("text_config")  # the language part of a model that also sees or hears
    if text is not None:
        config = _Config(text)
    config = config.of_layers(layer_type)
    parameters = _rule_of(config, layer_type)
    for name in parameters.keys() - _RULE_KEYS:
        raise ValueError(f"{name}: is no parameter of a rotary rule that is known")
    for name in (*_COUNTS, "partial_rotary_factor"):
        parameters.setdefault(name, config.get(name))
    name = parameters.get("rope_type") or parameters.get("type") or "default"
    theta = parameters.get("rope_theta")
    theta = config.get("rope_theta", "rotary_emb_base") if theta is None else theta
    theta = 10000.0 if theta is None else real(theta, "rope_theta")
    if theta <= 0:  # which is the library's word for not given
        raise ValueError(f"rope_theta: got {theta:g}, expected a finite number >= 1")
    head_dim = _head_dim(config)
    share = _share(config, parameters["partial_rotary_factor"] or config.get("rotary_pct") or 1.0)
    explicit = config.get("rotary_dim")
    whole = _OLDER_NAMES.get(name, name) == "proportional"  # the rule itself leaves features as they are
    rotary_dim = integer(explicit, "rotary_dim") if explicit else head_dim if whole else int(head_dim * share)

    rule = FrequencyRule(rope_type=_OLDER_NAMES.get(name, name).encode(), rope_theta=theta)
    _fill(parameters, rule)
    _fill_lists(parameters, rule, rotary_dim // 2)
    frequencies = (ctypes.c_double * max(rotary_dim // 2, 1))()
    factor = ctypes.c_double()
    _library.check(_library.library.gyre_frequencies(rule, rotary_dim, head_dim, integer(length, "length", 64), frequencies,
                                                     factor))
    interleaved = config.get("rope_interleave") or config.get("model_type") in ("gptj", "roformer")
    return {"inv_freq": list(frequencies), "rotary_dim": rotary_dim, "attention_factor": factor.value,
            "pairing": "interleaved" if interleaved else "half", "sections": parameters.get("mrope_section") or (),
            "section_order": "interleaved" if parameters.get("mrope_interleaved") else "contiguous"}
