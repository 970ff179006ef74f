"""gyre.torch within torch.compile: no graph breaks, the results of plain calls, and rotations that are made inside.

    python torch_compile_test.py        skipped where there is no PyTorch, or the library was built without its operators
"""

import unittest

from torch_support import inputs  # skips the test where there is no gyre.torch

import gyre
import gyre.torch
import torch
import torch._dynamo.testing


def attend(q, k, v, rope):
    return gyre.torch.attention(q, k, v, causal=True, rope=rope)


class Compiled(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()

    def test_compile_without_breaks(self):
        rope = gyre.Rope()

        def model(q, k, v):
            q, k = gyre.torch.rotary_qk(q, k, rope)
            return gyre.torch.attention(q, k, v, causal=True).relu().sum()

        q, k, v = inputs(grad=True, lq=12)
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        self.assertEqual(compiled(q, k, v).item(), model(q, k, v).item())
        mine, right = (torch.autograd.grad(f(q, k, v), (q, k, v)) for f in (compiled, model))
        for got, expected in zip(mine, right):
            self.assertTrue(torch.equal(got, expected))

    def test_rotations_made_inside(self):
        def model(q, k, v):
            q, k = gyre.torch.rotary_qk(q, k, gyre.Rope(theta=500.0, rotary_dim=32, rotary_offset=16))
            out = attend(q, k, v, gyre.Rope(inv_freq=[1.0, 0.5, 0.25], attention_factor=1.5))
            return gyre.torch.attention(out, k, v, rope=gyre.Rope(), value_rope=gyre.Rope(theta=2000.0))

        q, k, v = inputs(lq=12)
        for dynamic in (None, True):
            compiled = torch.compile(model, fullgraph=True, backend="aot_eager", dynamic=dynamic)
            self.assertTrue(torch.equal(compiled(q, k, v), model(q, k, v)))
            torch._dynamo.reset()

    def test_another_rotation_is_another_result(self):
        counter = torch._dynamo.testing.CompileCounter()
        compiled, tensors = torch.compile(attend, fullgraph=True, backend=counter), inputs(lq=12)
        ropes = (gyre.Rope(), gyre.Rope(theta=500.0), gyre.Rope(theta=777.0), gyre.Rope(inv_freq=[1.0, 0.5]), gyre.Rope(inv_freq=[1.0, 0.4]))
        for rope in ropes:
            self.assertTrue(torch.equal(compiled(*tensors, rope), attend(*tensors, rope)), rope)
        compiled(*tensors, gyre.Rope(theta=500.0))  # an equal one is no reason to compile anew
        self.assertEqual(counter.frame_count, len(ropes))

    def test_mistakes_of_rotations(self):
        compiled = torch.compile(lambda q, k, v: attend(q, k, v, gyre.Rope(rotary_offset=16)), backend="aot_eager")
        with self.assertRaisesRegex(ValueError, "rope.rotary_offset: got 16"):
            compiled(*inputs(lq=12))


if __name__ == "__main__":
    unittest.main()
