"""gyre tune export and import: a device without a compiler measures, and the same rule decides."""

import json
import os
import shutil
import subprocess

from harness import KERNEL, QUICK, TuneTest


class Bundle(TuneTest):
    def export(self, *words):
        return self.succeed("export", KERNEL, *self.common(), *QUICK, "--out", self.path("bundle"), *words)

    def run_on_device(self):
        """Where nothing of the build is at hand."""
        shutil.move(self.path("bundle"), self.path("device"))
        result = subprocess.run(
            ["sh", self.path("device", "run.sh")],
            cwd="/",
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        shutil.move(self.path("device"), self.path("bundle"))
        return result.stdout

    def import_back(self, *words):
        return self.succeed("import", self.path("bundle"), "--build", self.path("build"), *words)

    def test_round_trip(self):
        self.store_slow_knobs()
        self.export("--trials", 3)
        self.assertEqual(
            sorted(os.listdir(self.path("bundle"))), ["gyre_tune_runner", "libraries", "manifest.json", "results", "run.sh"]
        )
        self.run_on_device()
        said = self.import_back()
        self.assertIn("3 candidates", said)
        self.assertIn("accepted", said)
        self.assertEqual(self.read_json(f"tuning/{self.target}.json")["kernels"][KERNEL]["knobs"]["fault"], 0)
        trials = self.trials("device-1")
        self.assertEqual(len(trials), 3)
        self.assertTrue(all(trial.user_attrs["record"]["outcome"] in ("timed", "cut") for trial in trials))
        self.succeed("report", "--build", self.path("build"))

    def test_what_fails_on_the_device_is_recorded_and_an_interrupted_run_goes_on(self):
        self.export("--trials", 3)
        manifest = self.read_json("bundle/manifest.json")
        broken, first = sorted(manifest["candidates"])[:2]
        with open(self.path("bundle", "libraries", broken), "wb") as file:
            file.write(b"not a library")
        self.run_on_device()
        os.remove(self.path("bundle", "results", first + ".json"))
        self.assertNotIn(broken, self.run_on_device())  # it has its result already
        self.import_back("--no-write")
        self.assertIn("0 candidates", self.import_back("--no-write"))
        records = {trial.user_attrs["imported"]: trial.user_attrs["record"] for trial in self.trials("device-1")}
        self.assertEqual(len(records), 3)
        self.assertEqual(records[broken]["outcome"], "failed")
        self.assertIn("cannot be loaded", records[broken]["text"])

    def test_refused(self):
        common = self.common()
        self.refuse("kernel means one", "export", "rotary_f32", *common, "--out", self.path("b"))
        self.refuse("--out", "export", KERNEL, *common)
        os.makedirs(self.path("full", "of"))
        self.refuse("--out not empty", "export", KERNEL, *common, "--out", self.path("full"))
        self.refuse("folder bundle", "import", self.path("full"), "--build", self.path("build"))
        self.refuse("folder", "import", "--build", self.path("build"))
        self.export("--trials", 2)
        self.refuse("run.sh", "import", self.path("bundle"), "--build", self.path("build"), code=1)
        with open(self.path("bundle", "manifest.json"), encoding="utf-8") as file:
            json.load(file)
