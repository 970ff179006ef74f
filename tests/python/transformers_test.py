"""gyre.transformers: models with random weights give eager's logits and tokens, with padding and caches of every kind.

    python transformers_test.py        skipped where there is no Transformers, or no PyTorch, or no operators for it
"""

import sys
import unittest
import warnings
from unittest import mock

try:
    import torch
    import transformers as T

    import gyre.transformers
    from transformers_support import MODELS, model_of
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

warnings.filterwarnings("ignore")
T.logging.set_verbosity_error()
gyre.transformers.enable()
ATTENTION_ALONE = [name for name in MODELS if name in ("Llama", "Qwen 3", "Mistral with a window", "Gemma 2", "Gemma 3", "gpt-oss", "GPT-NeoX")]


class Models(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.ids = torch.randint(3, 97, (2, 23))
        left, right = torch.ones_like(self.ids), torch.ones_like(self.ids)
        left[0, :6] = 0
        right[0, -6:] = 0
        self.masks = {"no padding": None, "padding on the left": left, "padding on the right": right}

    def results(self, model, implementation):
        model.set_attn_implementation(implementation)
        with torch.no_grad():
            for name, mask in self.masks.items():
                logits = model(self.ids, attention_mask=mask).logits
                yield f"logits with {name}", logits if mask is None else logits[mask.bool()]
            for cache in ({}, {"cache_implementation": "static", "disable_compile": True}):
                yield f"tokens {cache}", model.generate(self.ids, attention_mask=self.masks["padding on the left"], max_new_tokens=12,
                                                        do_sample=False, **cache)

    def test_logits_and_tokens(self):
        for name in ATTENTION_ALONE:
            model = model_of(MODELS[name]())
            before = gyre.transformers.calls()
            eager = list(self.results(model, "eager"))
            self.assertEqual(gyre.transformers.calls(), before)
            for (what, right), (_, mine) in zip(eager, self.results(model, "gyre")):
                with self.subTest(f"{name}: {what}"):
                    if right.dtype == torch.int64:
                        self.assertTrue(torch.equal(mine, right))
                    else:
                        self.assertLess((mine - right).abs().max(), 1e-4 * right.abs().max())
            # Three prompts, and two generations of 12 tokens: each layer calls once for each.
            self.assertEqual(gyre.transformers.calls() - before, 2 * (3 + 2 * 12), name)

    def test_packed_sequences(self):
        ids = self.ids[:1]
        positions = torch.cat([torch.arange(9), torch.arange(14)])[None]
        for name in ("Llama", "Mistral with a window", "gpt-oss"):
            model = model_of(MODELS[name]())
            with torch.no_grad():
                right = model(ids, position_ids=positions, use_cache=False).logits
                model.set_attn_implementation("gyre")
                before = gyre.transformers.calls()
                got = model(ids, position_ids=positions, use_cache=False).logits
                unpacked = model(ids, use_cache=False).logits
            self.assertLess((got - right).abs().max(), 1e-4 * right.abs().max(), name)
            self.assertGreater((unpacked - right).abs().max(), 1e-3 * right.abs().max(), name)
            self.assertEqual(gyre.transformers.calls() - before, 4)

    def test_a_mask_of_all_layers_is_looked_at_once(self):
        from gyre.transformers import _shared_masks

        looked = []
        prepare = _shared_masks.operators.prepare_mask
        with mock.patch.object(_shared_masks.operators, "prepare_mask", lambda *args: looked.append(args) or prepare(*args)):
            model = model_of(MODELS["Llama"]())
            model.set_attn_implementation("gyre")
            with torch.no_grad():
                model(self.ids[:1], position_ids=torch.cat([torch.arange(9), torch.arange(14)])[None], use_cache=False)
            self.assertEqual(len(looked), 1)
            looked.clear()
            q, mask = torch.randn(1, 4, 23, 64), torch.ones(1, 1, 23, 23, dtype=torch.bool)
            held = len(_shared_masks._prepared)
            for hidden in (23, 9):  # what is written to is looked at anew
                mask[..., hidden:] = False
                out = gyre.transformers.attention_forward(torch.nn.Module(), q, q, q, mask)[0]
                right = gyre.torch.attention(q, q, q, mask=mask.clone())
                self.assertTrue(torch.equal(out, right.transpose(1, 2)))
            self.assertEqual((len(looked), len(_shared_masks._prepared)), (2, held + 1))
            looked.clear()
            del mask
            self.assertEqual(len(_shared_masks._prepared), held)  # nothing is kept of a mask that is gone

    def test_rotations_of_inference_mode(self):
        model = model_of(MODELS["Llama"]())
        with torch.no_grad():
            expected = model(self.ids).logits
        gyre.transformers.enable_rotary(model)
        self.addCleanup(gyre.transformers.disable_rotary)
        before = gyre.transformers.rotary_calls()
        with torch.inference_mode():  # whose tensors do not tell when they are written to
            self.assertLess((model(self.ids).logits - expected).abs().max(), 1e-4)
        self.assertGreater(gyre.transformers.rotary_calls(), before)

    def test_gradients(self):
        for name in ("Mistral with a window", "gpt-oss"):
            model = model_of(MODELS[name]()).train()
            grads = []
            for implementation in ("eager", "gyre"):
                model.set_attn_implementation(implementation)
                model.zero_grad()
                # What stands at padding counts nowhere: nor as what predicts the first token after it.
                labels = self.ids.clone()
                labels[0, :7] = -100
                model(self.ids, attention_mask=self.masks["padding on the left"], labels=labels).loss.backward()
                grads.append(torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]))
            self.assertLess((grads[0] - grads[1]).abs().max(), 1e-4 * grads[0].abs().max(), name)

    def test_masks_are_not_squares(self):
        from gyre.transformers._masks import mask
        from transformers import masking_utils as m

        window = m.sliding_window_causal_mask_function(5)
        self.assertIsNone(mask(1, 9, 9))
        self.assertIsNone(mask(1, 9, 9, mask_function=window))
        self.assertEqual(mask(2, 9, 9, attention_mask=self.masks["padding on the left"][:, :9]).shape, (2, 9))
        self.assertEqual(mask(1, 1, 64, q_offset=20).shape, (1, 21))
        self.assertIsNone(mask(1, 1, 24, q_offset=23))
        self.assertIsNone(mask(2, 1, 24, q_offset=23, attention_mask=torch.ones(2, 24)))
        self.assertEqual(mask(2, 2, 24, q_offset=22, attention_mask=torch.ones(2, 24)).shape, (2, 24))
        padded = torch.cat([self.masks["padding on the left"], torch.ones(2, 1)], 1)
        self.assertTrue(torch.equal(mask(2, 1, 24, q_offset=23, attention_mask=padded), padded.bool()))
        behind = torch.cat([self.masks["padding on the right"], torch.ones(2, 1)], 1)
        once = mask(2, 1, 7, 23, 17, mask_function=window, attention_mask=behind)
        self.assertTrue(torch.equal(mask(2, 1, 7, 23, 17, mask_function=window, attention_mask=once), once))
        both = m.and_masks(m.causal_mask_function, lambda b, h, q, k: q != k)
        self.assertEqual(mask(1, 9, 9, mask_function=both, allow_is_causal_skip=False).shape, (1, 1, 9, 9))
        self.assertEqual(mask(1, 9, 9, allow_is_causal_skip=False,
                              mask_function=m.or_masks(window, m.blockwise_overlay(torch.zeros(1, 9, dtype=torch.int64)))).dim(), 4)


if __name__ == "__main__":
    unittest.main()
