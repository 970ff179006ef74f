"""Runs gyre tune on a small build of its own: rotary kernels, with search spaces and a tuning database that tests may change."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "bench", "tune")
sys.path.insert(0, SOURCES)

import optuna
from fake_generator import FAULTS
from programs import runnable_targets
from space import declaration_path

SHAPE = "h=4,lq=64,d=64"
KERNEL = "rotary_f32_half"
HANGING_SECONDS = 14400  # however slow or busy the machine is, what comes to an end does within them
QUICK = ("--shape", SHAPE, "--trial-seconds", "0.02", "--final-seconds", "0.2", "--limit-seconds", str(HANGING_SECONDS))


def recipes_of(build):
    with open(os.path.join(build, "kernels", "recipes.json"), encoding="utf-8") as file:
        return json.load(file)


class TuneTest(unittest.TestCase):
    program = build = None  # the real ones

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gyre-tune-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {**os.environ, "GYRE_PYTHON": sys.executable}
        self.make_build()

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def make_build(self):
        """A build tree with the real generators but its own search spaces and tuning database."""
        content = recipes_of(self.build)
        runnable = runnable_targets(self.build)
        self.target = next(
            kernel["target"]
            for kernel in content["kernels"]
            if f"{kernel['operation']}_{kernel['variant']}" == KERNEL and kernel["target"] in runnable
        )
        content["kernels"] = [
            kernel
            for kernel in content["kernels"]
            if kernel["target"] == self.target and kernel["operation"] in ("rotary", "angles")
        ]
        content["tuning"], content["generators"] = self.path("tuning"), self.path("generators")
        for operation in ("rotary", "angles"):
            os.makedirs(self.path("generators", operation))
            source = declaration_path(recipes_of(self.build)["generators"], operation)
            shutil.copy(source, self.path("generators", operation))
        for folder in ("build/kernels", "tuning"):
            os.makedirs(self.path(folder))
        self.write_json("build/kernels/recipes.json", content)

    def write_json(self, name, content):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(content, file)

    def read_json(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def change_space(self, **changes):
        """Replaces parts of the search space of rotary."""
        name = "generators/rotary/rotary_knobs.json"
        self.write_json(name, {**self.read_json(name), **changes})

    def fake_generator(self):
        """rotary's generator becomes fake_generator.py."""
        content = self.read_json("build/kernels/recipes.json")
        for kernel in content["kernels"]:
            if kernel["operation"] == "rotary":
                self.environment["REAL_GENERATOR"] = kernel["generator"]
                kernel["generator"] = self.path("fake.generator")
        with open(self.path("fake.generator"), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec '{sys.executable}' -B '{HERE}/fake_generator.py' \"$@\"\n")
        os.chmod(self.path("fake.generator"), 0o755)
        self.write_json("build/kernels/recipes.json", content)

    def store_slow_knobs(self):
        """The search finds that the stored knobs, which make the kernel slow, can be beaten."""
        self.fake_generator()
        slow = FAULTS.index("slow")
        self.change_space(
            knobs={"fault": {"values": [0, slow], "default": 0}, "lanes": {"values": [0, 8], "default": 0}}, worthwhile=[]
        )
        self.write_json(
            f"tuning/{self.target}.json",
            {"target": self.target, "defaults": {}, "kernels": {KERNEL: {"knobs": {"fault": slow}}}},
        )

    def words(self, *words):
        return [self.program, "tune", *map(str, words)]

    def common(self):
        return [
            "--build",
            self.path("build"),
            "--target",
            self.target,
            "--runner",
            os.path.join(os.path.dirname(self.program), "gyre_tune_runner"),
        ]

    def run_tune(self, *words):
        return subprocess.run(
            self.words(*words), cwd=self.folder, env=self.environment, capture_output=True, text=True
        )

    def succeed(self, *words):
        result = self.run_tune(*words)
        self.assertEqual((result.returncode, result.stderr), (0, ""), f"{words}\n{result.stdout}")
        return result.stdout

    def tune(self, *words):
        """Tunes the kernel of these tests, quickly."""
        return self.succeed(KERNEL, *self.common(), *QUICK, *words)

    def refuse(self, naming, *words, code=2):
        """One line on stderr that holds every word of `naming`."""
        result = self.run_tune(*words)
        said = f"{' '.join(map(str, words))}\n{result.stdout}{result.stderr}"
        self.assertEqual((result.returncode, result.stderr.count("\n")), (code, 1), said)
        self.assertTrue(result.stderr.startswith("gyre tune: "), said)
        for word in naming.split():
            self.assertIn(word, result.stderr, said)

    def study_name(self, suffix="tpe-1"):
        return f"{KERNEL}__{self.target}-{suffix}"

    def trials(self, suffix="tpe-1"):
        storage = f"sqlite:///{self.path('build', 'tune', self.study_name(suffix), 'study.db')}"
        return optuna.load_study(study_name=self.study_name(suffix), storage=storage).trials
