"""gyre.torch: torch.func's transforms, and gradients of what calls seldom give: lse, and tensors without elements.

    python torch_transforms_test.py        skipped where there is no PyTorch, or the library was built without its operators
"""

import unittest
import warnings

from torch_support import inputs, random  # skips the test where there is no gyre.torch

import gyre
import gyre.torch
import torch

ROPE = gyre.Rope()
attention = gyre.torch.attention


def functions():
    """Functions of a tensor of queries, by name."""
    q, k, v = inputs()
    mask = random(2, 1, 9, 12, seed=7) > -1
    return {
        "attention": lambda x: attention(x, k, v),
        "attention with options": lambda x: attention(x, k, v, softcap=3.0, causal=True, rope=ROPE),
        "attention with a mask": lambda x: attention(x, k, v, mask=mask),
        "lse": lambda x: attention(x, k, v, return_lse=True)[1],
        "rotary": lambda x: gyre.torch.rotary(x, ROPE),
        "rotary_qk": lambda x: gyre.torch.rotary_qk(x, x, ROPE)[1],
        "linear_attention": lambda x: gyre.torch.linear_attention(x.abs(), k[:, :, :9].abs(), v[:, :, :9]),
    }


def gradient(function, x):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(function(x).square().sum(), x)[0]


def exact(q, k, v, causal, softcap, bias, sinks):
    """The result and lse in float64."""
    q, k, v = (x.double() for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    scores = softcap * torch.tanh(scores / softcap) if softcap else scores
    scores = scores + bias.double()
    if causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(scores.shape[-1] - scores.shape[-2]), -torch.inf)
    sink = sinks.double()[None, :, None, None].expand(*scores.shape[:3], 1)
    lse = torch.logsumexp(torch.cat((scores, sink), -1), -1)
    return torch.exp(scores - lse[..., None]) @ v, lse


class Transforms(unittest.TestCase):
    def setUp(self):
        self.q = inputs()[0]
        self.both = torch.stack((self.q, 2 * self.q))
        warnings.filterwarnings("ignore", "There is a performance drop")

    def test_vmap(self):
        for name, function in functions().items():
            with self.subTest(name):
                torch.testing.assert_close(torch.func.vmap(function)(self.both), torch.stack([function(x) for x in self.both]))

    def test_gradients(self):
        for name, function in functions().items():
            with self.subTest(name):
                transformed = torch.func.grad(lambda x: function(x).square().sum())
                right = [gradient(function, x) for x in self.both]
                torch.testing.assert_close(transformed(self.q), right[0])
                torch.testing.assert_close(torch.func.vmap(transformed)(self.both), torch.stack(right))

    def test_a_layers_weights(self):
        layer = gyre.torch.RotaryValueMultiHeadAttention(heads=2, d_model=32)
        x, weights = random(5, 3, 32), {name: weight.detach() for name, weight in layer.named_parameters()}

        def loss(given):
            return torch.func.functional_call(layer, given, (), {"query": x, "key": x, "value": x}).square().sum()

        loss(dict(layer.named_parameters())).backward()
        for name, grad in torch.func.grad(loss)(weights).items():
            torch.testing.assert_close(grad, layer.get_parameter(name).grad)

    def test_second_derivatives_raise(self):
        function = functions()["attention"]
        with self.assertRaisesRegex(NotImplementedError, "gradients of attention's gradients"):
            torch.func.grad(lambda x: torch.func.grad(lambda y: function(y).sum())(x).sum())(self.q)


class Gradients(unittest.TestCase):
    def test_of_lse(self):
        """Alone, and beside the result's: losses that merge attention over parts of the keys read both."""
        for dtype, allowed in ((torch.float32, 5e-6), (torch.bfloat16, 3e-2)):
            for causal in (False, True):
                for softcap in (0.0, 2.0):
                    for layout in ("bhsd", "bshd"):
                        for of_out in (0.0, 1.0):
                            leaves = [*inputs(dtype, grad=True), random(1, 4, 9, 12, dtype=dtype, grad=True), random(4, grad=True)]
                            q, k, v, bias, sinks = leaves
                            results = exact(q, k, v, causal, softcap, bias, sinks)
                            weights = [random(*result.shape, seed=9 + i).double() for i, result in enumerate(results)]

                            def loss(out, lse):
                                return of_out * (out.double() * weights[0]).sum() + (lse.double() * weights[1]).sum()

                            if layout == "bshd":
                                q, k, v = (x.transpose(1, 2) for x in (q, k, v))
                            out, lse = attention(q, k, v, causal=causal, softcap=softcap, bias=bias, sinks=sinks, layout=layout, return_lse=True)
                            got = torch.autograd.grad(loss(out.transpose(1, 2) if layout == "bshd" else out, lse), leaves)
                            for mine, right in zip(got, torch.autograd.grad(loss(*results), leaves, allow_unused=True)):
                                right = torch.zeros_like(mine) if right is None else right
                                self.assertLess((mine.double() - right).abs().max(), allowed * max(1, right.abs().max().item()))

    def test_of_lse_with_dropout(self):
        with self.assertRaisesRegex(NotImplementedError, "gradients of lse with dropout"):
            attention(*inputs(grad=True), dropout=0.5, return_lse=True)[1].sum().backward()

    def test_of_tensors_without_elements(self):
        for empty in (slice(0, 0), (slice(None), slice(0, 0)), (slice(None), slice(None), slice(0, 0))):
            for function in (attention, gyre.torch.linear_attention, lambda q, k, v: gyre.torch.rotary(q + k + v, ROPE)):
                given = [random(2, 4, 9, 64)[empty].clone().requires_grad_() for _ in range(3)]
                function(*given).sum().backward()  # the gradient is expanded: its strides are 0
                self.assertEqual([x.grad.shape for x in given], [x.shape for x in given])

    def test_a_view_that_negates(self):
        """NumPy's functions are handed the numbers before they are negated."""
        q, k, v = inputs()
        negated = torch._neg_view(q)
        torch.testing.assert_close(attention(negated, k, v), attention(-q, k, v))
        with self.assertRaisesRegex(ValueError, "q: is a view that negates"):
            gyre.attention(negated, k, v, layout="bhsd")


if __name__ == "__main__":
    unittest.main()
