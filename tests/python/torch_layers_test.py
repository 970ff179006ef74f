"""gyre.torch's layers, linear attention, caches, and gradients of sinks and masks.

    python torch_layers_test.py TESTS_DATA_DIRECTORY      skipped where there is no PyTorch, or the library was built without its operators
"""

import ast
import pathlib
import re
import sys
import unittest

from torch_support import random  # skips the test where there is no gyre.torch

import gyre
import gyre.torch
import torch

DATA = pathlib.Path(sys.argv.pop(1))


def recorded():
    """What labml-nn's module has computed: rows of lists."""
    text = re.sub(r"//.*", "", (DATA / "multi_head_attention.inc").read_text())
    for name, value in (("{", "["), ("}", "]"), ("true", "True"), ("false", "False")):
        text = text.replace(name, value)
    return ast.literal_eval(f"[{text}]")


def numbers(seed, *shape):
    """make_multi_head_attention.py's inputs."""
    values = []
    for i in range(torch.Size(shape).numel()):
        x = (i * 2654435761 + seed * 40503 + 12345) % 2**32
        x ^= x >> 15
        values.append((x * 2246822519 % 2**32 >> 16) / 65536 - 0.5)
    return torch.tensor(values).reshape(shape)


def mask_of(kind, queries, keys):
    if kind == "none":
        return None
    if kind == "causal":
        return torch.ones(queries, keys).tril()[:, :, None]
    mask = numbers(9, queries, keys, 2) > 0
    mask[:, 0] = True
    return mask


class RotaryValue(unittest.TestCase):
    def close(self, got, right):
        right = torch.tensor(right).reshape(got.shape)
        self.assertLess((got - right).abs().max(), 1e-5 * right.abs().max().clamp(min=1))

    def test_results_and_gradients_are_labmls(self):
        for name, rope, value_rope, queries, keys, is_self, kind, out, _, input_grads, grads in recorded():
            with self.subTest(name):
                module = gyre.torch.RotaryValueMultiHeadAttention(2, 16, rope, value_rope)
                for seed, parameter in enumerate(module.parameters()):
                    parameter.data = numbers(20 + seed, *parameter.shape)
                inputs = [(4 * numbers(1 + i, n, 2, 16)).requires_grad_() for i, n in enumerate([queries, keys, keys])]
                query, key, value = [inputs[0]] * 3 if is_self else inputs
                got = module(query=query, key=key, value=value, mask=mask_of(kind, queries, keys))
                self.close(got, out)
                got.backward(numbers(4, *got.shape))
                for x, right in zip(inputs[:1] if is_self else inputs, input_grads):
                    self.close(x.grad, right)
                for parameter, right in zip(module.parameters(), grads):
                    self.close(parameter.grad, right)

    def test_parameters_have_labmls_names(self):
        self.assertEqual(list(gyre.torch.RotaryValueMultiHeadAttention(2, 16).state_dict()),
                         [f"{name}.{kind}" for name in ("query.linear", "key.linear", "value.linear", "output") for kind in ("weight", "bias")])

    def test_causal_is_the_mask(self):
        module, x = gyre.torch.RotaryValueMultiHeadAttention(4, 64), random(11, 3, 64)
        masked = module(query=x, key=x, value=x, mask=mask_of("causal", 11, 11))
        torch.testing.assert_close(module(query=x, key=x, value=x, causal=True), masked, atol=1e-5, rtol=1e-5)

    def test_without_rotations(self):
        """Shares of 0, and of heads of one feature, half of which is none."""
        x = random(5, 3, 8)
        for heads, shares in ((2, (0.0, 0.0)), (2, (0.5, 0.0)), (2, (0.0, 0.5)), (8, ())):
            layer = gyre.torch.RotaryValueMultiHeadAttention(heads, 8, *shares)
            self.assertEqual(layer(query=x, key=x, value=x, causal=True).shape, x.shape)
        layer = gyre.torch.LinearAttention(2, 8, rope_percentage=0.0)
        whole, (first, state) = layer(x)[0], layer(x[:2])
        torch.testing.assert_close(torch.cat((first, layer(x[2:], state, 2)[0])), whole)

    def test_dropout_is_of_training_alone(self):
        module, x = gyre.torch.RotaryValueMultiHeadAttention(4, 64, dropout_prob=0.5), random(11, 3, 64)
        first, second = (module(query=x, key=x, value=x) for _ in range(2))
        self.assertFalse(torch.equal(first, second))
        module.eval()
        first, second = (module(query=x, key=x, value=x) for _ in range(2))
        self.assertTrue(torch.equal(first, second))

    def test_mistakes(self):
        for said, make in (("heads: got 3", lambda: gyre.torch.RotaryValueMultiHeadAttention(3, 16)),
                           ("dropout_prob: got -1", lambda: gyre.torch.RotaryValueMultiHeadAttention(2, 16, dropout_prob=-1.0)),
                           ("mask: got rank 2", lambda: gyre.torch.RotaryValueMultiHeadAttention(2, 16)(
                               query=random(5, 1, 16), key=random(5, 1, 16), value=random(5, 1, 16), mask=torch.ones(5, 5))),
                           ("rope_percentage: got 0.4", lambda: gyre.torch.RotaryValueMultiHeadAttention(2, 16, 0.4))):
            with self.assertRaisesRegex(ValueError, said):
                make()


