"""The programs of bench/compare without the libraries that they compare with: how they time, what they print, record and draw.

    python compare_test.py
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

COMPARE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "compare"
sys.path.append(str(COMPARE))

import model_chart  # noqa: E402  pylint: disable=wrong-import-position
import model_report  # noqa: E402  pylint: disable=wrong-import-position
from alternate import alternate, fastest, ratio, turn_of_threads, worked  # noqa: E402  pylint: disable=wrong-import-position
from model_calls import CALLS  # noqa: E402  pylint: disable=wrong-import-position


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


class Programs(unittest.TestCase):
    def run_program(self, name, *words, **environment):
        return subprocess.run([sys.executable, str(COMPARE / name), *words], env={**os.environ, **environment}, text=True, capture_output=True,
                              check=False)

    def test_without_pytorch_they_say_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "torch.py").write_text("raise ImportError('no torch here')\n", encoding="utf-8")
            for name in ("models.py", "compare.py", "backward.py", "masks.py"):
                with self.subTest(name):
                    run = self.run_program(name, "--library", os.environ["GYRE_LIBRARY"], PYTHONPATH=folder)
                    self.assertEqual((run.returncode, run.stderr), (0, ""))
                    self.assertIn("nothing to compare with: no torch here", run.stdout)

    def test_a_library_that_is_not_there_is_named(self):
        for name in ("models.py", "compare.py", "backward.py", "masks.py", "option_costs.py", "model_threads.py"):
            with self.subTest(name):
                run = self.run_program(name, "--library", "/nowhere/libgyre.so")
                self.assertEqual(run.returncode, 2)
                self.assertIn("--library /nowhere/libgyre.so: no such file", run.stderr)

    def test_options_that_do_not_go_together(self):
        for words, said in ((["--value-blocks"], "--value-blocks: needs --decode and --dtype bf16"),
                            (["--decode", "--rotation", "rope"], "--rotation: is of full and causal attention")):
            run = self.run_program("compare.py", *words)
            self.assertEqual(run.returncode, 2)
            self.assertIn(said, run.stderr)


if __name__ == "__main__":
    unittest.main()
