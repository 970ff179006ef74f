#!/usr/bin/env python3
"""Writes frequencies.inc: golden frequencies from Hugging Face transformers, for frequencies_test.cpp.

    python3 make_frequencies.py > frequencies.inc          needs: transformers, torch

transformers computes in float32. Its functions run here a second time with torch's float32 replaced by float64, so that
the same formulas give numbers that a double implementation must meet; both results have to agree to float32's accuracy.
"""
import struct
import sys
import textwrap

import torch
import transformers
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

SHORT = [1.0 + 0.05 * i for i in range(16)]
LONG = [1.0 + 0.75 * i for i in range(16)]

# name, rope_parameters, rotary_dim, head_dim, length (0: not known), max_position_embeddings
CASES = [
    ("default", dict(rope_type="default"), 64, 64, 0, 4096),
    ("default, theta 500000, partial", dict(rope_type="default", rope_theta=500000.0), 32, 128, 0, 4096),
    ("linear", dict(rope_type="linear", factor=4.0), 32, 32, 0, 4096),
    ("dynamic, length unknown", dict(rope_type="dynamic", factor=2.0), 32, 32, 0, 2048),
    ("dynamic, length within", dict(rope_type="dynamic", factor=2.0), 32, 32, 100, 2048),
    ("dynamic, length beyond", dict(rope_type="dynamic", factor=2.5), 32, 64, 10000, 2048),
    ("yarn", dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=4096), 64, 64, 0, 16384),
    ("yarn, not truncated", dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=4096, truncate=False),
     64, 64, 0, 16384),
    ("yarn, betas, partial", dict(rope_type="yarn", factor=16.0, original_max_position_embeddings=2048, beta_fast=20.0,
                                  beta_slow=2.0, rope_theta=150000.0), 32, 64, 0, 32768),
    ("yarn, mscale", dict(rope_type="yarn", factor=40.0, original_max_position_embeddings=4096, mscale=1.0,
                          mscale_all_dim=0.707), 64, 64, 0, 163840),
    ("yarn, mscale alone", dict(rope_type="yarn", factor=40.0, original_max_position_embeddings=4096, mscale=1.3),
     32, 32, 0, 163840),
    ("yarn, attention factor", dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=4096,
                                    attention_factor=1.25), 32, 32, 0, 16384),
    ("yarn, factor from lengths", dict(rope_type="yarn", factor=None, original_max_position_embeddings=4096),
     32, 32, 0, 24576),
    ("yarn, ramp of no width", dict(rope_type="yarn", factor=2.0, original_max_position_embeddings=6), 32, 32, 0, 12),
    ("yarn, ramp beyond the head", dict(rope_type="yarn", factor=2.0, original_max_position_embeddings=3), 32, 32, 0, 6),
    ("longrope, length unknown", dict(rope_type="longrope", short_factor=SHORT, long_factor=LONG, factor=8.0,
                                      original_max_position_embeddings=4096), 32, 32, 0, 32768),
    ("longrope, at the trained length", dict(rope_type="longrope", short_factor=SHORT, long_factor=LONG, factor=8.0,
                                             original_max_position_embeddings=4096), 32, 32, 4096, 32768),
    ("longrope, beyond", dict(rope_type="longrope", short_factor=SHORT, long_factor=LONG,
                              original_max_position_embeddings=4096), 32, 64, 4097, 131072),
    ("longrope, attention factor", dict(rope_type="longrope", short_factor=SHORT, long_factor=LONG, factor=8.0,
                                        attention_factor=1.19, original_max_position_embeddings=4096),
     32, 32, 5000, 32768),
    ("llama3", dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, rope_theta=500000.0,
                    original_max_position_embeddings=8192), 128, 128, 0, 131072),
    ("llama3, partial", dict(rope_type="llama3", factor=32.0, low_freq_factor=2.0, high_freq_factor=8.0,
                             rope_theta=10000.0, original_max_position_embeddings=1024), 32, 64, 0, 131072),
    ("proportional", dict(rope_type="proportional", rope_theta=1000000.0, partial_rotary_factor=0.25), 64, 64, 0, 4096),
    ("proportional, whole head, factor", dict(rope_type="proportional", factor=8.0), 32, 32, 0, 4096),
    ("proportional, odd share", dict(rope_type="proportional", partial_rotary_factor=0.3), 32, 32, 0, 4096),
]

FIELDS = ["rope_theta", "factor", "original_max_position_embeddings", "max_position_embeddings", "attention_factor",
          "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate", "low_freq_factor", "high_freq_factor",
          "partial_rotary_factor"]


def config_of(parameters, rotary_dim, head_dim, max_position_embeddings):
    parameters = dict(parameters)
    parameters.setdefault("rope_theta", 10000.0)
    if parameters["rope_type"] == "default":
        head_dim = rotary_dim  # Llama's own function always rotates the whole head
    elif parameters["rope_type"] != "proportional":
        parameters["partial_rotary_factor"] = rotary_dim / head_dim
    return LlamaConfig(hidden_size=4 * head_dim, num_attention_heads=4, head_dim=head_dim,
                       max_position_embeddings=max_position_embeddings, rope_parameters=parameters)


def transformers_says(config, length):
    rule = config.rope_parameters["rope_type"]
    if rule == "default":
        inv_freq, attention_factor = LlamaRotaryEmbedding.compute_default_rope_parameters(config)
    else:
        inv_freq, attention_factor = ROPE_INIT_FUNCTIONS[rule](config, torch.device("cpu"), seq_len=length or None)
    return inv_freq.tolist(), float(attention_factor)


class DoubleInsteadOfFloat:
    """torch whose float32 is float64, for as long as transformers looks its names up."""

    def __enter__(self):
        self.kept = torch.float, torch.float32, torch.Tensor.float
        torch.float = torch.float32 = torch.float64
        torch.Tensor.float = torch.Tensor.double

    def __exit__(self, *unused):
        torch.float, torch.float32, torch.Tensor.float = self.kept


def main():
    print(f"// Written by make_frequencies.py from transformers {transformers.__version__}. Do not edit.")
    print("// name, rope_type, sets what is given, short_factor, long_factor, rotary_dim, head_dim, length,")
    print("// attention_factor, inv_freq")
    for name, parameters, rotary_dim, head_dim, length, max_position_embeddings in CASES:
        config = config_of(parameters, rotary_dim, head_dim, max_position_embeddings)
        single, _ = transformers_says(config, length)
        with DoubleInsteadOfFloat():
            inv_freq, attention_factor = transformers_says(config, length)
        assert len(inv_freq) == rotary_dim // 2, name
        assert any(f != struct.unpack("f", struct.pack("f", f))[0] for f in inv_freq), f"{name}: not in double"
        assert all(abs(a - b) <= 1e-5 * abs(b) for a, b in zip(single, inv_freq)), f"{name}: float32 disagrees"

        given = dict(parameters, max_position_embeddings=max_position_embeddings)
        fields = " ".join(f"r.{f} = {given[f] + 0};" for f in FIELDS if given.get(f) is not None)
        lists = [", ".join(map(repr, given.get(key, []))) for key in ("short_factor", "long_factor")]
        print(f'{{"{name}", "{parameters["rope_type"]}", [](gyre_frequency_rule &r) {{ {fields} }},')
        print(f" {{{lists[0]}}}, {{{lists[1]}}},\n {rotary_dim}, {head_dim}, {length}, {attention_factor!r},")
        print(textwrap.fill("{" + ", ".join(map(repr, inv_freq)) + "}},", 118, initial_indent=" ",
                            subsequent_indent="  "))


if __name__ == "__main__":
    sys.exit(main())
