"""gyre attention against the definition: masks, shapes and layouts."""

import numpy as np

import reference
from attention_case import TOLERANCE, AttentionCase


class Attention(AttentionCase):
    def test_plain(self):
        self.check(self.inputs(), [])
        self.check(self.inputs(batch=2, heads=3, lq=64, lk=128, dim=64), [])

    def test_one_of_each(self):
        self.check(self.inputs(heads=1, lq=1, lk=1, dim=8), [])

    def test_f64_files_run_as_f32(self):
        qkv = [each.astype(np.float64) for each in self.inputs()]
        self.check(qkv, [])

    def test_grouped_queries(self):
        self.check(self.inputs(heads=6, kv_heads=2), [])
        self.check(self.inputs(heads=4, kv_heads=1), [])

    def test_pages(self):
        q, k, v = self.inputs(batch=2, heads=4, kv_heads=2, lq=3, lk=48)
        used, table = [48, 20], np.array([[4, 0, 2], [5, 1, 77]])
        pools = [np.full((6, 2, 16, 32), np.nan, np.float32) for _ in range(2)]
        for batch, keys in enumerate(used):
            for key in range(keys):
                for pool, tensor in zip(pools, (k, v)):
                    pool[table[batch, key // 16], :, key % 16] = tensor[batch, :, key]
        self.save("used.npy", np.array(used))
        self.save("table.npy", table)
        expected = self.attend(q, k, v, "--seqused-k", "used.npy")
        paged = self.attend(q, *pools, "--seqused-k", "used.npy", "--page-table", "table.npy")
        for a, b in zip(expected, paged):
            np.testing.assert_array_equal(a, b)
        # Both queries packed, pools with tokens before heads.
        self.save("begins.npy", np.array([0, 3, 6]))
        pages = ("--seqused-k", "used.npy", "--page-table", "table.npy", "--cu-seqlens-q", "begins.npy")
        packed = self.attend(np.concatenate(q.swapaxes(1, 2)), *(pool.swapaxes(1, 2) for pool in pools), *pages)
        np.testing.assert_array_equal(np.concatenate(expected[0].swapaxes(1, 2)), packed[0])

    def test_values_in_blocks(self):
        q, k, v = self.inputs(heads=4, kv_heads=2, lq=3, lk=64, dim=64)
        self.save("used.npy", np.array([40]))
        options = ("--dtype", "bf16", "--seqused-k", "used.npy", "--rotary-dim", "64", "--keys-rotated")
        expected = self.attend(q, k, v, *options)
        blocks = v.reshape(1, 2, 2, 32, 64).swapaxes(3, 4).reshape(v.shape)
        if any(target["name"] == "x86_64_amx" and target["runnable"] for target in self.succeed_json("info")["targets"]):
            for a, b in zip(expected, self.attend(q, k, blocks, *options, "--value-order", "blocks")):
                np.testing.assert_array_equal(a, b)
        files = ("--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy")
        self.refuse("--value-order", "attention", *files, "--value-order", "columns")
        self.refuse("v", "attention", *files, "--value-order", "blocks")  # in f32

    def test_another_v_head_dim(self):
        self.check(self.inputs(dim=32, v_dim=48), [])

    def test_scale_and_softcap(self):
        self.check(self.inputs(), ["--scale", 0.5], scale=0.5)
        self.check(self.inputs(), ["--scale", -0.25, "--softcap", 1.5], scale=-0.25, softcap=1.5)

    def test_causal(self):
        for lq, lk in ((37, 37), (5, 37), (37, 5)):
            for alignment in ("bottom_right", "top_left"):
                self.check(
                    self.inputs(lq=lq, lk=lk), ["--causal", alignment], seen=reference.visible(lq, lk, alignment)
                )

    def test_causal_without_a_value(self):
        self.check(self.inputs(lq=5), ["--causal"], seen=reference.visible(5, 37, "bottom_right"))
        self.check(
            self.inputs(lq=5), ["--causal", "--window-left", 6], seen=reference.visible(5, 37, "bottom_right", 6)
        )

    def probabilities(self, qkv, *options):
        self.attend(*qkv, "--probabilities", "p.npy", *options)
        return self.load("p.npy")

    def test_probabilities(self):
        """There are more keys than head_dim, not a multiple of it; the sum of probabilities times values is out."""
        for settings in ({}, {"batch": 2, "heads": 4, "kv_heads": 2, "lk": 100}, {"lk": 5}, {"lk": 64, "v_dim": 8}):
            q, k, v = self.inputs(**settings)
            got = self.probabilities((q, k, v), "--causal")
            batch, heads, lq, lk = got.shape
            units = np.broadcast_to(np.eye(lk), (batch, k.shape[1], lk, lk))
            expected, _ = reference.attention(q, k, units, seen=reference.visible(lq, lk, "bottom_right"))
            self.assertEqual(got.dtype, np.float32)
            self.close(got, expected, TOLERANCE)
            values = np.repeat(v, heads // k.shape[1], axis=1)
            self.close(self.load("o.npy"), got.astype(np.float64) @ values, TOLERANCE)

    def test_probabilities_of_other_layouts_and_types(self):
        q, k, v = self.inputs(batch=2, heads=4, kv_heads=2, v_dim=24)
        expected, _ = reference.attention(q, k, np.broadcast_to(np.eye(37), (2, 2, 37, 37)))
        turned = [each.swapaxes(1, 2) for each in (q, k, v)]
        self.close(self.probabilities(turned, "--layout", "bshd"), expected, TOLERANCE)
        half = self.probabilities((q, k, v), "--dtype", "f16")
        self.assertEqual(half.dtype, np.float32)
        self.close(half, expected, 2e-3)  # of q, k and the weights, rounded to 11 bits

    def test_probabilities_with_sinks_dropout_and_rotated_values(self):
        q, k, v = self.inputs()
        self.save("s.npy", np.array([1.5, -1]))
        units = np.broadcast_to(np.eye(37), (1, 2, 37, 37))
        expected, _ = reference.attention(q, k, units, sinks=np.array([1.5, -1]))
        self.close(self.probabilities((q, k, v), "--sinks", "s.npy", "--rotary-v-dim", 32), expected, TOLERANCE)
        expected, _ = reference.attention(q, k, units)
        self.close(self.probabilities((q, k, v), "--dropout", 0.5), expected, TOLERANCE)

    def test_probabilities_of_no_keys(self):
        self.assertEqual(self.probabilities(self.inputs(lk=0)).shape, (1, 2, 13, 0))

    def test_rows_that_see_nothing(self):
        out, lse = self.attend(*self.inputs(lq=9, lk=4), "--causal", "bottom_right")
        np.testing.assert_array_equal(out[:, :, :5], 0)
        np.testing.assert_array_equal(lse[:, :, :5], -np.inf)

    def test_window(self):
        for left, right in ((3, 0), (0, 2), (5, -1), (-1, 4), (0, 0)):
            self.check(
                self.inputs(lq=20, lk=29),
                ["--window-left", left, "--window-right", right],
                seen=reference.visible(20, 29, None, left, right),
            )
        self.check(
            self.inputs(lq=20, lk=29),
            ["--causal", "top_left", "--window-left", 6],
            seen=reference.visible(20, 29, "top_left", 6),
        )

    def test_bias(self):
        for shape in ((13, 37), (1, 37), (2, 1, 37), (3, 1, 13, 37), (3, 2, 13, 37)):
            bias = self.normal(*shape)
            self.save("b.npy", bias)
            self.check(self.inputs(batch=3), ["--bias", "b.npy"], bias=bias)

    def test_bias_types(self):
        for dtype in (np.float16, np.float64):
            bias = self.normal(13, 37, dtype=dtype)
            self.save("b.npy", bias)
            self.check(self.inputs(), ["--bias", "b.npy"], bias=bias.astype(np.float64))

    def test_mask(self):
        for shape in ((13, 37), (2, 13, 37), (3, 1, 1, 37)):
            mask = self.random.random(shape) < 0.6
            self.save("m.npy", mask)
            self.check(self.inputs(batch=3), ["--mask", "m.npy"], seen=mask)

    def test_bias_with_a_mask(self):
        bias, mask = self.normal(2, 13, 37), self.random.random((3, 1, 13, 37)) < 0.6
        self.save("b.npy", bias)
        self.save("m.npy", mask)
        self.check(self.inputs(batch=3), ["--bias", "b.npy", "--mask", "m.npy"], bias=bias, seen=mask)

    def test_sinks(self):
        sinks = self.normal(2)
        self.save("s.npy", sinks)
        self.check(self.inputs(), ["--sinks", "s.npy"], sinks=sinks)
        self.check(
            self.inputs(),
            ["--sinks", "s.npy", "--causal", "bottom_right"],
            sinks=sinks,
            seen=reference.visible(13, 37, "bottom_right"),
        )

    def test_alibi(self):
        slopes = np.array([0.5, 0.0625])
        self.save("a.npy", slopes)
        distance = np.arange(37)[None, :] - (np.arange(13)[:, None] + 37 - 13)
        self.check(self.inputs(), ["--alibi", "a.npy"], bias=slopes[:, None, None] * distance)

    def test_seqused_k(self):
        used = np.array([37, 5, 13])
        q, k, v = self.inputs(batch=3)
        self.save("n.npy", used)
        out, lse = self.attend(q, k, v, "--seqused-k", "n.npy", "--causal", "bottom_right")
        for b, lk in enumerate(used):
            expected, expected_lse = reference.attention(
                q[b : b + 1], k[b : b + 1, :, :lk], v[b : b + 1, :, :lk], seen=reference.visible(13, lk, "bottom_right")
            )
            self.close(out[b : b + 1], expected, TOLERANCE)
            self.close(lse[b : b + 1], expected_lse, TOLERANCE)

    def test_packed_sequences(self):
        begin_q, begin_k = np.array([0, 4, 4, 13]), np.array([0, 9, 20, 30])
        q, k, v = self.normal(13, 4, 16), self.normal(30, 2, 16), self.normal(30, 2, 24)
        self.save("cq.npy", begin_q.astype(np.int32)), self.save("ck.npy", begin_k)
        out, lse = self.attend(q, k, v, "--cu-seqlens-q", "cq.npy", "--cu-seqlens-k", "ck.npy", "--causal", "top_left")
        self.assertEqual((out.shape, lse.shape), ((13, 4, 24), (4, 13)))
        for b in range(3):
            rows, keys = slice(begin_q[b], begin_q[b + 1]), slice(begin_k[b], begin_k[b + 1])
            lq, lk = rows.stop - rows.start, keys.stop - keys.start
            expected, expected_lse = reference.attention(
                *(each.swapaxes(0, 1)[None] for each in (q[rows], k[keys], v[keys])),
                seen=reference.visible(lq, lk, "top_left")
            )
            self.close(out[rows], expected[0].swapaxes(0, 1), TOLERANCE)
            self.close(lse[:, rows], expected_lse[0], TOLERANCE)

    def test_bshd(self):
        q, k, v = self.inputs(batch=2, heads=4, kv_heads=2, v_dim=24)
        out, lse = self.attend(*(each.swapaxes(1, 2) for each in map(np.asarray, (q, k, v))), "--layout", "bshd")
        expected, expected_lse = reference.attention(q, k, v)
        self.close(out, expected.swapaxes(1, 2), TOLERANCE)
        self.close(lse, expected_lse, TOLERANCE)

    def test_threads_do_not_change_a_bit(self):
        qkv = self.inputs(heads=3, lq=70, lk=130)
        one, many = self.attend(*qkv, "--threads", 1), self.attend(*qkv, "--threads", 3)
        np.testing.assert_array_equal(one[0], many[0])
        np.testing.assert_array_equal(one[1], many[1])

    def test_json(self):
        for name, array in zip("qkv", self.inputs(dim=16, v_dim=8)):
            self.save(name + ".npy", array)
        report = self.succeed_json("attention", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy")
        self.assertEqual(report["operation"], "attention")
        self.assertEqual(report["out"]["shape"], [1, 2, 13, 8])
        self.assertNotIn("lse", report)
