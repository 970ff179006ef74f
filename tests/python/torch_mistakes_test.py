"""gyre.torch: what it refuses, in the library's words.

    python torch_mistakes_test.py        skipped where there is no PyTorch, or the library was built without its operators
"""

import unittest

from torch_support import inputs  # skips the test where there is no gyre.torch

import gyre
import gyre.torch
import torch


class Mistakes(unittest.TestCase):
    def test_what_would_be_lost_is_refused(self):
        q, k, v = inputs()
        shifted = gyre.Rope(rotary_offset=16, rotary_dim=32)
        for name in ("rope", "value_rope"):
            with self.assertRaisesRegex(ValueError, f"{name}.rotary_offset: got 16"):
                gyre.torch.attention(q, k, v, **{name: shifted})
        with self.assertRaisesRegex(ValueError, "rotary_offset"):
            gyre.torch.cache_append(k, v, torch.zeros_like(k), torch.zeros_like(v), rope=shifted)
        turned = gyre.torch.rotary(q, shifted)
        self.assertTrue(torch.equal(turned[..., :16], q[..., :16]) and torch.equal(turned[..., 48:], q[..., 48:]))
        self.assertFalse(torch.equal(turned[..., 16:48], q[..., 16:48]))
        for window in (5, (1, 2, 3), "ab3"):
            with self.assertRaisesRegex(TypeError, "window: got"):
                gyre.torch.attention(q, k, v, window=window)
        slopes = torch.ones(q.shape[1], requires_grad=True)
        with self.assertRaisesRegex(ValueError, "alibi: requires gradients"):
            gyre.torch.attention(q, k, v, alibi=slopes)
        with torch.no_grad():
            self.assertFalse(gyre.torch.attention(q, k, v, alibi=slopes).requires_grad)
        for name in ("scale", "softcap", "dropout"):
            number = torch.tensor(0.5, requires_grad=True)
            with self.subTest(name), self.assertRaisesRegex(ValueError, f"{name}: requires gradients"):
                gyre.torch.attention(q.detach(), k.detach(), v.detach(), **{name: number})
            with torch.no_grad():
                self.assertFalse(gyre.torch.attention(q, k, v, **{name: number}).requires_grad)

    def test_mistakes_are_exceptions(self):
        q, k, v = inputs()
        for said, call in [
            ("k: got shape", lambda: gyre.torch.attention(q, k[..., :32], v)),
            ("q: got f64", lambda: gyre.torch.attention(q.double(), k, v)),
            ("mask: got a type that gyre does not take, expected float32", lambda: gyre.torch.attention(q, k, v, mask=torch.ones(9, 12).byte())),
            ("q: got rank 3", lambda: gyre.torch.attention(q[0], k, v)),
            ("q: got rank 5", lambda: torch.ops.gyre.attention_out(q[None], k, v, q, None)),
            ("scale: got 0, expected another", lambda: gyre.torch.attention(q, k, v, scale=0.0)),
            ("scale: got 1e-50, which is 0 in float32", lambda: gyre.torch.attention(q, k, v, scale=1e-50)),
            ("softcap: got 1e-50, which is 0 in float32", lambda: gyre.torch.attention(q, k, v, softcap=1e-50)),
            ("rope.rotary_dim: got 63, expected an even", lambda: gyre.torch.attention(q[..., :63], k[..., :63], v, rope=gyre.Rope())),
            ("rope.rotary_dim: got 3, expected an even", lambda: gyre.torch.rotary(q, gyre.Rope(rotary_dim=3))),
            ("value_rope.theta: got 0.5, expected a finite", lambda: gyre.torch.attention(q, k, v, value_rope=gyre.Rope(theta=0.5))),
            ("dropout_offset: got 4294967296", lambda: gyre.torch.attention(q, k, v, dropout=0.5, dropout_offset=2**32)),
            ("out: is given where gradients", lambda: gyre.torch.attention(q.clone().requires_grad_(), k, v, out=q)),
            ("value_rope: got another", lambda: gyre.torch.attention(q, k, v, rope=gyre.Rope(), value_rope=gyre.Rope(pairing="interleaved"))),
        ]:
            with self.assertRaisesRegex((RuntimeError, ValueError), f"^{said}"):  # the library's words alone
                call()
        with self.assertRaisesRegex(TypeError, "^mask: got torch.int64, expected torch.bool"):
            gyre.torch.attention(q.clone().requires_grad_(), k, v, mask=torch.ones(9, 12, dtype=torch.int64))
        pages = torch.zeros(2, 1, dtype=torch.int32)
        with self.assertRaisesRegex(NotImplementedError, "no gradients of calls with block_table"):
            gyre.torch.attention(q.requires_grad_(), k[:, :, :8], v[:, :, :8], block_table=pages,
                                 seqused_k=torch.tensor([2, 2], dtype=torch.int32)).sum().backward()


if __name__ == "__main__":
    unittest.main()
