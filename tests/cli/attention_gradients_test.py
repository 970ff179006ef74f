"""gyre attention's gradients, and dropout, against the definition."""

import numpy as np

import reference
from attention_case import TOLERANCE, AttentionCase


class AttentionGradients(AttentionCase):
    def gradients(self, q, k, v, out_grad, *options):
        self.save("g.npy", out_grad)
        files = ("--out-grad", "g.npy", "--q-grad", "dq.npy", "--k-grad", "dk.npy", "--v-grad", "dv.npy")
        self.attend(q, k, v, *files, *options)
        return [self.load(name) for name in ("dq.npy", "dk.npy", "dv.npy")]

    def test_gradients(self):
        q, k, v = self.inputs(batch=2, heads=4, kv_heads=2, lq=20, lk=37, v_dim=24)
        out_grad = self.normal(2, 4, 20, 24)
        seen = reference.visible(20, 37, "bottom_right")
        expected = reference.gradients(q, k, v, out_grad, seen)
        for got, gradient in zip(self.gradients(q, k, v, out_grad, "--causal", "bottom_right"), expected):
            self.close(got, gradient, TOLERANCE)

    def test_gradients_of_rotated_values(self):
        q, k, v = self.inputs(lq=20, lk=20, dim=16)
        out_grad, steps, inv_freq = self.normal(1, 2, 20, 16), np.arange(20), reference.geometric(16)

        def turn(x, reverse=False):
            return reference.rotate(x, steps, inv_freq, reverse=reverse)

        expected = reference.gradients(turn(q), turn(k), turn(v), turn(out_grad))
        got = self.gradients(q, k, v, out_grad, "--rotary-dim", "16", "--rotary-v-dim", "16")
        for one, gradient in zip(got, expected):
            self.close(one, turn(gradient, reverse=True), TOLERANCE)

    def test_gradient_of_a_bias(self):
        q, k, v = self.inputs(batch=2, heads=4, kv_heads=2, lq=20, lk=37, v_dim=24)
        out_grad, seen = self.normal(2, 4, 20, 24), reference.visible(20, 37, "bottom_right")
        for shape, summed in (((2, 4, 20, 37), ()), ((4, 20, 37), (0,)), ((2, 1, 20, 1), (1, 3)), ((37,), (0, 1, 2))):
            bias = self.normal(*shape)
            self.save("b.npy", bias)
            expected = reference.gradients(q, k, v, out_grad, seen, bias)
            options = ("--causal", "bottom_right", "--bias", "b.npy", "--bias-grad", "db.npy")
            for got, gradient in zip(self.gradients(q, k, v, out_grad, *options), expected):
                self.close(got, gradient, TOLERANCE)
            self.close(self.load("db.npy"), expected[3].sum(axis=summed, keepdims=True).reshape(shape), 20 * TOLERANCE)

    def test_dropout(self):
        q, k, v = self.inputs(batch=2, heads=4, kv_heads=2, lq=20, lk=37, v_dim=24)
        out_grad = self.normal(2, 4, 20, 24)
        for p, seed, offset in ((0.25, 0, 0), (0.9, 2**64 - 7, 2**32 - 1)):
            options = ["--dropout", p, "--dropout-seed", seed, "--dropout-offset", offset]
            keep = reference.dropout(p, seed, offset, 2, 4, 20, 37)
            self.check((q, k, v), options, keep=keep)
            expected = reference.gradients(q, k, v, out_grad, keep=keep)
            for got, gradient in zip(self.gradients(q, k, v, out_grad, *options), expected):
                self.close(got, gradient, 10 * TOLERANCE)

    def test_gradients_are_given_together_and_for_options_that_have_them(self):
        q, k, v = self.inputs(lq=5, lk=5)
        for name, array in (("q", q), ("k", k), ("v", v), ("g", q), ("b", np.zeros((5, 5), np.float32))):
            self.save(name + ".npy", array)
        attention = ("attention", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy")
        files = ("--out-grad", "g.npy", "--q-grad", "dq.npy", "--k-grad", "dk.npy", "--v-grad", "dv.npy")
        self.refuse("--v-grad", *attention, *files[:-2])
        self.refuse("--q-grad", *attention, *files[2:])
        self.refuse("--k-grad dq.npy", *attention, *files[:4], "--k-grad", "dq.npy", "--v-grad", "dv.npy")
        self.refuse("--bias-grad --bias", *attention, *files, "--bias-grad", "db.npy")
        self.refuse("--bias-grad --out-grad", *attention, "--bias", "b.npy", "--bias-grad", "db.npy")
        self.refuse("--bias-grad dq.npy", *attention, *files, "--bias", "b.npy", "--bias-grad", "dq.npy")
        self.save("g.npy", q[:, :, :4])
        self.refuse("--out-grad g.npy", *attention, *files)
