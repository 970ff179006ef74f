"""gyre.Rope.from_config() against the formulas of the rules, and against transformers where it is installed.

    python rope_config_test.py
"""

import importlib
import inspect
import math
import pkgutil
import types
import unittest

import gyre
import numpy as np


def geometric(dim, theta):
    return theta ** (-np.arange(0, dim, 2) / dim)


LLAMA3 = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 8192}


def llama3(dim):
    found = []
    for f in geometric(dim, 500000.0):
        turns = 8192 * f / (2 * math.pi)
        smooth = min(max((turns - 1) / 3, 0), 1)
        found.append(f * (smooth + (1 - smooth) / 8))
    return found


def embeddings_of_transformers():
    """(name, configuration, kind of layers or None, frequencies, attention factor) of every rotary embedding, as its class makes it."""
    from transformers import models

    for package in sorted(module.name for module in pkgutil.iter_modules(models.__path__)):
        try:
            module = importlib.import_module(f"transformers.models.{package}.modeling_{package}")
        except ImportError:
            continue
        for name, found in sorted(vars(module).items()):
            if not name.endswith("RotaryEmbedding") or getattr(found, "__module__", None) != module.__name__:
                continue
            try:
                config = inspect.signature(found).parameters["config"].annotation()
                made = found(config)
            except (KeyError, TypeError, ValueError, AttributeError, RuntimeError):  # it wants more than its defaults
                continue
            for buffer, frequencies in made.named_buffers():
                kind = buffer.removesuffix("inv_freq").rstrip("_")
                if buffer.endswith("inv_freq") and "original" not in kind:
                    factor = getattr(made, f"{kind}_attention_scaling" if kind else "attention_scaling", None)
                    yield f"{package}.{name}.{buffer}", config, kind or None, frequencies.double().numpy().ravel(), factor


