"""gyre compare: two builds of one kernel in turns, and what is said about them."""

import json
import os
import subprocess
import unittest

import numpy as np
from compare import compared
from fake_generator import FAULTS
from harness import HANGING_SECONDS, KERNEL, SHAPE, TuneTest
from recipes import Recipes
from runner import Limits
from workshop import Workshop


class Compared(unittest.TestCase):
    def verdict(self, ratio, noise, seed=1, rounds=200):
        """Times on a machine that drifts, of a build, its copy, and another that takes `ratio` of theirs."""
        random = np.random.default_rng(seed)
        machine = 1e-3 * (1 + 0.25 * np.sin(np.linspace(0, 9, rounds)))
        times = {
            role: list(machine * share * np.exp(noise * random.standard_normal(rounds)))
            for role, share in (("old", 1), ("again", 1), ("new", ratio))
        }
        return compared([{"shape": "h=1", "seconds": times}])

    def test_a_clear_difference(self):
        faster, slower = self.verdict(0.95, 0.01), self.verdict(1.05, 0.01)
        self.assertEqual((faster["verdict"], slower["verdict"]), ("faster", "slower"))
        self.assertAlmostEqual(faster["ratio"], 0.95, delta=0.01)
        self.assertAlmostEqual(slower["ratio"], 1.05, delta=0.01)

    def test_noise_is_no_difference(self):
        for seed in range(40):
            for noise in (0.005, 0.05, 0.2):
                self.assertEqual(self.verdict(1, noise, seed)["verdict"], "alike", (seed, noise))


class Compare(TuneTest):
    def make(self, name, **knobs):
        """A library as cmake/go kernel makes it."""
        os.environ["REAL_GENERATOR"] = self.environment["REAL_GENERATOR"]
        recipes = Recipes(self.path("build"))
        needs = [(recipes.get("angles_f32", self.target), {})]
        workshop = Workshop(recipes, recipes.get(KERNEL, self.target), needs, self.folder, Limits(HANGING_SECONDS))
        os.rename(workshop.make({"fault": 0, "lanes": 0, **knobs}), self.path(name))
        return self.path(name)

    def run_compare(self, *words):
        runner = os.path.join(os.path.dirname(self.program), "gyre_tune_runner")
        words = [self.program, "compare", *words, "--kernel", KERNEL, "--build", self.path("build"), "--runner", runner]
        words += ["--limit-seconds", str(HANGING_SECONDS)]
        return subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True)

    def compare(self, *words):
        result = self.run_compare(*words, "--shape", SHAPE, "--seconds", "0.1")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        return result.stdout

    def setUp(self):
        super().setUp()
        self.fake_generator()

    def test_two_builds_and_one_build_twice(self):
        old, new = self.make("old.so"), self.make("new.so", lanes=8)
        for one, other in ((old, new), (old, old)):
            told = json.loads(self.compare(os.path.basename(one), other, "--json"))
            self.assertEqual((told["kernel"], told["threads"]), (KERNEL, 1))
            self.assertIn(told["verdict"], ("faster", "slower", "alike"))
            for number in ("old_us", "new_us", "ratio", "old_to_old"):
                self.assertGreater(told[number], 0)
            self.assertGreaterEqual(told["noise"], 0)
            self.assertEqual([each["shape"] for each in told["shapes"]], ["b=1,h=4,hkv=4,lq=64,lk=64,d=64,causal=0"])
        said = self.compare(old, new)
        for word in ("OLD", "NEW / OLD", "noise", "a copy of itself"):
            self.assertIn(word, said)

    def test_two_builds_of_the_same_name(self):
        """Two clones make such builds: the folder tells them apart, nothing else does."""
        os.makedirs(self.path("other"))
        one = self.make("kernel.so")
        self.compare(one, self.make("other/kernel.so"))

    def refuse_compare(self, naming, *words, code=2):
        result = self.run_compare(*words)
        said = result.stdout + result.stderr
        self.assertEqual((result.returncode, result.stderr.count("\n")), (code, 1), said)
        self.assertTrue(result.stderr.startswith("gyre compare: "), said)
        for word in naming.split():
            self.assertIn(word, result.stderr, said)

    def test_refused(self):
        old = self.make("old.so")
        with open(self.path("text.so"), "w", encoding="utf-8") as file:
            file.write("no library")
        self.refuse_compare("NEW.so nowhere.so", old, "nowhere.so")
        self.refuse_compare("--shape", old, old, "--shape", "x=3")
        self.refuse_compare("text.so cannot be loaded", old, "text.so", code=1)
        wrong = self.make("wrong.so", fault=FAULTS.index("wrong"))
        self.refuse_compare("wrong.so wrong out[", old, wrong, code=1)
