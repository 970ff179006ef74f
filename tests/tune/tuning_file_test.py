"""The tuning database: written in place, in its own style, and only where the best beats what is stored."""

import glob
import json
import os
import unittest

from harness import KERNEL, TuneTest, recipes_of
from recipes import Recipe
from tuning_file import TuningFile, formatted


class Style(unittest.TestCase):
    def test_the_stored_files_are_in_this_style(self):
        files = glob.glob(os.path.join(recipes_of(TuneTest.build)["tuning"], "*.json"))
        self.assertTrue(files)
        for path in files:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(formatted(json.loads(text)), text, path)


class Writing(TuneTest):
    def store(self, entries):
        with open(self.path("tuning", self.target + ".json"), "w", encoding="utf-8") as file:
            file.write(
                formatted({"target": self.target, "defaults": {"attention": {"knobs": {"lanes": 0}}}, "kernels": entries})
            )

    def stored(self):
        return self.read_json(f"tuning/{self.target}.json")

    def test_other_entries_stay_as_they_are(self):
        others = {"attention_plain_f32_d64": {"knobs": {"lanes": 8}}, "rotary_f32_interleaved": {"knobs": {"lanes": 4}}}
        self.store(others)
        before = self.stored()
        database = TuningFile(self.path("tuning"), self.target)
        recipe = Recipe("rotary", "f32_half", self.target, "", "", {}, {})
        database.store(recipe, {"lanes": 32}, {"verified": True, "shape": "a b c"})
        after = self.stored()
        self.assertEqual(
            after["kernels"].pop(KERNEL), {"knobs": {"lanes": 32}, "evidence": {"verified": True, "shape": "a b c"}}
        )
        self.assertEqual(after, before)
        self.assertEqual(database.knobs(recipe), {"lanes": 32})
        self.assertEqual(os.listdir(self.path("tuning")), [self.target + ".json"])

    def test_a_better_one_is_written_with_its_evidence(self):
        self.store_slow_knobs()
        said = self.tune("--sampler", "grid", "--trials", 4)
        self.assertIn("accepted", said)
        entry = self.stored()["kernels"][KERNEL]
        self.assertEqual(entry["knobs"]["fault"], 0)
        evidence = entry["evidence"]
        for name in (
            "date",
            "commit",
            "halide",
            "machine",
            "threads",
            "shape",
            "verified",
            "candidates_tried",
            "median_us",
            "p10_us",
            "p90_us",
            "default_median_us",
            "sampler",
        ):
            self.assertIn(name, evidence)
        self.assertLess(evidence["median_us"], evidence["replaced_median_us"])
        with open(self.path("tuning", self.target + ".json"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(formatted(json.loads(text)), text)

    def test_no_write(self):
        self.store({KERNEL: {"knobs": {"lanes": 4}}})
        before = self.stored()
        self.tune("--sampler", "grid", "--trials", 3, "--no-write")
        self.assertEqual(self.stored(), before)

    def test_from_an_empty_database_and_a_bad_start(self):
        said = self.tune("--trials", 3, "--knobs", "lanes=4", "--no-write")
        self.assertIn("reference lanes=0", said)
        self.assertEqual(self.trials()[0].params["lanes"], 4)
