"""The model of a multiprocessor (bench/cuda/model.py) on loops whose sums are known, and `gyre tune --device cuda`, which estimates by it.

    python estimate_test.py BUILD
"""

import json
import pathlib
import subprocess
import sys
import unittest

TREE = pathlib.Path(sys.argv.pop()).absolute()
TUNE = TREE / "share" / "gyre" / "tune"
sys.path.insert(0, str(TUNE))

import model  # noqa: E402  # pylint: disable=wrong-import-position

# Head size 128, 16 rows a warp: 128 products, 64 loads of four tiles, 4 + 4 copies of 16 bytes a lane.
EIGHT_WARPS = model.Loop(512, 128, 64, 8, 8, 211, 100352)
FOUR_WARPS = model.Loop(600, 128, 48, 8, 4, 247, 70144)


def tune(*words):
    return subprocess.run([sys.executable, TUNE / "tune.py", *words, "--build", TREE], capture_output=True, text=True, check=False)


class Model(unittest.TestCase):

    def test_a_turn_takes_the_longest_of_its_parts_and_what_no_other_block_hides(self):
        cycles = model.cycles(EIGHT_WARPS, model.A100)
        self.assertEqual(cycles["tensor"], 128 * 8 * 2)  # 2048 multiply-adds of 1024 a cycle
        self.assertEqual(cycles["shared"], 72 * 8 * 4)  # 512 bytes of 128 a cycle
        self.assertEqual(cycles["issue"], 512 * 8 / 4)
        self.assertEqual(cycles["exposed"], (512 - 128 - 64 - 8) * 8 / 4)
        self.assertEqual(cycles["turn"], cycles["shared"] + cycles["exposed"])

    def test_products_of_warpgroups_read_shared_memory_themselves(self):
        of_two_groups = model.Loop(500, 0, 0, 16, 8, 248, 65536, columns=1024)
        cycles = model.cycles(of_two_groups, model.H100)
        self.assertEqual(cycles["tensor"], 1024)  # 2 x 1024 columns of 64 x 16 multiply-adds, 2048 a cycle
        self.assertEqual(cycles["shared"], (2 * 1024 * 32 + 16 * 8 * 512) / 128)
        self.assertEqual(cycles["exposed"], 484 * 8 / 4)  # of one block
        self.assertEqual(of_two_groups.multiply_adds(), 2 * 1024 * 64 * 16)

    def test_threads_that_share_the_parts_of_a_feature_wait_for_fewer_loads(self):
        self.assertEqual(model.waits_of_merge(66, False), 2 * 5 + 66)
        self.assertEqual(model.waits_of_merge(66, True), 2 * 3 + 9)

    def test_blocks_at_once_are_what_registers_and_shared_memory_hold(self):
        self.assertEqual(model.blocks_at_once(EIGHT_WARPS, model.A100), 1)
        self.assertEqual(model.blocks_at_once(FOUR_WARPS, model.A100), 2)
        self.assertEqual(model.blocks_at_once(model.Loop(600, 128, 48, 8, 4, 247, 82944 + 1), model.A100), 1)
        self.assertEqual(model.blocks_at_once(model.Loop(600, 128, 48, 8, 4, 247, 82944), model.A100), 2)
        self.assertEqual(model.blocks_at_once(model.Loop(600, 128, 48, 8, 8, 255, 1024), model.A100), 1)

    def test_rates_are_below_the_peak_of_the_tensor_cores(self):
        peak = 2 * model.A100.products * model.A100.multiprocessors * model.A100.ghz / 1e3
        for loop in (EIGHT_WARPS, FOUR_WARPS):
            self.assertLess(model.tflop_s(loop, model.A100), peak)
        self.assertGreater(model.tflop_s(FOUR_WARPS, model.A100), model.tflop_s(EIGHT_WARPS, model.A100))


class Estimate(unittest.TestCase):

    def test_candidates_are_ranked_and_nothing_is_called_measured(self):
        ended = tune("attention_plain_as_stored_bf16_d64", "--device", "cuda", "--trials", "2", "--seed", "3", "--json")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        told = json.loads(ended.stdout)
        self.assertIs(told["measured"], False)
        self.assertEqual(sum(row["stored"] for row in told["candidates"]), 1)
        rates = [row["tflop_s"] for row in told["candidates"]]
        self.assertEqual(rates, sorted(rates, reverse=True))
        self.assertTrue(all(0 < rate < 320 for rate in rates))

    def test_a_kernel_that_is_not_made_is_refused_by_name(self):
        ended = tune("attention_plain_bf16_d63", "--device", "cuda")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("attention_plain_bf16_d63", ended.stderr)
        self.assertIn("attention_plain_as_stored_bf16_d64", ended.stderr)


if __name__ == "__main__":
    unittest.main()