class FromConfig(unittest.TestCase):
    def check(self, config, inv_freq, pairing="half", **options):
        for given in (config, types.SimpleNamespace(**config)):
            rope = gyre.Rope.from_config(given, **options)
            np.testing.assert_allclose(rope.inv_freq, inv_freq, rtol=1e-12)
            self.assertEqual(rope.pairing, pairing)
            self.assertEqual(rope.rotary_dim, 2 * len(inv_freq))

    def test_older_and_newer_configurations(self):
        size = {"hidden_size": 512, "num_attention_heads": 8}
        self.check(size, geometric(64, 10000.0))
        self.check({**size, "rope_theta": 5e5, "rope_scaling": None}, geometric(64, 5e5))
        self.check({**size, "head_dim": 32, "rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}},
                   geometric(32, 1e4) / 4)
        self.check({**size, "rope_theta": 1e4, "rope_scaling": {"type": "linear", "factor": 2.0}}, geometric(64, 1e4) / 2)
        self.check({**size, "max_position_embeddings": 131072, "rope_parameters": LLAMA3}, llama3(64))

    def test_parts_of_the_head(self):
        self.check({"hidden_size": 512, "num_attention_heads": 8, "rotary_pct": 0.25, "rotary_emb_base": 500.0}, geometric(16, 500.0))
        self.check({"n_embd": 256, "n_head": 4, "rotary_dim": 32, "model_type": "gptj"}, geometric(32, 10000.0), "interleaved")
        self.check({"qk_rope_head_dim": 16, "head_dim": 64, "rope_interleave": True}, geometric(16, 10000.0), "interleaved")

    def test_a_rule_for_each_kind_of_layer(self):
        config = {"head_dim": 64, "rope_parameters": {"full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0},
                                                      "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}}
        self.check(config, geometric(64, 1e6) / 8, layer_type="full_attention")
        self.check(config, geometric(64, 1e4), layer_type="sliding_attention")
        older = {"head_dim": 64, "rope_theta": 1e6, "rope_local_base_freq": 1e4}
        self.check(older, geometric(64, 1e6), layer_type="full_attention")
        self.check(older, geometric(64, 1e4), layer_type="sliding_attention")
        for each in (config, older):
            with self.assertRaisesRegex(ValueError, "layer_type: got None, expected one of full_attention"):
                gyre.Rope.from_config(each)

    def test_layers_with_heads_of_their_own(self):
        config = {"head_dim": 256, "layer_types": ["sliding_attention", "full_attention", "full_attention"],
                  "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
                                      "full_attention": {"rope_type": "default", "rope_theta": 1e6}},
                  "per_layer_config": {"01": {"head_dim": 512}, "02": {"head_dim": 512, "num_key_value_heads": 2}}}
        self.check(config, geometric(256, 1e4), layer_type="sliding_attention")
        self.check(config, geometric(512, 1e6), layer_type="full_attention")
        config["per_layer_config"] = {"02": {"head_dim": 512}}
        with self.assertRaisesRegex(ValueError, "head_dim: differs among the layers of kind full_attention"):
            gyre.Rope.from_config(config, layer_type="full_attention")

    def test_shares_of_latent_heads(self):
        latent = {"head_dim": 256, "qk_rope_head_dim": 64, "partial_rotary_factor": 0.25}
        self.check(latent, geometric(64, 1e4))
        self.check({**latent, "head_dim": 64, "partial_rotary_factor": 0.5}, geometric(32, 1e4))
        with self.assertRaisesRegex(ValueError, "partial_rotary_factor: got 0.5 of head_dim 256"):
            gyre.Rope.from_config({**latent, "partial_rotary_factor": 0.5})

    def test_rotations_of_their_own_are_refused(self):
        size = {"hidden_size": 512, "num_attention_heads": 8}
        for config, said in (({**size, "model_type": "dinov3_vit", "patch_size": 16, "rope_theta": 100.0}, "two axes"),
                             ({**size, "model_type": "ernie4_5_vl_moe_text", "vocab_size": 9}, "orders its frequencies")):
            with self.subTest(str(config)), self.assertRaisesRegex(ValueError, f"config: has a rotation of its own .*{said}"):
                gyre.Rope.from_config(config)
        self.check({**size, "patch_size": 14, "vocab_size": 9}, geometric(64, 10000.0))

    def test_mistakes(self):
        for config, said in [
            ({}, "head_dim"), ({"head_dim": 64, "rope_scaling": {"rope_type": "sideways"}}, "sideways"),
            ({"head_dim": 64, "rope_scaling": {"rope_type": "linear"}}, "factor"),
            ({"head_dim": 64, "rope_scaling": {"rope_type": "linear", "faktor": 2}}, "faktor"),
            ({"head_dim": 64, "rope_ratio": 3}, "rope_ratio"),
            ({"head_dim": 64, "rope_scaling": {"rope_type": "longrope", "short_factor": [1], "long_factor": [1]}}, "short_factor"),
        ]:
            with self.subTest(str(config)), self.assertRaisesRegex(ValueError, said):
                gyre.Rope.from_config(config)

    def test_transformers(self):
        try:
            import transformers
        except ImportError:
            self.skipTest("there is no transformers")
        config = transformers.LlamaConfig(hidden_size=512, num_attention_heads=8, rope_parameters=LLAMA3)
        np.testing.assert_allclose(gyre.Rope.from_config(config).inv_freq, llama3(64), rtol=1e-12)

    def test_all_of_transformers(self):
        try:
            import transformers
        except ImportError:
            self.skipTest("there is no transformers")
        transformers.logging.set_verbosity_error()
        alike = 0
        for name, config, kind, frequencies, factor in embeddings_of_transformers():
            if getattr(config, "text_config", None) is not None:  # not the language part's, which from_config() reads
                continue
            try:
                rope = gyre.Rope.from_config(config, layer_type=kind)
            except ValueError:  # refused
                continue
            with self.subTest(name):
                np.testing.assert_allclose(rope.inv_freq, frequencies, rtol=1e-5)
                if isinstance(factor, (int, float)):
                    self.assertAlmostEqual(rope.attention_factor, factor, places=6)
                alike += 1
        self.assertGreaterEqual(alike, 100)


if __name__ == "__main__":
    unittest.main()
