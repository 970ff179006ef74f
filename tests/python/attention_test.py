"""gyre.attention() and its gradients on NumPy arrays are float64's, with every option handed on.

    python attention_test.py
"""

import unittest

import gyre
import numpy as np
from support import allowance, assert_close, dtypes, heads_first, random, reference


def rotation(theta=10000.0):
    return lambda x, positions, reverse=False: reference.rotate(
        x, positions, reference.geometric(x.shape[3], theta), reverse=reverse)


class Attention(unittest.TestCase):
    def check(self, q, k, v, rotated=False, options=None, **expected):
        out, lse = gyre.attention(q, k, v, return_lse=True, **(options or {}))
        right, right_lse = reference.attention(*(heads_first(x) for x in (q, k, v)), **expected)
        self.assertEqual((type(out), out.dtype, lse.dtype), (np.ndarray, q.dtype, np.dtype(np.float32)))
        assert_close(self, heads_first(out), right, allowance(q, k, v, np.swapaxes(right, 1, 2), rotated))
        assert_close(self, lse, right_lse, 2e-5 if q.dtype == np.float32 else 0.05)
        return out

    def test_every_type(self):
        for dtype in dtypes():
            with self.subTest(dtype):
                q, k, v = random(2, 20, 4, 64, dtype=dtype), random(2, 33, 2, 64, dtype=dtype), random(2, 33, 2, 64, dtype=dtype, seed=1)
                self.check(q, k, v)
                self.check(q, k, v, options={"causal": True}, seen=reference.visible(20, 33, "bottom_right"))

    def test_sinks_of_rows_that_see_no_key(self):
        """lse is -inf, as without sinks: parts are merged by it."""
        for dtype in dtypes():
            for rows in (1, 3, 40):
                q, k = random(2, rows, 4, 64, dtype=dtype), random(2, 65, 2, 64, dtype=dtype)
                out, lse = gyre.attention(q, k, k, sinks=random(4), seqused_k=[0, 65], return_lse=True)
                self.assertTrue((out[0] == 0).all() and np.isneginf(lse[0]).all() and np.isfinite(lse[1]).all())

    def test_options_one_by_one(self):
        q, k, v = random(2, 9, 4, 64), random(2, 12, 2, 64), random(2, 12, 2, 64, seed=1)
        bias, mask = random(4, 9, 12), random(2, 1, 9, 12) > -1
        sinks, alibi = random(4), np.array([0.5, 0.25, 0.125, 0.0625], np.float32)
        distance = np.arange(12) - (np.arange(9)[:, None] + 3)
        cases = [
            ({"scale": 0.25}, {"scale": 0.25}),
            ({"causal": True, "alignment": "top_left"}, {"seen": reference.visible(9, 12, "top_left")}),
            ({"window": (2, 1)}, {"seen": reference.visible(9, 12, None, 2, 1)}),
            ({"softcap": 2.0}, {"softcap": 2.0}),
            ({"bias": bias}, {"bias": bias}),
            ({"mask": mask}, {"seen": mask}),
            ({"sinks": sinks}, {"sinks": sinks}),
            ({"alibi": alibi}, {"bias": alibi[:, None, None] * distance}),
            ({"seqused_k": [7, 12]}, {"seen": np.arange(12) < np.array([7, 12])[:, None, None, None]}),
            ({"dropout": 0.25, "dropout_seed": 2**40 + 3, "dropout_offset": 5},
             {"keep": reference.dropout(0.25, 2**40 + 3, 5, 2, 4, 9, 12)}),
            ({"dropout": 0.25}, {"keep": reference.dropout(0.25, 0, 0, 2, 4, 9, 12)}),
        ]
        for options, expected in cases:
            with self.subTest(str(list(options))):
                self.check(q, k, v, options=options, **expected)

    def test_rotations(self):
        q, k, v = random(2, 9, 4, 64), random(2, 12, 2, 64), random(2, 12, 2, 64, seed=1)
        rope, other = gyre.Rope(), gyre.Rope(theta=500.0)
        positions = np.stack([np.arange(12), np.arange(12) * 3])
        for options, expected in [
            ({"rope": rope}, {"rope": rotation()}),
            ({"rope": rope, "value_rope": other}, {"rope": rotation(), "value_rope": rotation(500.0)}),
            ({"rope": rope, "q_positions": positions[:, 3:].astype(np.int64), "k_positions": positions.astype(np.int32)},
             {"rope": rotation(), "q_positions": positions[:, None, 3:], "k_positions": positions[:, None]}),
        ]:
            self.check(q, k, v, rotated=True, options=options, **expected)

    def test_layouts_are_the_same_bits(self):
        q, k, v = random(2, 9, 4, 64), random(2, 12, 2, 64), random(2, 12, 2, 64, seed=1)
        expected = gyre.attention(q, k, v, causal=True)
        turned = [np.ascontiguousarray(x.swapaxes(1, 2)) for x in (q, k, v)]
        np.testing.assert_array_equal(gyre.attention(*turned, causal=True, layout="bhsd").swapaxes(1, 2), expected)
        np.testing.assert_array_equal(gyre.attention(*(x.swapaxes(1, 2) for x in (q, k, v)), causal=True, layout="bhsd")
                                      .swapaxes(1, 2), expected)
        packed = gyre.attention(*(x.reshape(-1, *x.shape[2:]) for x in (q, k, v)), causal=True, layout="thd",
                                cu_seqlens_q=[0, 9, 18], cu_seqlens_k=[0, 12, 24])
        np.testing.assert_array_equal(packed.reshape(expected.shape), expected)

    def test_pages(self):
        q, pool_k, pool_v = random(2, 1, 4, 64), random(5, 16, 2, 64), random(5, 16, 2, 64, seed=1)
        table = np.array([[4, 1], [0, 3]], np.int32)
        k, v = (pool[table].reshape(2, 32, 2, 64) for pool in (pool_k, pool_v))
        np.testing.assert_array_equal(gyre.attention(q, pool_k, pool_v, block_table=table, seqused_k=[20, 32]),
                                      gyre.attention(q, k, v, seqused_k=[20, 32]))

    def test_a_mask_that_was_prepared_gives_the_same_bits(self):
        q, k = random(2, 40, 4, 64), random(2, 40, 2, 64, seed=1)
        documents = np.arange(40) // 13
        mask = (documents[:, None] == documents)[None, None] & (np.arange(40) >= [[[[3]]], [[[0]]]])
        for options in ({}, {"causal": True, "seqused_k": [40, 21]}, {"window": (5, 0)}):
            prepared = gyre.prepare_mask(mask, q, k, **options)
            for value in (k, k[..., :32]):
                np.testing.assert_array_equal(gyre.attention(q, k, value, mask=mask, prepared_mask=prepared, softcap=3.0, **options),
                                              gyre.attention(q, k, value, mask=mask, softcap=3.0, **options))
        prepared = gyre.prepare_mask(mask, q, k)
        for said, call in [
            ("^prepared_mask: was prepared for window_right -1, got 0",
             lambda: gyre.attention(q, k, k, mask=mask, prepared_mask=prepared, causal=True)),
            ("^prepared_mask: is given without mask", lambda: gyre.attention(q, k, k, prepared_mask=prepared)),
            ("^prepared_mask: got int64 of shape", lambda: gyre.attention(q, k, k, mask=mask, prepared_mask=prepared[::2])),
            ("^prepared_mask_size: got", lambda: gyre.attention(q, k, k, mask=mask, prepared_mask=prepared[:-9])),
            ("^prepared_mask: does not hold", lambda: gyre.attention(q, k, k, mask=mask, prepared_mask=np.zeros_like(prepared))),
            ("^mask: got NULL", lambda: gyre.prepare_mask(None, q, k)),
        ]:
            with self.assertRaisesRegex(ValueError, said):
                call()
        with self.assertRaisesRegex(NotImplementedError, "^mask: got stride"):
            gyre.prepare_mask(np.asfortranarray(mask), q, k)

    def test_out_is_written_and_returned(self):
        q = random(1, 5, 2, 64)
        out = np.full((1, 5, 2, 128), 7, np.float32)
        given = out[..., :64]
        self.assertIs(gyre.attention(q, q, q, out=given), given)
        np.testing.assert_array_equal(given, gyre.attention(q, q, q))
        self.assertTrue((out[..., 64:] == 7).all())

    def test_empty(self):
        self.assertEqual(gyre.attention(*[np.zeros((0, 4, 2, 64), np.float32)] * 3).shape, (0, 4, 2, 64))
        out, lse = gyre.attention(random(1, 3, 2, 64), *[np.zeros((1, 0, 2, 64), np.float32)] * 2, return_lse=True)
        self.assertTrue((out == 0).all() and (lse == -np.inf).all())


