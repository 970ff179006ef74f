"""Models of Transformers, attention and rotations taken over, generate eager's tokens: 64, greedily, in float32, batch 4 with padding on the
left, with dynamic and static caches.

    python generation_test.py        skipped where there is no Transformers, or no PyTorch, or no operators for it
"""

import sys
import unittest
import warnings

try:
    import torch
    import transformers as T

    import gyre.transformers
    from transformers_support import MODELS, SIZES, model_of
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

warnings.filterwarnings("ignore")
T.logging.set_verbosity_error()
gyre.transformers.enable()
TOKENS = 64
CACHES = ({}, {"cache_implementation": "static", "disable_compile": True})


class Generation(unittest.TestCase):
    def tearDown(self):
        gyre.transformers.disable_rotary()

    def generated(self, model):
        ids = torch.randint(3, 97, (4, 20), generator=torch.Generator().manual_seed(0))
        mask = torch.ones_like(ids)
        for row, padding in enumerate((0, 3, 7, 12)):
            mask[row, :padding] = 0
        return [model.generate(ids, attention_mask=mask, max_new_tokens=TOKENS, min_new_tokens=TOKENS, do_sample=False, **cache)
                for cache in CACHES]

    def test_tokens_are_eagers(self):
        self.assertGreaterEqual(len(MODELS), 12)
        for name, config in MODELS.items():
            model = model_of(config())
            eager = self.generated(model)
            model.set_attn_implementation("gyre")
            gyre.transformers.enable_rotary(model)
            before = gyre.transformers.calls(), gyre.transformers.rotary_calls()
            mine = self.generated(model)
            taken = gyre.transformers.calls() - before[0], gyre.transformers.rotary_calls() - before[1]
            gyre.transformers.disable_rotary()
            with self.subTest(name):
                for got, right in zip(mine, eager):
                    self.assertEqual(right.shape[1], 20 + TOKENS)
                    self.assertTrue(torch.equal(got, right))
                # Two layers, two caches, and a call for each token.
                self.assertEqual(taken, (4 * TOKENS, 4 * TOKENS))


