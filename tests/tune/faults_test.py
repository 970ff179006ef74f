"""Candidates that do not build, crash, hang, devour memory or are wrong are recorded as what they are, and the search goes on."""

import math
import subprocess
import time

import optuna
from fake_generator import FAULTS
from harness import KERNEL, QUICK, TuneTest

EXPECTED = {  # fault: outcome, and what its text says
    "none": ("timed", ""),
    "slow": ("timed", ""),
    "refuses": ("not built", "this knob is refused"),
    "hangs": ("timed out", "time was up"),
    "garbage": ("not built", "exit code"),
    "wrong": ("wrong", "out["),
    "traps": ("crashed", "verifying"),
    "spins": ("timed out", "verifying"),
    "fails": ("wrong", "the kernel failed"),
    "eats": ("crashed", "SIGABRT"),
}
WORKERS = 2  # on one study: while one waits for a candidate that hangs, the other goes on


class Faults(TuneTest):
    def test_each_is_recorded_and_the_search_goes_on(self):
        self.fake_generator()
        self.change_space(knobs={"fault": {"values": list(range(len(FAULTS))), "default": 0}}, worthwhile=[])
        self.write_json(f"tuning/{self.target}.json", {"target": self.target, "defaults": {}, "kernels": {}})
        begin = time.monotonic()
        self.tune("--trials", 1, "--study", "first", "--no-write")
        # A candidate takes a tenth of that run: what takes three times as long as all of it hangs, however busy the machine is.
        limit = math.ceil(max(5, 3 * (time.monotonic() - begin)))
        storage = "sqlite:///" + self.path("shared.db")
        words = self.words(KERNEL, *self.common(), *QUICK, "--sampler", "grid", "--trials", 100, "--storage", storage)
        words += ["--limit-seconds", str(limit), "--limit-memory", "512", "--no-write"]
        workers = [
            subprocess.Popen(
                words, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            for _ in range(WORKERS)
        ]
        for worker in workers:
            said, complaint = worker.communicate()
            self.assertEqual((worker.returncode, complaint), (0, ""), said)
            self.assertIn("every point", said)
        found = optuna.load_study(study_name=self.study_name("grid-1"), storage=storage).trials
        trials = {FAULTS[trial.params["fault"]]: trial for trial in found if trial.params}
        self.assertEqual(set(trials), set(FAULTS))
        for fault, (outcome, text) in EXPECTED.items():
            with self.subTest(fault):
                record = trials[fault].user_attrs["record"]
                outcomes = (outcome, "cut") if outcome == "timed" else (outcome,)
                self.assertIn(record["outcome"], outcomes, record)
                self.assertIn(text, record["text"])
                self.assertEqual(trials[fault].state.name, "COMPLETE" if outcome == "timed" else "PRUNED")

    def test_a_reference_that_cannot_be_built_ends_the_study(self):
        self.fake_generator()
        self.change_space(knobs={"fault": {"values": [0, 1], "default": 1}}, worthwhile=[])
        self.refuse("this knob is refused", "rotary_f32_half", *self.common(), "--trials", 2, code=1)
