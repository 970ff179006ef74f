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

    def test_gradients_that_would_be_lost(self):
        q, k, v = inputs()
        learnt = torch.ones(32, requires_grad=True)
        for name, options in {"inv_freq": {"inv_freq": learnt}, "theta": {"theta": learnt[0] + 1e4}, "attention_factor": {"attention_factor": learnt[0]}}.items():
            with self.subTest(name), self.assertRaisesRegex(ValueError, f"^{name}: requires gradients"):
                gyre.Rope(**options)
        table, learnt_table = torch.ones(9, 32), torch.ones(9, 32, requires_grad=True)
        for name, tables in {"cos": (learnt_table, table), "sin": (table, learnt_table)}.items():
            with self.subTest(name), self.assertRaisesRegex(ValueError, f"^{name}: requires gradients"):
                gyre.torch.rotary(q, tables)
            with self.subTest(name), self.assertRaisesRegex(ValueError, f"^{name}: requires gradients"):
                gyre.torch.rotary_qk(q, k[:, :, :9], tables)
            with torch.no_grad():
                self.assertTrue(torch.equal(gyre.torch.rotary(q, tables), gyre.torch.rotary(q, (table, table))))
        for out in (torch.empty_like(q).requires_grad_(), torch.empty_like(q).requires_grad_() * 1):
            with self.assertRaisesRegex(ValueError, "^out: requires gradients"):
                gyre.torch.attention(q, k, v, out=out)
            with torch.no_grad():
                self.assertTrue(torch.equal(gyre.torch.attention(q, k, v, out=out), gyre.torch.attention(q, k, v)))
        cache = torch.zeros(2, 2, 16, 64, requires_grad=True)
        with self.assertRaisesRegex(ValueError, "^k_cache: requires gradients"):
            gyre.torch.cache_append(k, v, cache, torch.zeros(2, 2, 16, 64))
        with self.assertRaisesRegex(ValueError, "^v_cache: requires gradients"):
            gyre.torch.cache_append(k, v, torch.zeros(2, 2, 16, 64), cache)

    def test_flags_and_tensors_are_what_they_are_in_numpy(self):
        q, k, v = inputs()
        learns = q.clone().requires_grad_()
        for bad in (1, 0, None, "yes", 1.0, torch.tensor(True)):
            for name in ("causal", "keys_rotated", "values_rotated", "return_lse"):
                for queries in (q, learns):
                    with self.subTest(f"{name}={bad!r}"), self.assertRaisesRegex(TypeError, f"^{name}: got .*expected True or False"):
                        gyre.torch.attention(queries, k, v, **{name: bad})
            with self.assertRaisesRegex(TypeError, "^reverse: got"):
                gyre.torch.rotary(q, gyre.Rope(), reverse=bad)
            for name in ("causal", "return_state"):
                with self.assertRaisesRegex(TypeError, f"^{name}: got"):
                    gyre.torch.linear_attention(k, k, v, **{name: bad})
        for name in ("bias", "mask", "sinks", "alibi", "seqused_k", "block_table", "q_positions", "out"):
            with self.subTest(name), self.assertRaisesRegex(TypeError, f"^{name}: got list, expected a torch.Tensor"):
                gyre.torch.attention(q, k, v, **{name: [1, 2]})
        for rope in (None, 1e4, (torch.ones(9, 32),), [torch.ones(9, 32)] * 2):
            with self.assertRaisesRegex(TypeError, "^rope: got .*expected a gyre.Rope, or a tuple"):
                gyre.torch.rotary(q, rope)
        with self.assertRaisesRegex(TypeError, "^x: got ndarray"):
            gyre.torch.rotary(q.numpy(), gyre.Rope())
        with self.assertRaisesRegex(TypeError, "^k: got ndarray"):
            gyre.torch.rotary_qk(q, q.numpy(), gyre.Rope())

    def test_what_is_no_number_or_tensor_is_named(self):
        q, k, v = inputs()
        learns, options = q.clone().requires_grad_(), {"dropout": 0.5}
        for queries in (q, learns):
            for bad in ("x", (3.0, 2), [1], 1 + 2j, torch.ones(2), torch.float32, {}):
                for name in ("scale", "softcap", "dropout"):
                    with self.subTest(f"{name}={bad!r}"), self.assertRaisesRegex(TypeError, f"^{name}: got .*expected a number"):
                        gyre.torch.attention(queries, k, v, **{name: bad})
            for bad in ("x", 3.5, None, [1], torch.ones(2)):
                for name in ("dropout_seed", "dropout_offset"):
                    with self.subTest(f"{name}={bad!r}"), self.assertRaisesRegex(TypeError, f"^{name}: got .*expected an integer"):
                        gyre.torch.attention(queries, k, v, **options, **{name: bad})
                with self.assertRaisesRegex(TypeError, "^window: got .*expected an integer"):
                    gyre.torch.attention(queries, k, v, window=(bad, 2))
                with self.assertRaisesRegex(TypeError, "^position_offset: got .*expected an integer"):
                    gyre.torch.rotary(queries, gyre.Rope(), position_offset=bad)
        for name in ("dropout_seed", "dropout_offset"):
            with self.assertRaisesRegex(ValueError, f"^{name}: got {2**70}"):
                gyre.torch.attention(q, k, v, **options, **{name: 2**70})
        of_one = gyre.torch.attention(q, k, v, scale=torch.tensor([0.5]), softcap=torch.tensor(3), window=(torch.tensor(3), 0))
        self.assertTrue(torch.equal(of_one, gyre.torch.attention(q, k, v, scale=0.5, softcap=3.0, window=(3, 0))))
        caches = torch.zeros(2, 2, 16, 64), torch.zeros(2, 2, 16, 64)
        arguments = {"q": q, "k": k, "v": v, "k_cache": caches[0], "v_cache": caches[1]}
        for function, names in ((gyre.torch.linear_attention, "q k v"), (gyre.torch.cache_append, "k v k_cache v_cache"), (gyre.torch.attention, "q k v")):
            given = {name: arguments[name] for name in names.split()}
            for name in given:
                for bad in (None, 3.5, "x", [1.0]):
                    with self.subTest(f"{function.__name__} {name}={bad!r}"), self.assertRaisesRegex(TypeError, f"^{name}: got .*expected a torch.Tensor"):
                        function(**given | {name: bad})
        for name in ("seqused_k", "cu_seqlens_q", "q_positions", "state"):
            with self.assertRaisesRegex(TypeError, f"^{name}: got list"):
                gyre.torch.linear_attention(k, k, v, **{name: [1]})
        for name in ("cache_seqlens", "block_table", "positions"):
            with self.assertRaisesRegex(TypeError, f"^{name}: got list"):
                gyre.torch.cache_append(k, v, *caches, **{name: [1]})
        for name in ("q", "k"):
            with self.assertRaisesRegex(TypeError, f"^{name}: got list"):
                gyre.torch.prepare_mask(torch.ones(9, 12, dtype=torch.bool), **{"q": q, "k": k} | {name: [1]})
        with self.assertRaisesRegex(ValueError, "^x: got rank 0"):
            gyre.torch.rotary(torch.tensor(1.0), gyre.Rope())
        with self.assertRaisesRegex(ValueError, "^q: got rank 0"):
            gyre.torch.attention(torch.tensor(1.0), k, v, rope=gyre.Rope())

    def test_features_that_lie_apart(self):
        q, k, v = inputs()
        apart = q.mT.contiguous().mT
        for name, call in {"q": lambda: gyre.torch.attention(apart, k, v), "x": lambda: gyre.torch.rotary(apart, gyre.Rope())}.items():
            with self.assertRaisesRegex(RuntimeError, rf"^{name}: got strides .*, expected the last to be 1, as in {name}\.contiguous\(\)$"):
                call()
        with self.assertRaisesRegex(RuntimeError, "^block_table: got rank 1"):
            gyre.torch.attention(q, k, v, block_table=torch.zeros(2, dtype=torch.int32))

    def test_mistakes_are_exceptions(self):
        q, k, v = inputs()
        for said, call in [
            ("k: got shape", lambda: gyre.torch.attention(q, k[..., :32], v)),
            ("q: got f64", lambda: gyre.torch.attention(q.double(), k, v)),
            ("mask: got a type that gyre does not take, expected bool", lambda: gyre.torch.attention(q, k, v, mask=torch.ones(9, 12).byte())),
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
