"""bench/compare/models.py without the libraries that it compares with: its table, its arguments, its rows in double precision, its
tables and its timing.

Every call is made in small, with the heads' grouping, head sizes and options of the real one, and compared element by element with
tests/cli/reference.py, which shares no code with either.
"""

import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from xml.etree import ElementTree

import numpy as np
from support import ROUNDING, allowance, assert_close, dtypes, reference

COMPARE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "compare"
sys.path.append(str(COMPARE))

import gyre  # noqa: E402  pylint: disable=wrong-import-position
import model_arrays  # noqa: E402  pylint: disable=wrong-import-position
import model_chart  # noqa: E402  pylint: disable=wrong-import-position
import model_ours  # noqa: E402  pylint: disable=wrong-import-position
import model_report  # noqa: E402  pylint: disable=wrong-import-position
from alternate import alternate, fastest, ratio, turn_of_threads, worked  # noqa: E402  pylint: disable=wrong-import-position
from model_calls import CALLS  # noqa: E402  pylint: disable=wrong-import-position

SHORT = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
MODELS = ("BERT", "RoBERTa", "ViT", "DiT", "SD 1.5", "Whisper", "T5", "MPT", "BLOOM", "Llama 3", "Qwen 3", "Gemma 2", "Gemma 3",
          "gpt-oss", "DeepSeek", "Phi", "GPT-NeoX", "RoFormer")


def small(call):
    """Makes a small call of the same kind: at most 2 sequences, 2 key heads, some keys. A lone key head keeps all its query heads."""
    kv_heads = min(call.kv_heads, 2)
    group = call.group if kv_heads == 1 else min(call.group, 3)
    queries = {True: min(call.queries, 7), False: 11}[call.queries < call.keys]
    keys = min(call.keys, 37) if call.queries < call.keys else queries
    return call._replace(batch=min(call.batch, 2), heads=kv_heads * group, kv_heads=kv_heads, queries=queries, keys=keys,
                         window=min(call.window, 4))


