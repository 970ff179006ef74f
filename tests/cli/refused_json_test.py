"""Rotary settings that gyre must not accept, most of all those that would silently change a model."""

import json
import os

from harness import GyreTest


class RefusedJson(GyreTest):
    def refuse_rope(self, naming, rope, *options):
        text = rope if isinstance(rope, str) else json.dumps(rope)
        with self.subTest(rope=text):
            self.refuse(f"--rope {naming}", "frequencies", "--rope", text, "--head-dim", 64, "--out", "f.npy", *options)

    def test_not_json(self):
        for text in ("nonsense", "{", '{"rope_type": "linear", }', "yarn"):
            self.refuse_rope("JSON", text)

    def test_not_an_object(self):
        for text in ("[]", "3", "null", '"yarn"', "{}"):
            self.refuse_rope("object", text)

    def test_files(self):
        self.refuse_rope("@missing.json no such file", "@missing.json")
        self.refuse_rope("@", "@")
        with open(self.path("broken.json"), "w") as file:
            file.write("{\n\n")
        self.refuse_rope("@broken.json JSON", "@broken.json")

        os.mkdir(self.path("folder"))
        self.refuse_rope("@folder directory", "@folder")
        with open(self.path("large.json"), "w") as file:
            file.write('{"rope_type": "default"}' + " " * (16 << 20))
        self.refuse_rope("@large.json 16", "@large.json")

    def test_nesting_deeper_than_any_configuration_s(self):
        deep = "[" * 200_000 + "]" * 200_000
        for name, text in (
            ("number", '{"rope_type": "linear", "factor": ' + deep + "}"),
            ("unused", '{"model_type": "m", "layers": ' + deep + "}"),
            ("open", "[" * 200_000),
            ("objects", '{"factor": ' * 100_000 + "1" + "}" * 100_000),
        ):
            with open(self.path(f"{name}.json"), "w") as file:
                file.write(text)
            self.refuse_rope(f"@{name}.json nested deeper", f"@{name}.json")

    def test_two_entries_of_one_name(self):
        self.refuse_rope('two "factor"', '{"rope_type": "linear", "factor": 2, "factor": 4}')
        self.refuse_rope('two "type"', '{"model_type": "m", "rope_scaling": {"type": "linear", "factor": 2, "type": "dynamic"}}')
        self.refuse_rope(
            'two "model_type"', '{"model_type": "m", "rope_scaling": {"type": "linear", "factor": 2}, "model_type": "n"}'
        )
        self.refuse_rope('two "unused"', '{"model_type": "m", "rope_theta": 10000, "unused": 1, "unused": 1}')

    def test_one_name_in_two_objects(self):
        rope = {"rope_theta": 10000, "text_config": {"rope_theta": 500000, "head_dim": 64}}
        self.succeed("frequencies", "--rope", json.dumps(rope), "--head-dim", 64, "--out", "f.npy")

    def test_unknown_rules_and_keys(self):
        self.refuse_rope("nonsense", {"rope_type": "nonsense"})
        self.refuse_rope("fator", {"rope_type": "linear", "fator": 4, "factor": 4})
        self.refuse_rope("alpha", {"rope_type": "dynamic", "alpha": 1000, "factor": 1})
        self.refuse_rope("rope_local_base_freq", {"model_type": "gemma3_text", "rope_local_base_freq": 10000})
        self.refuse_rope("fator", {"model_type": "m", "rope_scaling": {"rope_type": "linear", "fator": 2}})
        self.refuse_rope(
            "full_attention",
            {
                "model_type": "m",
                "rope_parameters": {
                    "sliding_attention": {"rope_type": "default"},
                    "full_attention": {"rope_type": "default"},
                },
            },
        )

    def test_a_rule_without_its_name(self):
        self.refuse_rope("rope_type", {"factor": 4})
        self.refuse_rope("rope_type", {"model_type": "m", "rope_scaling": {"factor": 4}})

    def test_missing_parameters(self):
        self.refuse_rope("factor", {"rope_type": "linear"})
        self.refuse_rope(
            "low_freq_factor",
            {"rope_type": "llama3", "factor": 8, "high_freq_factor": 4, "original_max_position_embeddings": 8192},
        )
        self.refuse_rope("original_max_position_embeddings", {"rope_type": "yarn", "factor": 8})

    def test_impossible_parameters(self):
        self.refuse_rope("factor", {"rope_type": "linear", "factor": 0})
        self.refuse_rope("factor", {"rope_type": "linear", "factor": -4})
        for key in ("rope_theta", "attention_factor", "beta_fast"):  # to the library 0 means its default
            self.refuse_rope(f'"{key}" 0.0 >', {"rope_type": "yarn", "factor": 2, key: 0.0})
        self.refuse_rope("factor", {"rope_type": "linear", "factor": "4"})
        self.refuse_rope("factor", {"rope_type": "linear", "factor": [4]})
        self.refuse_rope("rope_theta", {"rope_type": "default", "rope_theta": True})
        self.refuse_rope("rope_type", {"rope_type": 3})
        self.refuse_rope("truncate", {"rope_type": "yarn", "factor": 4, "truncate": 1})
        self.refuse_rope(
            "original_max_position_embeddings",
            {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 0.5},
        )
        self.refuse_rope(
            "original_max_position_embeddings whole",
            {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 8192.5},
        )
        self.refuse_rope("partial_rotary_factor", {"rope_type": "default", "partial_rotary_factor": 1.5})
        self.refuse_rope("partial_rotary_factor", {"rope_type": "default", "partial_rotary_factor": 0.02})
        self.refuse_rope("rope_scaling", {"model_type": "m", "rope_scaling": "yarn"})
        self.refuse_rope("mrope_section", {"rope_type": "default", "mrope_section": "16"})

    def test_lists_of_the_wrong_length(self):
        rule = {
            "rope_type": "longrope",
            "short_factor": [1.0] * 31,
            "long_factor": [1.0] * 32,
            "factor": 2,
            "original_max_position_embeddings": 4096,
        }
        self.refuse_rope("short_factor 31 32", rule)
        self.refuse_rope("long_factor", dict(rule, short_factor=[1.0] * 32, long_factor=["1"] * 32))

    def test_another_head_dim(self):
        self.refuse_rope("head_dim 128 64", {"model_type": "m", "head_dim": 128})

    def test_an_odd_head(self):
        self.refuse(
            "--head-dim 7", "frequencies", "--rope", '{"rope_type": "default"}', "--head-dim", 7, "--out", "f.npy"
        )
