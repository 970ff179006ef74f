"""Rotations, caches and linear attention on NumPy arrays.

    python operations_test.py
"""

import copy
import pickle
import unittest

import gyre
import numpy as np
from support import BF16, ROUNDING, assert_close, dtypes, heads_first, random, reference


def rotated(x, positions, **options):
    """float64's, bshd."""
    return reference.rotate(heads_first(x), positions, **options).swapaxes(1, 2)


class Rotary(unittest.TestCase):
    def test_every_type_and_pairing(self):
        positions = np.array([[0, 5, 131071], [7, 8, 9]])
        for dtype in dtypes():
            for pairing in ("half", "interleaved"):
                x = random(2, 3, 4, 64, dtype=dtype)
                got = gyre.rotary(x, gyre.Rope(theta=500.0, pairing=pairing), positions=positions)
                right = rotated(x, positions[:, None], inv_freq=reference.geometric(64, 500.0), interleaved=pairing == "interleaved")
                self.assertEqual(got.dtype, dtype)
                assert_close(self, got, right, 3e-5 + ROUNDING[dtype.name] * np.abs(right))

    def test_window_of_features_in_place_and_back(self):
        x = random(1, 6, 2, 64)
        rope = gyre.Rope(rotary_dim=32, rotary_offset=8)
        right = rotated(x, np.arange(6) + 3, inv_freq=reference.geometric(32), offset=8)
        kept = x.copy()
        self.assertIs(gyre.rotary(x, rope, position_offset=3, out=x), x)
        assert_close(self, x, right, 2e-5)
        assert_close(self, gyre.rotary(x, rope, position_offset=3, reverse=True), kept, 4e-5)

    def test_a_rope_is_copied_and_stored(self):
        x = random(1, 6, 2, 64)
        for rope in (gyre.Rope(theta=500.0, attention_factor=1.5), gyre.Rope(inv_freq=[1.0, 0.25], pairing="interleaved", rotary_offset=4)):
            right = gyre.rotary(x, rope)  # the library's structure has been made, with addresses
            for other in (copy.deepcopy(rope), pickle.loads(pickle.dumps(rope))):
                np.testing.assert_array_equal(gyre.rotary(x, other), right)
        with self.assertRaisesRegex(TypeError, "rope: has tables"):
            copy.deepcopy(gyre.Rope(cos=np.ones((4, 32), np.float32), sin=np.ones((4, 32), np.float32)))

    def test_a_rope_tells_what_it_is(self):
        self.assertEqual(repr(gyre.Rope()), "gyre.Rope(theta=10000)")
        self.assertEqual(repr(gyre.Rope(500.0, rotary_dim=32, pairing="interleaved", attention_factor=1.5)),
                         "gyre.Rope(theta=500, rotary_dim=32, pairing='interleaved', attention_factor=1.5)")
        self.assertEqual(repr(gyre.Rope(inv_freq=[1.0, 0.5])), "gyre.Rope(inv_freq=[2 frequencies], rotary_dim=4)")
        table = np.ones((4, 32), np.float32)
        self.assertEqual(repr(gyre.Rope(cos=table, sin=table)), "gyre.Rope(cos=…, sin=…)")

    def test_queries_and_keys_together(self):
        q, k, rope = random(2, 5, 4, 64), random(2, 5, 2, 64), gyre.Rope()
        q_out, k_out = gyre.rotary_qk(q, k, rope, position_offset=2)
        np.testing.assert_array_equal(q_out, gyre.rotary(q, rope, position_offset=2))
        np.testing.assert_array_equal(k_out, gyre.rotary(k, rope, position_offset=2))

    def test_tables_of_every_type_and_strides(self):
        x = random(2, 5, 4, 64)
        angle = np.arange(5)[:, None] * reference.geometric(64)
        for dtype in [*dtypes(), np.dtype(np.float64)]:
            cos, sin = (np.concatenate([f(angle)] * 2, axis=-1).astype(dtype) for f in (np.cos, np.sin))
            right = reference.rotate_by(heads_first(x), cos[:, :32].astype(np.float64), sin[:, :32].astype(np.float64)).swapaxes(1, 2)
            for tables in [(cos[:, :32], sin[:, :32]), (cos.T.copy().T[:, :32], sin[::-1].copy()[::-1][:, :32]),
                           (cos[None, :, :32], sin[None, :, :32]), (np.broadcast_to(cos[:, :32], (2, 5, 32)), sin[None, :, :32])]:
                assert_close(self, gyre.rotary(x, gyre.Rope(cos=tables[0], sin=tables[1])), right, 2e-6)


