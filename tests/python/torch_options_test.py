"""gyre.torch.attention(): which operator a call takes by its options, and that each option arrives.

    python torch_options_test.py        skipped where there is no PyTorch, or the library was built without its operators
"""

import unittest

from torch_support import inputs, random  # skips the test where there is no gyre.torch

import gyre
import gyre.torch
import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Options(unittest.TestCase):
    def test_calls_without_options_take_the_short_way(self):
        class Names(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                names.append(str(func))
                return func(*args, **(kwargs or {}))

        q, k, v = inputs()
        lengths = torch.tensor([7, 12], dtype=torch.int32)
        for given, way in (({}, "_attention_unrecorded"), ({"causal": True, "scale": 0.2}, "_attention_unrecorded"),
                           ({"mask": None, "softcap": 0.0}, "attention_plain"),
                           ({"window": (3, 0)}, "_attention_short"), ({"return_lse": True}, "_attention_short_with_lse"),
                           ({"rope": gyre.Rope(), "seqused_k": lengths}, "_attention_short"),
                           ({"rope": gyre.Rope(), "seqused_k": lengths, "sinks": torch.zeros(4)}, "attention_forward"),
                           ({"dropout": 0.5, "return_lse": True}, "attention_with_lse")):
            names = []
            with self.subTest(given), Names():
                gyre.torch.attention(q, k, v, **given)
            self.assertEqual([name for name in names if "gyre" in name], [f"gyre.{way}.default"])
        with self.assertRaisesRegex(TypeError, r"attention\(\) got an unexpected keyword argument 'maks'"):
            gyre.torch.attention(q, k, v, maks=None)

    def test_the_short_way_takes_every_option_to_its_place(self):
        """Bits are those of the operator with all arguments."""
        q, k, v = inputs()
        keys, rope, turned = k.shape[2], gyre.Rope(), gyre.Rope(theta=100.0, rotary_dim=32)
        inv_freq = torch.tensor([10000.0 ** (-i / 32) for i in range(32)], dtype=torch.float64)
        turned_freq = torch.tensor([100.0 ** (-i / 16) for i in range(16)], dtype=torch.float64)
        lengths, mask = torch.tensor([7, 12], dtype=torch.int32), random(2, 1, 9, 12) > 0
        tensors = {"bias": random(1, 4, 9, 12), "mask": mask, "sinks": random(4), "alibi": random(4).abs(), "seqused_k": lengths,
                   "q_positions": torch.arange(9, dtype=torch.int32) * 3, "k_positions": torch.arange(keys, dtype=torch.int32) * 2}
        cases = [({name: given}, {name: given}) for name, given in tensors.items() if "positions" not in name]
        cases += [({"rope": rope, name: tensors[name]}, {"inv_freq": inv_freq, name: tensors[name]}) for name in tensors]
        cases += [({"rope": rope, "value_rope": turned}, {"inv_freq": inv_freq, "value_inv_freq": turned_freq}),
                  ({"rope": gyre.Rope(pairing="interleaved"), "keys_rotated": True}, {"inv_freq": inv_freq, "interleaved": True, "keys_rotated": True}),
                  ({"value_rope": rope, "values_rotated": True}, {"value_inv_freq": inv_freq, "values_rotated": True}),
                  ({"value_rope": gyre.Rope(theta=100.0, rotary_dim=32, pairing="interleaved")},
                   {"value_inv_freq": turned_freq, "interleaved": True}),
                  ({"softcap": 3.0, "scale": 0.3}, {"softcap": 3.0, "scale": 0.3}),
                  ({"alignment": "top_left", "causal": True}, {"top_left": True, "causal": True})]
        cases += [({"window": (left, right)}, {"window_left": left, "window_right": right}) for left, right in ((3, 0), (0, 2), (-1, 1), (2, -1), (4, 5))]
        for given, words in cases:
            for causal_too in ({}, {"causal": True}):
                with self.subTest(given=given, **causal_too):
                    out, lse = gyre.torch.attention(q, k, v, return_lse=True, **(given | causal_too))
                    right = torch.ops.gyre.attention_with_lse(q, k, v, **(words | causal_too))
                    self.assertTrue(torch.equal(out, right[0]) and torch.equal(lse, right[1]))
                    self.assertTrue(torch.equal(gyre.torch.attention(q, k, v, **(given | causal_too)), right[0]))
        swapped = [x.transpose(1, 2) for x in (q, k, v)]
        self.assertTrue(torch.equal(gyre.torch.attention(*swapped, layout="bshd", softcap=3.0).transpose(1, 2), gyre.torch.attention(q, k, v, softcap=3.0)))
        with self.assertRaisesRegex(RuntimeError, "place 15"):
            torch.ops.gyre._attention_short(q, k, v, lengths, None, 0.0, 0.0, 15 << 16, -1)

    def test_options_that_are_too_large_for_the_short_way(self):
        q, k, v = inputs()
        far = gyre.torch.attention(q, k, v, window=(2**40, 2**40))
        self.assertTrue(torch.equal(far, gyre.torch.attention(q, k, v)))
        with self.assertRaisesRegex(ValueError, f"^window: got {2**70}, expected"):
            gyre.torch.attention(q, k, v, window=(2**70, 0))
        with self.assertRaisesRegex(TypeError, "^seqused_k: got list"):
            gyre.torch.attention(q, k, v, seqused_k=[7, 12])


if __name__ == "__main__":
    unittest.main()