class Rotations(unittest.TestCase):
    def tearDown(self):
        gyre.transformers.disable_rotary()

    def test_results_and_gradients_are_the_functions(self):
        for name in ("Llama", "GPT-NeoX", "gpt-oss", "Cohere", "GLM 4", "DeepSeek V3"):
            model = model_of(MODELS[name]())
            module = sys.modules[type(model).__module__]
            names = [n for n in vars(module) if n.startswith("apply_rotary")]
            originals = {n: getattr(module, n) for n in names}
            gyre.transformers.enable_rotary(model)
            for each in names:
                q, k = (torch.randn(2, heads, 5, 16, requires_grad=True) for heads in (4, 2))
                angle = torch.randn(1, 5, 8)
                angle = angle if name == "gpt-oss" else angle.repeat_interleave(2, -1) if name == "Cohere" else torch.cat([angle, angle], -1)
                before = gyre.transformers.rotary_calls()
                got, right = (f(q, k, angle.cos(), angle.sin()) for f in (getattr(module, each), originals[each]))
                self.assertEqual(gyre.transformers.rotary_calls(), before + 1)
                for mine, expected in zip(got, right):
                    torch.testing.assert_close(mine, expected, atol=2e-6, rtol=1e-5)
                mine, expected = (torch.autograd.grad(f[0].square().sum() + f[1].sin().sum(), (q, k)) for f in (got, right))
                for a, b in zip(mine, expected):
                    torch.testing.assert_close(a, b, atol=2e-5, rtol=1e-5)
            gyre.transformers.disable_rotary()
            self.assertEqual({n: getattr(module, n) for n in names}, originals)

    def test_other_tables_stay_the_models(self):
        gyre.transformers.enable_rotary(model_of(MODELS["Llama"]()))
        from transformers.models.llama import modeling_llama as llama

        q, table = torch.randn(1, 2, 5, 16), torch.randn(1, 5, 16)  # its halves differ
        before = gyre.transformers.rotary_calls()
        q_out, _ = llama.apply_rotary_pos_emb(q, q, table, table)
        self.assertEqual(gyre.transformers.rotary_calls(), before)
        torch.testing.assert_close(q_out, (q + llama.rotate_half(q)) * table[:, None])

    def test_a_model_without_says_so(self):
        model = model_of(T.GPT2Config(vocab_size=97, n_embd=32, n_layer=1, n_head=2))
        with self.assertRaisesRegex(ValueError, "GPT2LMHeadModel cannot be taken over: it calls no function"):
            gyre.transformers.enable_rotary(model)
        model = model_of(T.GPTJConfig(vocab_size=97, n_embd=32, n_layer=1, n_head=2, rotary_dim=8))
        with self.assertRaisesRegex(ValueError, r"apply_rotary_pos_emb takes \(tensor, sin, cos\)"):
            gyre.transformers.enable_rotary(model)

    def test_models_that_are_made_elsewhere(self):
        """Functions are tried on the CPU in float32, whatever the default device and type are."""
        model = model_of(MODELS["Llama"]())
        torch.set_default_dtype(torch.bfloat16)
        try:
            for device in ("meta", "cpu"):
                gyre.transformers.disable_rotary()
                with torch.device(device):
                    self.assertIn("taken over", gyre.transformers.enable_rotary(model).values())
        finally:
            torch.set_default_dtype(torch.float32)
            gyre.transformers.disable_rotary()

    def test_a_function_of_one_tensor(self):
        from gyre.transformers._rotary import _take_module
        from transformers.models.gemma4 import modeling_gemma4 as gemma

        original = gemma.apply_rotary_pos_emb
        self.assertEqual(_take_module(gemma)["transformers.models.gemma4.modeling_gemma4.apply_rotary_pos_emb"], "taken over")
        angle = torch.randn(1, 5, 8).repeat(1, 1, 2)
        for axis, shape in ((1, (2, 4, 5, 16)), (2, (2, 5, 4, 16))):
            x, before = torch.randn(shape), gyre.transformers.rotary_calls()
            torch.testing.assert_close(gemma.apply_rotary_pos_emb(x, angle.cos(), angle.sin(), unsqueeze_dim=axis),
                                       original(x, angle.cos(), angle.sin(), unsqueeze_dim=axis), atol=2e-6, rtol=1e-5)
            self.assertEqual(gyre.transformers.rotary_calls(), before + 1)

    def test_last_features_are_another_rotation(self):
        from gyre.transformers._rotations import recognize
        from transformers.models.deepseek_v4 import modeling_deepseek_v4 as deepseek
        from transformers.models.nanochat import modeling_nanochat as nanochat

        self.assertIn("other features than the first", recognize(deepseek.apply_rotary_pos_emb))
        self.assertIn("another rotation", recognize(nanochat.apply_rotary_pos_emb))  # it turns the other way

    def test_learnt_tables_keep_their_gradients(self):
        config = {name: value for name, value in SIZES.items() if name != "num_key_value_heads"}
        model = T.RoFormerModel(T.RoFormerConfig(**config, embedding_size=64)).eval()
        tables = model.encoder.embed_positions.weight.requires_grad_()
        tokens, grads = torch.randint(3, 97, (2, 9)), []
        for enable in (lambda: None, lambda: gyre.transformers.enable_rotary(model)):
            enable()
            grads.append(torch.autograd.grad(model(tokens).last_hidden_state[..., 0].sum(), tables)[0])
        gyre.transformers.disable_rotary()
        self.assertGreater(grads[0].abs().max(), 0)
        self.assertTrue(torch.equal(*grads))

    def test_roformer(self):
        for value in (False, True):
            config = {name: size for name, size in SIZES.items() if name != "num_key_value_heads"}
            model = T.RoFormerForCausalLM(T.RoFormerConfig(**config, embedding_size=64, rotary_value=value, is_decoder=True)).eval()
            ids = torch.randint(3, 97, (2, 11))
            with torch.no_grad():
                right = model(ids).logits
                gyre.transformers.enable_rotary(model)
                before = gyre.transformers.rotary_calls()
                torch.testing.assert_close(model(ids).logits, right, atol=1e-5, rtol=1e-5)
            self.assertEqual(gyre.transformers.rotary_calls() - before, 2)
            gyre.transformers.disable_rotary()


if __name__ == "__main__":
    unittest.main()