class Gradients(unittest.TestCase):
    def test_of_q_k_v_and_bias(self):
        q, k, v, out_grad = random(2, 9, 4, 64), random(2, 12, 2, 64), random(2, 12, 2, 64, seed=1), random(2, 9, 4, 64, seed=2)
        bias = random(1, 4, 9, 12)
        options = {"causal": True, "bias": bias}
        out, lse = gyre.attention(q, k, v, return_lse=True, **options)
        got = gyre.attention_backward(out_grad, q, k, v, out, lse, return_bias_grad=True, **options)
        *right, score_grad = reference.gradients(*(heads_first(x) for x in (q, k, v, out_grad)),
                                                 seen=reference.visible(9, 12, "bottom_right"), bias=bias)
        for mine, expected in zip(got, right):
            assert_close(self, heads_first(mine), expected, 64 * 2**-24 * np.abs(expected).max())
        assert_close(self, got[3], score_grad.sum(axis=0, keepdims=True), 64 * 2**-24 * np.abs(score_grad).max())


class Merge(unittest.TestCase):
    def test_parts_are_the_whole(self):
        q, k, v = random(2, 9, 4, 64), random(2, 12, 2, 64), random(2, 12, 2, 64, seed=1)
        parts = [gyre.attention(q, k[:, s], v[:, s], return_lse=True) for s in (slice(0, 6), slice(6, 12))]
        out, lse = gyre.merge_states(np.stack([p[0] for p in parts]), np.stack([p[1] for p in parts]))
        whole, whole_lse = gyre.attention(q, k, v, return_lse=True)
        assert_close(self, heads_first(out), heads_first(whole), 2 * allowance(q, k, v, whole))
        assert_close(self, lse, whole_lse, 2e-5)
        none, minus = gyre.merge_states(np.zeros((0, 2, 9, 4, 64), np.float32), np.zeros((0, 2, 4, 9), np.float32))
        self.assertTrue((none == 0).all() and (minus == -np.inf).all())


if __name__ == "__main__":
    unittest.main()
