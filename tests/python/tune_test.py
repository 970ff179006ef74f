"""gyre.tune(): a study of a small kernel beside what the tuner's own files say of it, and its refusals.

    python tune_test.py BUILD_DIRECTORY        skipped where there is no Optuna, or no program gyre_tune_runner
"""

import importlib.util
import os
import pathlib
import sys
import unittest
from unittest import mock

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
RUNNER = BUILD / "bin" / "gyre_tune_runner"
if importlib.util.find_spec("optuna") is None or not RUNNER.exists():
    print("skipped: there is no Optuna in this Python, or no gyre_tune_runner in this build")
    sys.exit(77)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tune"))

from harness import KERNEL, SHAPE, TuneTest  # noqa: E402

import gyre  # noqa: E402

TuneTest.program, TuneTest.build = str(BUILD / "bin" / "gyre"), str(BUILD)
QUICK = {"shapes": SHAPE, "trial_seconds": 0.02, "final_seconds": 0.2}


class Tune(TuneTest):
    def setUp(self):
        super().setUp()
        for folder in ("share", "bin"):
            os.symlink(BUILD / folder, self.path("build", folder))

    def tune_here(self, kernel=KERNEL, **options):
        return gyre.tune(kernel, build=self.path("build"), target=self.target, **{**QUICK, **options})

    def test_a_study(self):
        self.store_slow_knobs()
        lines = []
        os.environ["REAL_GENERATOR"] = self.environment["REAL_GENERATOR"]
        self.addCleanup(os.environ.pop, "REAL_GENERATOR")
        (study,) = self.tune_here(trials=4, sampler="grid", progress=lines.append)
        self.assertEqual((study.name, study.kernel, study.target), (self.study_name("grid-1"), KERNEL, self.target))
        kept = [trial for trial in self.trials("grid-1") if trial.value is not None]
        self.assertEqual([trial.time for trial in study.trials if trial.time is not None], [trial.value for trial in kept])
        self.assertEqual(len(study.trials), 4)
        self.assertTrue(study.accepted, study.verdict)
        self.assertEqual(study.best["fault"], 0)
        self.assertGreater(study.gain, study.noise)
        self.assertTrue(any(study.verdict in line for line in lines), lines)
        self.assertNotEqual(self.read_json(f"tuning/{self.target}.json")["kernels"][KERNEL]["knobs"], study.best)  # write=False

    def test_what_fails_is_told(self):
        for error, naming, options in (
            (ValueError, "^kernel: got 'rotary_f99', expected one of", {"kernel": "rotary_f99"}),
            (ValueError, "kernel: got ''", {"kernel": ""}),
            (ValueError, "kernel: got '--force'", {"kernel": "--force"}),
            (ValueError, "sampler: got 'luck'", {"sampler": "luck"}),
            (ValueError, "minutes, trials", {"minutes": 1, "trials": 1}),
            (ValueError, "^trials: got '0', expected a whole number from 1 to [0-9]+$", {"trials": 0}),
            (ValueError, "^trial_seconds: got '-1.0', expected", {"trial_seconds": -1}),
            (ValueError, "^shapes: got 'h=many', expected", {"shapes": "h=many"}),
            (TypeError, "minutes", {"minutes": "soon"}),
        ):
            with self.subTest(naming), self.assertRaisesRegex(error, naming):
                self.tune_here(**options)
        with self.assertRaisesRegex(ValueError, "build: there is no .*tune.py"):
            gyre.tune(KERNEL, build=self.path("nowhere"))
        with mock.patch.object(importlib.util, "find_spec", return_value=None), self.assertRaisesRegex(RuntimeError, "pip install optuna"):
            self.tune_here()


if __name__ == "__main__":
    unittest.main()