class Linear(unittest.TestCase):
    def eager(self, q, k, v, causal):
        """In float64, bhsd, without rotations."""
        q, k, v = (x.double() for x in (q, k, v))
        weights = (torch.nn.functional.elu(q) + 1) @ (torch.nn.functional.elu(k) + 1).transpose(-1, -2)
        weights = weights.tril() if causal else weights
        return weights @ v / weights.sum(-1, keepdim=True)

    def test_results_and_gradients(self):
        q, k, v = (random(2, 3, 20, 16, seed=i, grad=True) for i in range(3))
        weight = random(2, 3, 20, 16, seed=9)
        for causal in (False, True):
            out, right = gyre.torch.linear_attention(q, k, v, causal=causal), self.eager(q, k, v, causal)
            torch.testing.assert_close(out.double(), right, atol=1e-5, rtol=1e-5)
            for mine, expected in zip(torch.autograd.grad((out * weight).sum(), (q, k, v)), torch.autograd.grad((right * weight).sum(), (q, k, v))):
                torch.testing.assert_close(mine, expected, atol=1e-5, rtol=1e-4)

    def test_a_sequence_in_pieces(self):
        module, x = gyre.torch.LinearAttention(2, 32), random(20, 2, 32, grad=True)
        whole, _ = module(x)
        first, state = module(x[:7])
        second, _ = module(x[7:], state, 7)
        pieces = torch.cat([first, second])
        torch.testing.assert_close(pieces, whole, atol=1e-5, rtol=1e-5)
        # Gradients of the first piece come through the state as well.
        weight = random(20, 2, 32, seed=4)
        mine, right = (torch.autograd.grad((out * weight).sum(), x)[0] for out in (pieces, whole))
        torch.testing.assert_close(mine, right, atol=1e-5, rtol=1e-4)

    def test_opcheck(self):
        q, k, v = (random(1, 2, 9, 16, seed=i, grad=True) for i in range(3))
        states = (random(1, 2, 16, 16).abs().requires_grad_(), random(1, 2, 16).abs().requires_grad_())
        torch.library.opcheck(torch.ops.gyre.linear_attention.default, (q, k, v, True), {"causal": True})
        torch.library.opcheck(torch.ops.gyre.linear_attention.default, (q, k, v, True, *states))


class Caches(unittest.TestCase):
    def test_token_by_token(self):
        q, k, v = (random(1, 2, 12, 64, seed=i) for i in range(3))
        rope = gyre.Rope()
        whole = gyre.torch.attention(q, k, v, causal=True, rope=rope, value_rope=rope)
        k_cache, v_cache = torch.zeros(1, 2, 16, 64), torch.zeros(1, 2, 16, 64)
        for begin, end in ((0, 10), (10, 11), (11, 12)):
            gyre.torch.cache_append(k[:, :, begin:end], v[:, :, begin:end], k_cache, v_cache, rope=rope, value_rope=rope,
                                    cache_seqlens=torch.tensor([begin], dtype=torch.int32))
            out = gyre.torch.attention(q[:, :, begin:end], k_cache, v_cache, causal=True, rope=rope, value_rope=rope, keys_rotated=True,
                                       values_rotated=True, seqused_k=torch.tensor([end], dtype=torch.int32))
            torch.testing.assert_close(out, whole[:, :, begin:end], atol=1e-5, rtol=1e-5)
        torch.library.opcheck(torch.ops.gyre.cache_append.default, (k, v, k_cache, v_cache))
        with self.assertRaisesRegex(RuntimeError, "cache_seqlens"):
            gyre.torch.cache_append(k, v, k_cache, v_cache, cache_seqlens=torch.tensor([9], dtype=torch.int32))


class GradientsOfSinksAndMasks(unittest.TestCase):
    def test_are_those_of_plain_operators(self):
        q, k, v, sinks = (*(random(2, 4, 9, 16, seed=i, grad=True) for i in range(3)), random(4, grad=True))
        mask, weight = random(2, 1, 9, 9, seed=8) > -1, random(2, 4, 9, 16, seed=7)
        mask[0, 0, 3] = False
        scores = (q @ k.transpose(-1, -2) / 4).masked_fill(~mask, -torch.inf)
        p = torch.softmax(torch.cat([scores, sinks[None, :, None, None].expand(2, 4, 9, 1)], -1), -1)[..., :-1]
        right = torch.autograd.grad((p @ v * weight).sum(), (q, k, v, sinks))
        got = torch.autograd.grad((gyre.torch.attention(q, k, v, mask=mask, sinks=sinks) * weight).sum(), (q, k, v, sinks))
        turned = (x.transpose(1, 2) for x in (q, k, v))
        bshd = torch.autograd.grad((gyre.torch.attention(*turned, mask=mask, sinks=sinks, layout="bshd").transpose(1, 2) * weight).sum(),
                                   (q, k, v, sinks))
        for mine, other, expected in zip(got, bshd, right):
            torch.testing.assert_close(mine, expected, atol=1e-5, rtol=1e-4)
            torch.testing.assert_close(other, expected, atol=1e-5, rtol=1e-4)


if __name__ == "__main__":
    unittest.main()
