"""gyre.torch: derivatives that are not computed raise, where PyTorch would give 0 for them.

    python torch_derivatives_test.py        skipped where there is no PyTorch, or the library was built without its operators
"""

import unittest
import warnings

from torch_support import inputs  # skips the test where there is no gyre.torch

import gyre
import gyre.torch
import torch
from torch.autograd import forward_ad

ROPE = gyre.Rope()
attention = gyre.torch.attention


def functions():
    """Functions of queries, by name."""
    q, k, v = inputs()
    sinks, learnt = torch.zeros(q.shape[1], requires_grad=True), k.clone().requires_grad_()
    state = (torch.zeros(q.shape[0], k.shape[1], 64, 64), torch.zeros(q.shape[0], k.shape[1], 64))
    return {
        "attention": lambda x: attention(x, k, v),
        "attention with options": lambda x: attention(x, k, v, softcap=3.0, causal=True),
        "attention with lse": lambda x: attention(x, k, v, return_lse=True)[0],
        "attention with gradients of others": lambda x: attention(x, learnt, v, rope=ROPE),
        "attention with sinks": lambda x: attention(x, k, v, sinks=sinks),
        "linear_attention": lambda x: gyre.torch.linear_attention(x.abs(), k[:, :, :9].abs(), v[:, :, :9]),
        "linear_attention with a state": lambda x: gyre.torch.linear_attention(x.abs(), k[:, :, :9].abs(), v[:, :, :9], state=state),
    }


class Derivatives(unittest.TestCase):
    def setUp(self):
        self.q = inputs()[0]

    def test_gradients_of_gradients(self):
        """Called with create_graph, as penalties of gradients do."""
        for name, function in functions().items():
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("error")
                q = self.q.clone().requires_grad_()
                (once,) = torch.autograd.grad((function(q) ** 2).sum(), q)
                (again,) = torch.autograd.grad((function(q) ** 2).sum(), q, create_graph=True)
                torch.testing.assert_close(again.detach(), once)
                with self.assertRaisesRegex(NotImplementedError, "gradients of attention's gradients"):
                    (again ** 2).sum().backward()

    def test_a_sinks_gradient_has_none(self):
        q, k, v = inputs()
        sinks = torch.zeros(q.shape[1], requires_grad=True)
        (grad,) = torch.autograd.grad((attention(q, k, v, sinks=sinks) ** 2).sum(), sinks, create_graph=True)
        with self.assertRaisesRegex(NotImplementedError, "gradients of attention's gradients"):
            grad.sum().backward()

    def test_rotations_have_them(self):
        q = self.q.clone().requires_grad_()
        rotated = gyre.torch.rotary(q, ROPE)
        (grad,) = torch.autograd.grad((rotated ** 2).sum(), q, create_graph=True)  # 2 q, since a rotation keeps lengths
        (second,) = torch.autograd.grad((grad ** 2).sum(), q)
        torch.testing.assert_close(second, 8 * self.q, rtol=1e-5, atol=1e-5)

    def test_tangents(self):
        rotations = {"rotary": lambda x: gyre.torch.rotary(x, ROPE), "rotary_qk": lambda x: gyre.torch.rotary_qk(x, x, ROPE)[0]}
        for name, function in (functions() | rotations).items():
            with self.subTest(name):
                with self.assertRaisesRegex(NotImplementedError, "tangent"):
                    torch.func.jvp(function, (self.q,), (self.q,))
                with forward_ad.dual_level():
                    with self.assertRaisesRegex(NotImplementedError, "tangent"):
                        function(forward_ad.make_dual(self.q, self.q))
                    self.assertEqual(function(self.q).shape, self.q.shape)  # a constant may be computed there

    def test_tangents_of_options(self):
        q, k, v = inputs()
        bias = torch.zeros(1, 1, q.shape[2], k.shape[2])
        with forward_ad.dual_level(), self.assertRaisesRegex(NotImplementedError, "tangent"):
            attention(q, k, v, bias=forward_ad.make_dual(bias, bias))

    def test_what_is_no_tensor(self):
        q, k, v = inputs()
        for given in (None, q.numpy(), [1.0]):
            with self.assertRaisesRegex(TypeError, f"k: got {type(given).__name__}, expected a torch.Tensor"):
                attention(q, given, v)


if __name__ == "__main__":
    unittest.main()
