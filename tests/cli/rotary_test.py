"""gyre rotary against the definition."""

import json

import numpy as np

import reference
from harness import GyreTest

TOLERANCE = 2e-5


class Rotary(GyreTest):
    def rotate(self, x, *options):
        self.save("x.npy", x)
        self.succeed("rotary", "--x", "x.npy", "--out", "y.npy", *options)
        return self.load("y.npy")

    def test_half_pairs_of_the_whole_head(self):
        x = self.normal(2, 3, 17, 64)
        y = self.rotate(x)
        self.assertEqual(y.dtype, np.float32)
        self.close(y, reference.rotate(x, np.arange(17), reference.geometric(64)), TOLERANCE)

    def test_interleaved_pairs(self):
        x = self.normal(1, 2, 9, 32)
        self.close(
            self.rotate(x, "--interleaved"),
            reference.rotate(x, np.arange(9), reference.geometric(32), interleaved=True),
            TOLERANCE,
        )

    def test_part_of_the_head_leaves_the_rest_bit_for_bit(self):
        x = self.normal(1, 2, 9, 48)
        for interleaved in ([], ["--interleaved"]):
            y = self.rotate(x, "--rotary-dim", 16, "--rotary-offset", 24, "--theta", 500, *interleaved)
            expected = reference.rotate(x, np.arange(9), reference.geometric(16, 500), bool(interleaved), offset=24)
            self.close(y, expected, TOLERANCE)
            np.testing.assert_array_equal(y[..., :24], x[..., :24])
            np.testing.assert_array_equal(y[..., 40:], x[..., 40:])

    def test_bshd(self):
        x = self.normal(2, 7, 3, 16)
        expected = reference.rotate(x.swapaxes(1, 2), np.arange(7), reference.geometric(16)).swapaxes(1, 2)
        self.close(self.rotate(x, "--layout", "bshd"), expected, TOLERANCE)

    def test_offset(self):
        x = self.normal(1, 1, 5, 64)
        self.close(
            self.rotate(x, "--offset", 1048571),
            reference.rotate(x, 1048571 + np.arange(5), reference.geometric(64)),
            TOLERANCE,
        )

    def test_positions(self):
        x = self.normal(2, 2, 4, 16)
        for dtype in (np.int32, np.int64):
            for positions in (np.array([7, 0, 131071, 1048575]), np.array([[1, 2, 3, 4], [9, 9, 0, 131071]])):
                self.save("p.npy", positions.astype(dtype))
                expected = reference.rotate(x, positions.reshape(-1, 1, 4), reference.geometric(16))
                self.close(self.rotate(x, "--positions", "p.npy"), expected, TOLERANCE)

    def test_reverse_undoes(self):
        x = self.normal(1, 2, 9, 16)
        y = self.rotate(x, "--offset", 5)
        self.close(self.rotate(y, "--offset", 5, "--reverse"), x.astype(np.float64), TOLERANCE)

    def test_inv_freq(self):
        x = self.normal(1, 2, 9, 16)
        inv_freq = self.random.uniform(0.001, 1, 8)
        for dtype in (np.float64, np.float32):
            self.save("f.npy", inv_freq.astype(dtype))
            self.close(self.rotate(x, "--inv-freq", "f.npy"), reference.rotate(x, np.arange(9), inv_freq), TOLERANCE)

    def test_tables(self):
        x = self.normal(2, 2, 5, 16)
        cos, sin = self.normal(12, 8), self.normal(12, 8)
        rows = np.array([3, 1, 11, 0, 5])
        self.save("cos.npy", cos), self.save("sin.npy", sin.astype(np.float64)), self.save("p.npy", rows)
        y = self.rotate(x, "--cos", "cos.npy", "--sin", "sin.npy", "--positions", "p.npy")
        self.close(y, reference.rotate_by(x, cos[rows], sin[rows]), TOLERANCE)

    def test_tables_of_one_row_a_token(self):
        x = self.normal(2, 3, 5, 16)
        cos, sin = self.normal(2, 5, 8), self.normal(2, 5, 8)
        self.save("cos.npy", cos), self.save("sin.npy", sin)
        y = self.rotate(x, "--cos", "cos.npy", "--sin", "sin.npy")
        self.close(y, reference.rotate_by(x, cos[:, None], sin[:, None]), TOLERANCE)

    def test_scaling_rule_from_json(self):
        x = self.normal(1, 2, 9, 16)
        rule = '{"rope_type": "linear", "factor": 4, "rope_theta": 1000000}'
        self.close(
            self.rotate(x, "--rope", rule),
            reference.rotate(x, np.arange(9), reference.geometric(16, 1e6) / 4),
            TOLERANCE,
        )

    def test_share_of_the_head_from_json(self):
        x = self.normal(1, 2, 9, 16)
        self.close(
            self.rotate(x, "--rope", '{"rope_type": "default", "partial_rotary_factor": 0.5}'),
            reference.rotate(x, np.arange(9), reference.geometric(8)),
            TOLERANCE,
        )

    def test_several_position_axes(self):
        x = self.normal(2, 2, 5, 16)
        positions = self.random.integers(0, 1000, (3, 2, 5))
        self.save("p.npy", positions)
        y = self.rotate(x, "--positions", "p.npy", "--rope", '{"type": "mrope", "mrope_section": [2, 3, 3]}')
        axis = np.repeat([0, 1, 2], [2, 3, 3])
        angle = np.moveaxis(positions[axis], 0, -1) * reference.geometric(16)
        self.close(y, reference.rotate_by(x, np.cos(angle)[:, None], np.sin(angle)[:, None]), TOLERANCE)

    def test_f16(self):
        x = self.normal(1, 2, 9, 64, dtype=np.float16)
        y = self.rotate(x)
        self.assertEqual(y.dtype, np.float16)
        self.close(y, reference.rotate(x, np.arange(9), reference.geometric(64)), 1e-3)

    def test_dtype_converts_first(self):
        x = self.normal(1, 2, 9, 64, dtype=np.float64)
        expected = reference.rotate(x, np.arange(9), reference.geometric(64))
        self.close(self.rotate(x), expected, TOLERANCE)
        f16 = self.rotate(x, "--dtype", "f16")
        self.assertEqual(f16.dtype, np.float16)
        self.close(f16, reference.rotate(x.astype(np.float16), np.arange(9), reference.geometric(64)), 1e-3)

    def test_bf16_is_written_as_f32(self):
        x = self.normal(1, 2, 9, 64)
        y = self.rotate(x, "--dtype", "bf16")
        self.assertEqual(y.dtype, np.float32)
        np.testing.assert_array_equal(y, reference.to_bf16(y))
        self.close(y, reference.rotate(reference.to_bf16(x), np.arange(9), reference.geometric(64)), 1e-2)

    def test_empty(self):
        for shape in ((0, 2, 3, 8), (1, 0, 3, 8), (1, 2, 0, 8)):
            self.assertEqual(self.rotate(np.zeros(shape, np.float32)).shape, shape)

    def test_threads_do_not_change_a_bit(self):
        x = self.normal(2, 3, 65, 64)
        np.testing.assert_array_equal(self.rotate(x, "--threads", 1), self.rotate(x, "--threads", 3))

    def test_what_caches_cannot_hold_begins_where_streaming_kernels_take_it(self):
        kernels = json.loads(self.succeed("kernels", "--json"))["kernels"]
        present = any(k["variant"] == "streamed_f32_half" and k["runnable"] for k in kernels)
        x = self.normal(1, 64, 512, 128)
        self.save("x.npy", x)
        report = self.succeed_json("rotary", "--x", "x.npy", "--out", "y.npy")
        self.assertEqual(report["kernel"].startswith("rotary_streamed_f32_half__"), present, report)
        self.close(self.load("y.npy"), reference.rotate(x, np.arange(512), reference.geometric(128)), TOLERANCE)

    def test_json(self):
        self.save("x.npy", self.normal(1, 2, 3, 8))
        report = self.succeed_json("rotary", "--x", "x.npy", "--out", "y.npy", "--threads", 1)
        self.assertEqual((report["operation"], report["threads"]), ("rotary", 1))
        self.assertTrue(report["kernel"].endswith("__" + report["target"]))
        self.assertEqual(report["out"], {"path": "y.npy", "dtype": "f32", "shape": [1, 2, 3, 8]})
