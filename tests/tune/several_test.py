"""Several kernels in one run, and what is written and taken back."""

import io
import json
import os
import unittest

from harness import KERNEL, QUICK, TuneTest
from history import History
from progress import Progress, Whole

OTHER = "rotary_f32_interleaved"


class Wholes(unittest.TestCase):
    def test_time_left_of_the_whole(self):
        self.assertEqual(Whole(0, 3, 900).text(120), "[1 of 3, 0 h 32 min left] ")
        self.assertEqual(Whole(2, 3, 900).text(None), "[3 of 3, 0 h 15 min left] ")
        self.assertEqual(Whole(2, 3, 900).text(-5), "[3 of 3, 0 h 00 min left] ")
        self.assertEqual(Whole(1, 40, None).text(None), "[2 of 40] ")

    def test_one_line_shows_it(self):
        stream = io.StringIO()
        stream.isatty = lambda: True
        progress = Progress(stream)
        progress.whole = Whole(1, 40, 3600)
        progress.show("trial 3", 1800)
        self.assertTrue(stream.getvalue().endswith("[2 of 40, 38 h 30 min left] trial 3"))


class Several(TuneTest):
    def setUp(self):
        super().setUp()
        content = self.read_json("build/kernels/recipes.json")
        wanted = (KERNEL, OTHER, "angles_f32")
        content["kernels"] = [each for each in content["kernels"] if f"{each['operation']}_{each['variant']}" in wanted]
        for operation, variant in (("merge", "f32_f32"), ("backward", "f32_d64")):
            content["kernels"].append({**content["kernels"][0], "operation": operation, "variant": variant})
        self.write_json("build/kernels/recipes.json", content)
        os.makedirs(self.path("generators", "backward"))
        self.write_json("generators/backward/backward_knobs.json", {"knobs": {}})

    def test_a_list_of_what_would_be_tuned(self):
        lines = self.succeed("*", *self.common(), "--list").splitlines()
        self.assertEqual([line.split()[0] for line in lines[:3]], ["angles_f32", KERNEL, OTHER])
        for line in lines[:3]:
            self.assertRegex(line, rf"^\S+  {self.target}  \d+ points  stored: ")
        self.assertEqual(len(lines), 5)
        self.assertRegex(lines[3], "^left out: .*backward_f32_d64.* cannot time backward")
        self.assertRegex(lines[4], "^left out: .*merge_f32_f32.* no knobs")

    def test_one_after_the_other(self):
        said = self.succeed("rotary", *self.common(), *QUICK, "--trials", 1, "--no-write")
        self.assertEqual(said.count("points; reference"), 2)

    def test_one_that_fails_does_not_end_the_others(self):
        self.fake_generator()
        self.change_space(knobs={"fault": {"values": [0, 1], "default": 0}}, worthwhile=[])
        content = {"target": self.target, "defaults": {}, "kernels": {KERNEL: {"knobs": {"fault": 1}}}}
        self.write_json(f"tuning/{self.target}.json", content)
        result = self.run_tune("rotary", *self.common(), *QUICK, "--trials", 1, "--no-write")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"1 of 2 kernels failed: {KERNEL}", result.stderr)
        self.assertEqual(result.stdout.count("points; reference"), 2)


class Replacing(TuneTest):
    def store(self, shape):
        entry = {"knobs": {"lanes": 8}, "evidence": {"shape": shape}}
        self.write_json(
            f"tuning/{self.target}.json", {"target": self.target, "defaults": {}, "kernels": {KERNEL: entry}}
        )

    def test_knobs_of_more_shapes_are_replaced_by_force_alone(self):
        words = [KERNEL, *self.common(), *QUICK, "--trials", 1]
        self.store("b=1 h=1 lq=8 and b=1 h=1 lq=64")
        self.refuse("--shape lq=64 --force --no-write", *words)
        self.succeed(*words, "--force")
        self.succeed(*words, "--study", "b", "--no-write")
        self.succeed(*words, "--study", "c", "--shape", "h=1,lq=8")
        self.store("b=1 h=1 lq=8")
        self.succeed(*words, "--study", "d")


class Reverting(TuneTest):
    def stored(self):
        return self.read_json(f"tuning/{self.target}.json")

    def revert(self):
        return [KERNEL, "--build", self.path("build")]

    def test_the_last_write_is_taken_back(self):
        self.store_slow_knobs()
        before = self.stored()
        said = self.tune("--sampler", "grid", "--trials", 4)
        self.assertIn(f"gyre tune revert {KERNEL}", said)
        self.assertNotEqual(self.stored(), before)
        self.assertIn("again", self.succeed("revert", *self.revert()))
        self.assertEqual(self.stored(), before)
        self.refuse("nothing was written", "revert", *self.revert())

    def test_what_was_not_there_before_goes(self):
        after = {"knobs": {"lanes": 8}}
        self.write_json(f"tuning/{self.target}.json", {"target": self.target, "kernels": {KERNEL: after}})
        History(self.path("build", "tune")).add(
            kernel=KERNEL, target=self.target, folder=self.path("tuning"), before=None, after=after
        )
        self.succeed("revert", *self.revert())
        self.assertEqual(self.stored()["kernels"], {})

    def test_what_has_changed_since_stays(self):
        changed = {"target": self.target, "kernels": {KERNEL: {"knobs": {"lanes": 4}}}}
        self.write_json(f"tuning/{self.target}.json", changed)
        for target in (self.target, "another"):
            History(self.path("build", "tune")).add(
                kernel=KERNEL, target=target, folder=self.path("tuning"), before=None, after={"knobs": {"lanes": 8}}
            )
        self.refuse("--target another", "revert", *self.revert())
        self.refuse("changed --force", "revert", *self.revert(), "--target", self.target)
        self.assertEqual(json.loads(json.dumps(changed)), self.stored())
        self.succeed("revert", *self.revert(), "--target", self.target, "--force")
        self.assertEqual(self.stored()["kernels"], {})