class Cache(unittest.TestCase):
    def test_append_and_decode(self):
        rope, other = gyre.Rope(), gyre.Rope(theta=77.0)
        k, v, q = random(2, 6, 2, 64), random(2, 6, 2, 64, seed=1), random(2, 6, 4, 64)
        k_cache, v_cache = np.zeros((2, 8, 2, 64), np.float32), np.zeros((2, 8, 2, 64), np.float32)
        gyre.cache_append(k[:, :5], v[:, :5], k_cache, v_cache, rope=rope, value_rope=other)
        gyre.cache_append(k[:, 5:], v[:, 5:], k_cache, v_cache, cache_seqlens=[5, 5], rope=rope, value_rope=other)
        got = gyre.attention(q[:, 5:], k_cache, v_cache, seqused_k=[6, 6], rope=rope, value_rope=other, keys_rotated=True,
                             values_rotated=True)
        whole = gyre.attention(q, k, v, causal=True, rope=rope, value_rope=other)
        assert_close(self, got, whole[:, 5:], 2e-5)
        self.assertTrue((k_cache[:, 6:] == 0).all())

    def test_converts(self):
        k = random(1, 3, 2, 64)
        for dtype in dtypes():
            cache = np.zeros((2, 1, 4, 2, 64), dtype)
            gyre.cache_append(k, k, cache[0], cache[1])
            np.testing.assert_array_equal(cache[0, :, :3], k.astype(dtype))

    def test_float32_queries_read_narrow_caches(self):
        rope, k, v, q = gyre.Rope(), random(2, 6, 2, 64), random(2, 6, 2, 64, seed=1), random(2, 6, 4, 64)
        for dtype in dtypes():
            caches = [np.zeros((2, 8, 2, 64), dtype) for _ in range(2)]
            gyre.cache_append(k, v, *caches, rope=rope)
            options = {"causal": True, "seqused_k": [6, 6], "rope": rope, "keys_rotated": True}
            for queries in (q, q[:, 5:]):
                got = gyre.attention(queries, *caches, **options)
                self.assertEqual(got.dtype, np.float32)
                np.testing.assert_array_equal(got, gyre.attention(queries, *(c.astype(np.float32) for c in caches), **options))

    def test_no_room(self):
        cache = np.zeros((1, 4, 2, 64), np.float32)
        with self.assertRaisesRegex(ValueError, "cache_seqlens"):
            gyre.cache_append(random(1, 3, 2, 64), random(1, 3, 2, 64), cache, cache.copy(), cache_seqlens=[2])
        self.assertTrue((cache == 0).all())


