"""gyre.torch: scaled_dot_product_attention taken over.

    python torch_sdpa_test.py        skipped where there is no PyTorch, or the library was built without its operators
"""

import unittest

from torch_support import causal, eager, random  # skips the test where there is no gyre.torch

import gyre.torch
import torch
import torch.nn.functional as F


class Sdpa(unittest.TestCase):
    def tearDown(self):
        gyre.torch.disable_sdpa()

    def results(self, options, grad, dtype):
        q, k, v = (x.detach().requires_grad_(grad) for x in (random(2, 4, 9, 64, dtype=dtype), random(2, 4, 12, 64, dtype=dtype, seed=1),
                                                             random(2, 4, 12, 64, dtype=dtype, seed=2)))
        out = F.scaled_dot_product_attention(q, k, v, **options)
        return (out, *torch.autograd.grad(out.float().square().sum(), (q, k, v))) if grad else (out,)

    def test_is_taken_and_given_back(self):
        mask = random(2, 1, 9, 12, seed=7) > -1
        for options in ({}, {"is_causal": True}, {"scale": 0.3}, {"attn_mask": mask}, {"attn_mask": random(9, 12, seed=8)}):
            for grad in (False, True):
                right = self.results({n: o.double() if n == "attn_mask" and o.is_floating_point() else o for n, o in options.items()},
                                     grad, torch.float64)
                gyre.torch.enable_sdpa()
                gyre.torch.enable_sdpa()
                before = gyre.torch.sdpa_calls()
                got = self.results(options, grad, torch.float32)
                after = gyre.torch.sdpa_calls()
                gyre.torch.disable_sdpa()
                self.assertEqual(after["forward"] - before.get("forward", 0), 1)
                self.assertEqual(after.get("backward", 0) - before.get("backward", 0), int(grad))
                for mine, expected in zip(got, right):
                    self.assertLess((mine.double() - expected).abs().max(), 2e-5 * max(1, expected.abs().max().item()))
                self.results(options, grad, torch.float32)
                self.assertEqual(gyre.torch.sdpa_calls(), after)

    def test_what_is_left_to_pytorch(self):
        right = self.results({"is_causal": True}, True, torch.float64)
        gyre.torch.enable_sdpa()
        before = gyre.torch.sdpa_calls()
        for mine, expected in zip(self.results({"is_causal": True}, True, torch.float64), right):
            self.assertLess((mine - expected).abs().max(), 1e-12)
        self.assertEqual(gyre.torch.sdpa_calls().get("forward", 0), before.get("forward", 0))

    def test_what_is_no_number_stays_so(self):
        """Whether the call is taken (float32) or left (float64). A row that sees no key gives 0."""
        mask = torch.ones(4, 4, dtype=torch.bool)
        mask[1] = False
        expected = torch.zeros(1, 2, 4, dtype=torch.bool)
        expected[0, 0, 2] = True
        gyre.torch.enable_sdpa()
        for dtype in (torch.float32, torch.float64):
            q, k, v = (random(1, 2, 4, 64, seed=seed).to(dtype) for seed in range(3))
            q[0, 0, 2, 5] = torch.nan
            q.requires_grad_()
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            grad = torch.autograd.grad(out.sum(), q)[0]
            for tensor in (out, grad):
                self.assertTrue(torch.equal(tensor.isnan().all(-1), expected) and torch.equal(tensor.isnan().any(-1), expected))
                self.assertTrue(torch.equal(tensor[:, :, 1], torch.zeros_like(tensor[:, :, 1])))

    def test_sums_beyond_the_range_of_f32(self):
        q, k = torch.zeros(1, 1, 3, 64), torch.zeros(1, 1, 5, 64)
        for largest in (0.5e38, 0.6e38, 0.7e38, 3e38, -3e38):  # five times 0.68e38 is the largest number
            v = torch.full((1, 1, 5, 64), largest)
            right = F.scaled_dot_product_attention(q, k, v)
            gyre.torch.enable_sdpa()
            got = F.scaled_dot_product_attention(q, k, v)
            gyre.torch.disable_sdpa()
            self.assertEqual(torch.isfinite(got).all(), abs(largest) < 0.68e38)
            torch.testing.assert_close(got, right)

    def test_scales_that_the_library_refuses_are_left(self):
        q, k, v = (random(1, 2, 4, 64, seed=seed) for seed in range(3))
        gyre.torch.enable_sdpa()
        for scale in (float("inf"), float("nan"), 1e300, 1e-50, 0.0):
            before = gyre.torch.sdpa_calls().get("left to PyTorch", 0)
            out = F.scaled_dot_product_attention(q, k, v, scale=scale)
            self.assertEqual(gyre.torch.sdpa_calls()["left to PyTorch"], before + 1)
            if abs(scale) < 1:
                self.assertTrue(torch.allclose(out, v.mean(2, keepdim=True).expand_as(out), atol=1e-6))

    def test_strides_are_pytorchs(self):
        """Models call view() on what they get, and compiled functions take strides for granted."""
        operator, backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu, torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward

        def strides(make, shape, dtype):
            q = make(torch.zeros(*shape, dtype=dtype))
            out, lse = operator(q, q, q)
            results = (out, lse, *backward(torch.zeros_like(out), q, q, q, out, lse, 0.0, False))
            return [[stride for extent, stride in zip(each.shape, each.stride()) if extent > 1] for each in results]

        makers = {"heads first": lambda x: x, "tokens first": lambda x: x.transpose(1, 2), "part": lambda x: x[..., :8], "batch last": lambda x: x.permute(1, 2, 0, 3),
                  "features apart": lambda x: x.transpose(2, 3), "expanded": lambda x: x[:, :1].expand(-1, 4, -1, -1)}
        for name, make in makers.items():
            for shape in ((2, 3, 5, 16), (1, 3, 5, 16), (2, 1, 5, 16), (2, 3, 1, 16)):
                for dtype in (torch.float32, torch.float64):  # which is left to PyTorch
                    with self.subTest(f"{name} {shape} {dtype}"):
                        right = strides(make, shape, dtype)
                        gyre.torch.enable_sdpa()
                        self.assertEqual(strides(make, shape, dtype), right)
                        gyre.torch.disable_sdpa()

    def test_compiled(self):
        gyre.torch.enable_sdpa()
        q = random(2, 4, 9, 64)
        compiled = torch.compile(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), fullgraph=True, backend="aot_eager")
        before = gyre.torch.sdpa_calls().get("forward", 0)
        self.assertLess((compiled(q).double() - eager(q, q, q, causal(9, 9))).abs().max(), 2e-5)
        self.assertGreater(gyre.torch.sdpa_calls()["forward"], before)


if __name__ == "__main__":
    unittest.main()