def expected_of(call, inputs):
    """[batch, heads, queries, v_head_dim] by the reference, whose options are derived anew from the call."""
    seen = reference.visible(call.queries, call.keys, "bottom_right" if call.causal else None, call.window or -1,
                             call.window if call.window and not call.causal else -1)[None, None]
    hidden = [call.keys * entry // (2 * call.batch) for entry in range(call.batch)]
    if call.padding:
        keys = np.arange(call.keys)
        rows = [keys >= n if call.padding == "left" else keys < call.keys - n for n in hidden]
        seen = seen & np.array(rows)[:, None, None]
    if call.mask:
        seen = inputs.mask
    bias = 0 if inputs.bias is None else inputs.bias.astype(np.float64)
    if call.alibi:
        distance = np.arange(call.keys) - np.arange(call.keys - call.queries, call.keys)[:, None]
        bias = bias + 2.0 ** (-8 * (1 + np.arange(call.heads)) / call.heads)[:, None, None] * distance
    rope = None
    if call.rope:
        frequencies = reference.geometric(call.rope.rotary_dim or call.head_dim)

        def rope(x, positions):
            return reference.rotate(x, positions, frequencies, call.rope.pairing == "interleaved")

    return reference.attention(inputs.q, inputs.k, inputs.v, scale=call.scale or None, softcap=call.softcap, bias=bias, seen=seen,
                               sinks=inputs.sinks, rope=rope)[0]


class Calls(unittest.TestCase):

    def test_every_call_is_what_the_reference_makes_of_it(self):
        context = gyre.Context(threads=1)
        for dtype in dtypes():
            for whole in CALLS:
                with self.subTest(call=whole.name, dtype=dtype.name):
                    call = small(whole)
                    inputs = model_arrays.Inputs(call, SHORT[dtype.name])
                    q, k, v = (x.astype(dtype) for x in (inputs.q, inputs.k, inputs.v))
                    out = np.full((*q.shape[:3], call.value_dim), np.nan, dtype)
                    options = model_ours.keywords(call, inputs, lambda x, dtype=dtype: x.astype(dtype))
                    model_ours.prepare(context, q, k, v, out, options)()
                    expected = expected_of(call, inputs)
                    allowed = allowance(*(x.swapaxes(1, 2) for x in (q, k, v, expected)), rotated=bool(call.rope), scale=inputs.scale)
                    if call.softcap or call.alibi or call.relative_bias:
                        allowed = allowed + 8 * ROUNDING["float32"] * (call.softcap + 40)
                    assert_close(self, out, expected, allowed)

    def test_rows_in_double_precision_are_those_of_the_reference(self):
        for whole in CALLS:
            with self.subTest(call=whole.name):
                call = small(whole)
                inputs = model_arrays.Inputs(call, "f32")
                expected = expected_of(call, inputs)
                for place, row in model_arrays.sampled_rows(inputs):
                    np.testing.assert_allclose(row, expected[place], rtol=1e-9, atol=1e-12)

    def test_rows_that_see_nothing_are_not_sampled(self):
        call = small(next(each for each in CALLS if each.padding == "left" and each.queries > 1))
        inputs = model_arrays.Inputs(call, "f32")
        self.assertIsNone(inputs.row(1, 0, 0))

    def test_the_table_has_the_models_and_no_name_twice(self):
        names = [call.name for call in CALLS]
        self.assertGreaterEqual(len(names), 60)
        self.assertEqual(len(names), len(set(names)))
        for model in MODELS:
            self.assertTrue(any(name.startswith(model) for name in names), model)

    def test_a_draft_of_a_tree_sees_its_ancestors_alone(self):
        call = next(each for each in CALLS if each.mask == "tree")._replace(queries=6, keys=8)
        self.assertEqual(["".join(str(int(seen)) for seen in row) for row in model_arrays.tree(call)],
                         ["11100000", "11110000", "11101000", "11110100", "11110010", "11101001"])


class Figures(unittest.TestCase):

    def test_the_fastest_form_is_found(self):
        self.assertEqual(fastest({"slow": lambda: sum(range(20000)), "quick": lambda: sum(range(200))}, time.process_time), "quick")

    def test_ratios_are_of_rounds(self):
        middle, noise = ratio(np.array([2.0, 40.0, 6.0, 8.0]), np.array([1.0, 20.0, 3.0, 4.0]))
        self.assertEqual((middle, noise), (2.0, 0.0))
        runs = {"one": lambda: None, "other": lambda: None}
        for threads in (1, 2):
            times = alternate(runs, time.perf_counter, 0.0, dict.fromkeys(runs, threads))
            self.assertEqual([len(each) for each in times.values()], [5, 5])

    def turn(self, working):
        """How often a turn of two threads calls, and its seconds, where so many threads work in what is timed."""
        runs, times = [], iter(enumerate(working))

        def timed(act, before=lambda: None):
            before()
            act()
            return next(times)

        with unittest.mock.patch("alternate.timed", timed):
            return turn_of_threads(lambda: runs.append(None), 1, 2), len(runs)

    def test_a_turn_counts_when_others_sleep_and_all_threads_work(self):
        self.assertEqual(self.turn([1.0, 0.9, 0.0, 1.0, 1.3, 1.99]), (5.0, 1 + 2 * 3))
        self.assertEqual(self.turn([0.0, 2.0]), (1.0, 1 + 2))

    def test_a_turn_of_a_call_that_keeps_one_thread_busy_ends(self):
        self.assertEqual(self.turn([0.0] + 10 * [1.0]), (10.0, 1 + 2 * 10))

    def test_all_that_threads_work_is_counted(self):
        threads = os.listdir("/proc/self/task")
        before, own = worked(threads), time.thread_time()
        while time.thread_time() < own + 0.001:
            pass
        self.assertGreaterEqual(worked(threads) - before, 0.001)

    @staticmethod
    def record(names):
        def result(name, torch, vllm=None):
            found = {"call": name, "dtype": "f32", "threads": 1, "kernel": "k", "form": "f", "ms": {"gyre": 1.0}, "torch": torch,
                     "torch_noise": 0.01}
            return found if vllm is None else {**found, "vllm": vllm, "vllm_noise": 0.02}

        first, middle, last = names
        return {"processor": "p", "date": "d", "target": "native", "torch": "t", "vllm": "v, l",
                "results": [result(middle, 0.9), result(last, 4.0, 2.0), result(first, 2.0, 0.5)]}

    def test_tables_begin_with_the_slowest(self):
        record = self.record(("first", "middle", "last"))
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            model_report.print_tables(record)
        lines = text.getvalue().splitlines()
        self.assertEqual([line.split()[0] for line in lines[3:6]], ["first", "middle", "last"])
        self.assertEqual(lines[6], "torch: geometric mean 1.93, faster than ours in 1 of 3")
        self.assertEqual(lines[7], "vllm: geometric mean 1.00, faster than ours in 1 of 2")

    def test_records_are_read_as_they_were_written(self):
        record = self.record(("first", "middle", "last"))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "record.json")
            model_report.write(record, path)
            self.assertEqual(model_report.read([path]), record)
            self.assertEqual(len(model_report.read([path, path])["results"]), 6)

    def test_a_chart_has_a_dot_for_each_call_and_a_table_the_slowest_first(self):
        names = [CALLS[0].name, CALLS[40].name, CALLS[20].name]
        record = self.record(names)
        picture = ElementTree.fromstring("\n".join(model_chart.draw(record, 1)))
        dots = {dot[0].text: float(dot.get("cx")) for dot in picture.iter("{http://www.w3.org/2000/svg}circle") if len(dot)}
        self.assertEqual(len(dots), 5)
        middle = model_chart.place(1)
        self.assertEqual(sum(x < middle for x in dots.values()), 2)
        self.assertLess(dots[f"{names[0]}, f32: vLLM 0.50"], middle)
        rows = [line.split(" | ")[0] for line in model_chart.table(record, 1) if line.startswith("| ")]
        self.assertEqual(rows[1:], [f"| {name}" for name in names])

    def test_every_kind_of_call_in_the_chart_has_some(self):
        self.assertEqual({model_chart.kind_of(call) for call in CALLS}, set(range(len(model_chart.KINDS))))


class Program(unittest.TestCase):

    def test_without_pytorch_it_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "torch.py").write_text("raise ImportError('no torch here')\n", encoding="utf-8")
            environment = {**os.environ, "PYTHONPATH": folder}
            run = subprocess.run([sys.executable, str(COMPARE / "models.py"), "--library", os.environ["GYRE_LIBRARY"]],
                                 env=environment, text=True, capture_output=True, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("nothing to compare with: no torch here", run.stdout)

    def test_a_library_that_is_not_there_is_named(self):
        run = subprocess.run([sys.executable, str(COMPARE / "models.py"), "--library", "/nowhere/libgyre.so"], text=True,
                             capture_output=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--library /nowhere/libgyre.so: no such file", run.stderr)


if __name__ == "__main__":
    unittest.main()