def features(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


class Linear(unittest.TestCase):
    def expected(self, q, k, v, seen):
        q, k, v = (heads_first(x) for x in (q, k, v))
        weights = np.where(seen, features(q) @ features(k).swapaxes(2, 3), 0)
        return (weights @ v / weights.sum(axis=3, keepdims=True)).swapaxes(1, 2)

    def test_causal_and_pieces(self):
        q, k, v = (random(2, 40, 2, 64, seed=i) for i in range(3))
        right = self.expected(q, k, v, np.tri(40, dtype=bool))
        assert_close(self, gyre.linear_attention(q, k, v, causal=True), right, 1e-4)
        first, state = gyre.linear_attention(q[:, :25], k[:, :25], v[:, :25], causal=True, return_state=True)
        self.assertEqual([x.shape for x in state], [(2, 2, 64, 64), (2, 2, 64)])
        second = gyre.linear_attention(q[:, 25:], k[:, 25:], v[:, 25:], causal=True, state=state)
        assert_close(self, np.concatenate([first, second], axis=1), right, 1e-4)

    def test_packed_sequences_have_states_of_their_own(self):
        q, k, v = (random(40, 2, 32, seed=i) for i in range(3))
        lists = np.array([0, 15, 40], np.int32)
        out, state = gyre.linear_attention(q, k, v, cu_seqlens_q=lists, cu_seqlens_k=lists, return_state=True, layout="thd")
        for sequence, tokens in enumerate((slice(0, 15), slice(15, 40))):
            right, alone = gyre.linear_attention(*(x[None, tokens] for x in (q, k, v)), return_state=True)
            assert_close(self, out[tokens], right[0], 1e-5)
            for got, expected in zip(state, alone):
                assert_close(self, got[sequence], expected[0], 1e-5 * np.abs(expected).max())
        with self.assertRaisesRegex(ValueError, "^cu_seqlens_q"):
            gyre.linear_attention(q, k, v, return_state=True, layout="thd")

    def test_queries_see_all_keys_unless_told(self):
        q, k, v, out_grad = (random(1, 12, 2, 32, seed=i) for i in range(4))
        assert_close(self, gyre.linear_attention(q, k, v), self.expected(q, k, v, np.ones((12, 12), bool)), 1e-4)
        for got, right in zip(gyre.linear_attention_backward(out_grad, q, k, v), gyre.linear_attention_backward(out_grad, q, k, v, causal=False)):
            np.testing.assert_array_equal(got, right)
        self.assertFalse(np.array_equal(got, gyre.linear_attention_backward(out_grad, q, k, v, causal=True)[2]))

    def test_gradients_of_pieces_are_those_of_the_whole(self):
        q, k, v, out_grad = (random(2, 40, 2, 32, seed=i) for i in range(4))
        first, second = slice(0, 25), slice(25, 40)
        _, state = gyre.linear_attention(*(x[:, first] for x in (q, k, v)), causal=True, return_state=True)
        *late, of_state = gyre.linear_attention_backward(*(x[:, second] for x in (out_grad, q, k, v)), causal=True, state=state)
        early = gyre.linear_attention_backward(*(x[:, first] for x in (out_grad, q, k, v)), causal=True, state_out_grad=of_state)
        for got, rest, right in zip(early, late, gyre.linear_attention_backward(out_grad, q, k, v, causal=True)):
            assert_close(self, np.concatenate([got, rest], axis=1), right, 1e-4 * np.abs(right).max())

    def test_layouts_of_states(self):
        q, k, v = (random(2, 9, 4 if i == 0 else 2, 32, seed=i) for i in range(3))
        out, state = gyre.linear_attention(q, k, v, return_state=True)
        turned, same = gyre.linear_attention(*(x.swapaxes(1, 2) for x in (q, k, v)), return_state=True, layout="bhsd")
        np.testing.assert_array_equal(turned.swapaxes(1, 2), out)
        for got, expected in zip(same, state):
            np.testing.assert_array_equal(got, expected)

    def test_gradients(self):
        q, k, v, out_grad = (random(1, 6, 2, 32, seed=i) for i in range(4))
        _, state = gyre.linear_attention(q, k, v, return_state=True)
        got = gyre.linear_attention_backward(out_grad, q, k, v, state=state)
        self.assertEqual([x.shape for x in got[3]], [(1, 2, 32, 32), (1, 2, 32)])
        random_step = [random(1, 6, 2, 32, seed=i + 9).astype(np.float64) for i in range(3)]
        got = gyre.linear_attention_backward(out_grad, q, k, v, causal=True)

        def loss(step):
            moved = [x + step * d for x, d in zip((q, k, v), random_step)]
            return (self.expected(*moved, np.tri(6, dtype=bool)) * out_grad).sum()

        slope = (loss(1e-5) - loss(-1e-5)) / 2e-5
        mine = sum((g.astype(np.float64) * d).sum() for g, d in zip(got, random_step))
        self.assertLess(abs(mine - slope), 1e-4 * sum(np.abs(g * d).sum() for g, d in zip(got, random_step)))


if __name__ == "__main__":
    unittest.main()
