"""gyre frequencies, and how it reads the configurations of models."""

import json

import numpy as np

import reference
from harness import GyreTest


class Frequencies(GyreTest):
    def frequencies(self, config, *options):
        text = config if isinstance(config, str) else json.dumps(config)
        report = self.succeed_json("frequencies", "--rope", text, "--out", "f.npy", *options)
        inv_freq = self.load("f.npy")
        self.assertEqual((inv_freq.dtype, inv_freq.ndim), (np.float64, 1))
        return inv_freq, report["attention_factor"]

    def check(self, config, expected, *options):
        inv_freq, attention_factor = self.frequencies(config, *options)
        np.testing.assert_allclose(inv_freq, expected, rtol=1e-12)
        self.assertEqual(attention_factor, 1)

    def test_default(self):
        self.check({"rope_type": "default"}, reference.geometric(64), "--head-dim", 64)
        self.check({"rope_theta": 500000.0}, reference.geometric(64, 500000), "--head-dim", 64)

    def test_linear_under_either_name(self):
        for key in ("type", "rope_type"):
            self.check({key: "linear", "factor": 8}, reference.geometric(64) / 8, "--head-dim", 64)

    def test_text_names_the_attention_factor(self):
        text = self.succeed("frequencies", "--rope", '{"rope_type": "default"}', "--head-dim", 8, "--out", "f.npy")
        self.assertEqual(text, "attention_factor 1.0\n")

    def test_nothing_to_write(self):
        self.refuse("--out missing, and --c too", "frequencies", "--rope", '{"rope_type": "default"}', "--head-dim", 8)
        self.refuse("file", "frequencies", "--rope", '{"rope_type": "default"}', "--head-dim", 8, "--out", "f", "--c", "f")

    def test_from_a_file(self):
        with open(self.path("config.json"), "w") as file:
            json.dump({"rope_type": "linear", "factor": 2.0}, file)
        self.check("@config.json", reference.geometric(16) / 2, "--head-dim", 16)

    def test_a_whole_configuration(self):
        config = {
            "model_type": "llama",
            "vocab_size": 32000,
            "hidden_act": "silu",
            "hidden_size": 512,
            "num_attention_heads": 8,
            "max_position_embeddings": 4096,
            "rope_theta": 1e6,
            "rope_scaling": {"type": "linear", "factor": 4.0},
        }
        self.check(config, reference.geometric(64, 1e6) / 4)
        self.check(dict(config, head_dim=128), reference.geometric(128, 1e6) / 4, "--head-dim", 128)
        self.check(dict(config, rope_scaling=None), reference.geometric(64, 1e6))

    def test_a_newer_whole_configuration(self):
        config = {
            "model_type": "llama",
            "head_dim": 32,
            "rope_parameters": {"rope_type": "linear", "rope_theta": 5000, "factor": 4},
        }
        self.check(config, reference.geometric(32, 5000) / 4)
        self.check({"text_config": config, "vision_config": {"hidden_size": 1}}, reference.geometric(32, 5000) / 4)

    def test_partial_rotation(self):
        self.check({"rope_type": "default", "partial_rotary_factor": 0.25}, reference.geometric(16), "--head-dim", 64)
        self.check(
            {"model_type": "gpt_neox", "rotary_pct": 0.25, "rotary_emb_base": 20000},
            reference.geometric(16, 20000),
            "--head-dim",
            64,
        )

    def test_llama3(self):
        rule = {
            "rope_type": "llama3",
            "rope_theta": 500000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        }
        plain = reference.geometric(128, 500000)
        turns = 8192 * plain / (2 * np.pi)
        blend = np.clip((turns - 1) / (4 - 1), 0, 1)
        self.check(rule, blend * plain + (1 - blend) * plain / 8, "--head-dim", 128)

    def test_dynamic_depends_on_the_length(self):
        rule = {"rope_type": "dynamic", "factor": 2.0, "max_position_embeddings": 2048}
        self.check(rule, reference.geometric(64), "--head-dim", 64)
        self.check(rule, reference.geometric(64), "--head-dim", 64, "--length", 2048)
        theta = 10000 * (2 * 8192 / 2048 - 1) ** (64 / 62)
        self.check(rule, reference.geometric(64, theta), "--head-dim", 64, "--length", 8192)

    def test_longrope_chooses_its_factors_by_the_length(self):
        short, long = list(np.linspace(1, 2, 8)), list(np.linspace(3, 9, 8))
        rule = {
            "type": "su",
            "short_factor": short,
            "long_factor": long,
            "attention_factor": 1.5,
            "original_max_position_embeddings": 4096,
            "max_position_embeddings": 8192,
        }
        for length, factors in ((4096, short), (4097, long)):
            inv_freq, attention_factor = self.frequencies(rule, "--head-dim", 16, "--length", length)
            np.testing.assert_allclose(inv_freq, reference.geometric(16) / factors, rtol=1e-12)
            self.assertEqual(attention_factor, 1.5)

    def test_yarn_keeps_the_fast_pairs_and_stretches_the_slow_ones(self):
        rule = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
        inv_freq, attention_factor = self.frequencies(rule, "--head-dim", 128)
        plain = reference.geometric(128)
        np.testing.assert_allclose(inv_freq[0], plain[0], rtol=1e-12)
        np.testing.assert_allclose(inv_freq[-1], plain[-1] / 4, rtol=1e-12)
        self.assertAlmostEqual(attention_factor, 0.1 * np.log(4) + 1, places=12)
