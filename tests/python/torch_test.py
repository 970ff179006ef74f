"""gyre.torch's attention and rotations: results, gradients, and PyTorch's modes.

    python torch_test.py        skipped where there is no PyTorch, or the library was built without its operators
"""

import threading
import unittest

from torch_support import ROUNDING, causal, eager, inputs, random  # skips the test where there is no gyre.torch

import gyre
import gyre.torch
import torch
from torch._subclasses.fake_tensor import FakeTensorMode


class Operators(unittest.TestCase):
    def close(self, got, right, dtype, factor=64):
        allowed = factor * ROUNDING[dtype] * right.double().abs().max()
        self.assertLessEqual((got.double() - right.double()).abs().max().item(), allowed.item())

    def test_every_type(self):
        for dtype in ROUNDING:
            q, k, v = inputs(dtype)
            out, lse = gyre.torch.attention(q, k, v, causal=True, return_lse=True)
            self.assertEqual((out.dtype, lse.dtype, lse.shape), (dtype, torch.float32, (2, 4, 9)))
            self.close(out, eager(q, k, v, causal(9, 12)), dtype, 64 if dtype == torch.float32 else 4)

    def test_rope_and_gradients(self):
        q, k, v = inputs(grad=True)
        bias = random(1, 4, 9, 12, seed=5, grad=True)
        out = gyre.torch.attention(q, k, v, causal=True, bias=bias, rope=gyre.Rope())
        weight = random(*out.shape, seed=3)
        mine = torch.autograd.grad((out * weight).sum(), (q, k, v, bias))
        right = torch.autograd.grad((eager(q, k, v, causal(9, 12), bias, gyre.Rope()) * weight).sum(), (q, k, v, bias))
        for name, got, expected in zip(("q", "k", "v", "bias"), mine, right):
            with self.subTest(name):
                self.close(got, expected, torch.float32, 256)

    def test_gradients_whichever_options_are_given(self):
        bias, sinks = random(2, 4, 9, 12, seed=3), random(4, seed=4)
        for given in ({}, {"bias": bias}, {"sinks": sinks}, {"bias": bias, "sinks": sinks}, {"scale": 0.2}, {"softcap": 3.0}):
            given = {name: value.clone().requires_grad_() if isinstance(value, torch.Tensor) else value for name, value in given.items()}
            leaves = [*inputs(grad=True), *(value for value in given.values() if isinstance(value, torch.Tensor))]
            out = gyre.torch.attention(*leaves[:3], **given)
            direction = random(*out.shape, seed=5)
            grads = torch.autograd.grad(out, leaves, direction)
            steps = [random(*leaf.shape, seed=6 + i) * 1e-3 for i, leaf in enumerate(leaves)]
            moved = []
            for sign in (1, -1):
                with torch.no_grad():
                    places = [leaf + sign * step for leaf, step in zip(leaves, steps)]
                    rest = iter(places[3:])
                    options = {name: next(rest) if isinstance(value, torch.Tensor) else value for name, value in given.items()}
                    moved.append((gyre.torch.attention(*places[:3], **options).double() * direction).sum())
            predicted = sum((grad.double() * step).sum() for grad, step in zip(grads, steps))
            with self.subTest(list(given)):
                # Central differences: of the third order in steps of 1e-3, and roundings of float32 in both sums, which are of random signs.
                self.assertLess(abs((moved[0] - moved[1]) / 2 - predicted), 5e-9 * direction.abs().sum())

    def test_rotations_are_those_of_numpys_functions(self):
        q, k, _ = inputs()
        for rope in (gyre.Rope(attention_factor=1.5), gyre.Rope(pairing="interleaved"), gyre.Rope(theta=100.0, rotary_dim=16, rotary_offset=8)):
            for options in ({}, {"position_offset": 7}, {"reverse": True}, {"positions": torch.arange(12, dtype=torch.int32) * 3}):
                x = k if "positions" in options else q
                with self.subTest(rope=rope, **options):
                    self.assertTrue(torch.equal(gyre.torch.rotary(x, rope, **options), gyre.rotary(x, rope, layout="bhsd", **options)))

    def test_rotary_tables_of_models(self):
        q, k = random(2, 4, 9, 64, dtype=torch.bfloat16, grad=True), random(2, 2, 9, 64, dtype=torch.bfloat16, seed=1)
        angle = torch.arange(9)[:, None] * torch.tensor([10000.0 ** (-i / 32) for i in range(32)])
        cos, sin = (torch.cat([f, f], -1)[None].bfloat16() for f in (angle.cos(), angle.sin()))  # as transformers has them
        q_out, k_out = gyre.torch.rotary_qk(q, k, (cos[..., :32], sin[..., :32]))

        def turn(x):
            first, second = x.double().chunk(2, -1)
            return x.double() * cos.double() + torch.cat((-second, first), -1) * sin.double()

        self.close(q_out, turn(q), torch.bfloat16, 1)
        self.close(k_out, turn(k), torch.bfloat16, 1)
        weight = random(*q.shape, dtype=torch.bfloat16, seed=3)
        mine, = torch.autograd.grad((q_out * weight).sum(), q)
        right, = torch.autograd.grad((turn(q) * weight).sum(), q)
        self.close(mine, right, torch.bfloat16, 2)

    def test_opcheck(self):
        q, k, v = inputs(grad=True)
        inv_freq = torch.ones(32, dtype=torch.float64)
        check = torch.library.opcheck
        check(torch.ops.gyre.attention.default, (q, k, v), {"causal": True, "inv_freq": inv_freq})
        check(torch.ops.gyre.attention.default, tuple(x.transpose(1, 2).detach().contiguous() for x in (q, k, v)), {"layout": 0})
        plain = tuple(x.detach() for x in (q, k, v))
        check(torch.ops.gyre.attention_out.default, (*plain, torch.empty_like(plain[0]), None))
        check(torch.ops.gyre.attention_forward.default, plain, {"causal": True, "inv_freq": inv_freq})
        check(torch.ops.gyre.attention_with_lse.default, plain, {"causal": True, "inv_freq": inv_freq})
        check(torch.ops.gyre.attention_plain.default, plain, {"causal": True})
        check(torch.ops.gyre._attention_unrecorded.default, (*plain, 0.2, True))
        check(torch.ops.gyre.rotary.default, (q, inv_freq))
        check(torch.ops.gyre.rotary_qk.default, (q, k[:, :, :9], inv_freq))
        check(torch.ops.gyre.rotary_out.default, (plain[0], torch.empty_like(plain[0]), inv_freq))
        out, lse = torch.ops.gyre.attention(*plain)
        check(torch.ops.gyre.attention_backward.default, (out, *plain, out, lse, False))

    def test_a_rotation_that_a_mode_saw_first(self):
        """What is kept of it serves calls after the mode, of the same object and of another that says the same."""
        q, k, v = inputs()
        for theta, mode in ((11.0, torch.inference_mode()), (12.0, torch.device("meta")), (13.0, FakeTensorMode())):
            rope = gyre.Rope(theta=theta)
            with mode:
                x = torch.empty(1, 2, 3, 64) if isinstance(mode, FakeTensorMode) else q
                gyre.torch.attention(x, x, x, rope=rope)
            for later in (rope, gyre.Rope(theta=theta)):
                with self.subTest(mode=str(mode)):
                    learnt = q.clone().requires_grad_()
                    out = gyre.torch.attention(learnt, k, v, rope=later)
                    out.sum().backward()
                    inv_freq = torch.tensor([theta ** (-i / 32) for i in range(32)], dtype=torch.float64)
                    torch.testing.assert_close(out.detach(), torch.ops.gyre.attention_forward(q, k, v, inv_freq=inv_freq), rtol=0, atol=1e-6)

    def test_autocast(self):
        q, k, v = inputs()
        with torch.autocast("cpu", torch.bfloat16):
            self.assertEqual(gyre.torch.attention(q, k, v).dtype, torch.bfloat16)
            with torch.no_grad():
                self.assertTrue(torch.equal(gyre.torch.attention(q, k, v, causal=True, scale=0.2),
                                            gyre.torch.attention(q.bfloat16(), k.bfloat16(), v.bfloat16(), causal=True, scale=0.2)))
                self.assertEqual(gyre.torch.attention(q, k, v, softcap=3.0).dtype, torch.bfloat16)
                self.assertEqual(torch.ops.gyre._attention_unrecorded(q, k, v, 0.0, False).dtype, torch.bfloat16)
        self.assertEqual(gyre.torch.attention(q, k, v).dtype, torch.float32)

    def test_float32_queries_read_narrow_caches(self):
        q, k, v = inputs()
        for dtype in (torch.float16, torch.bfloat16):
            with torch.no_grad():
                got = gyre.torch.attention(q, k.to(dtype), v.to(dtype), causal=True)
                self.assertTrue(torch.equal(got, gyre.torch.attention(q, k.to(dtype).float(), v.to(dtype).float(), causal=True)))
            learnt, same = ([x.to(dtype).requires_grad_() for x in (k, v)] for _ in range(2))
            gyre.torch.attention(q, *learnt, causal=True).square().sum().backward()
            gyre.torch.attention(q, *(x.float() for x in same), causal=True).square().sum().backward()
            for mine, expected in zip(learnt, same):
                self.assertTrue(torch.equal(mine.grad, expected.grad))

    def test_a_mask_that_was_prepared_gives_the_same_bits(self):
        q, k, v = inputs()
        documents = torch.arange(k.shape[2]) // 5
        mask = (documents[-q.shape[2]:, None] == documents)[None, None]
        prepared = gyre.torch.prepare_mask(mask, q, k)
        with torch.no_grad():
            right = gyre.torch.attention(q, k, v, mask=mask)
            self.assertTrue(torch.equal(gyre.torch.attention(q, k, v, mask=mask, prepared_mask=prepared), right))
            with self.assertRaisesRegex(RuntimeError, "^prepared_mask: was prepared for window_right -1, got 0"):
                gyre.torch.attention(q, k, v, mask=mask, prepared_mask=prepared, causal=True)
            with self.assertRaisesRegex(RuntimeError, "^prepared_mask: expected what"):
                gyre.torch.attention(q, k, v, mask=mask, prepared_mask=prepared.float())
        q.requires_grad_()
        gyre.torch.attention(q, k, v, mask=mask, prepared_mask=prepared).sum().backward()
        self.assertIsNotNone(q.grad)

    def test_seeds_are_those_of_numpys_functions(self):
        q, k, v = inputs()
        for seed in (1, 2**63, 2**64 - 1):
            right = gyre.attention(q, k, v, layout="bhsd", dropout=0.5, dropout_seed=seed)
            self.assertTrue(torch.equal(gyre.torch.attention(q, k, v, dropout=0.5, dropout_seed=seed), right))

    def test_threads(self):
        q, k, v = inputs(lq=60, lk=60)
        expected, wrong, before = gyre.torch.attention(q, k, v), [], torch.get_num_threads()

        def work():
            for _ in range(30):
                if not torch.equal(gyre.torch.attention(q, k, v), expected):
                    wrong.append(1)

        workers = [threading.Thread(target=work) for _ in range(4)]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        torch.set_num_threads(1)
        self.assertTrue(torch.equal(gyre.torch.attention(q, k, v), expected))
        torch.set_num_threads(before)
        self.assertEqual(wrong, [])

    def test_numpy_functions_take_tensors(self):
        q, k, v = inputs(torch.bfloat16)
        out = gyre.attention(q, k, v, layout="bhsd")
        self.assertIsInstance(out, torch.Tensor)
        self.assertTrue(torch.equal(out, gyre.torch.attention(q, k, v)))
        with self.assertRaisesRegex(ValueError, "q: its owner does not hand it out"):
            gyre.attention(q.requires_grad_(), k, v, layout="bhsd")
        smaller = torch.zeros(2, 4, 9, 64)
        smaller.untyped_storage().resize_(256)
        with self.assertRaisesRegex(ValueError, "q: reaches over its storage of 256 bytes"):
            gyre.attention(smaller, k, v, layout="bhsd")
        gone = torch.zeros(2, 4, 9, 64)
        gone.untyped_storage().resize_(0)
        for function in (lambda x: gyre.attention(x, k, v, layout="bhsd"), lambda x: gyre.torch.attention(x, k.float(), v.float())):
            with self.assertRaises((RuntimeError, ValueError)):
                function(gone)


if __name__ == "__main__":
    unittest.main()
