"""A rehearsal of bench/cuda/visit on the emulated device: its results, and that a stage which fails or does not end stops no other.

    python visit_test.py BUILD
"""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench" / "cuda" / "visit"))

import archive  # noqa: E402  # pylint: disable=wrong-import-position

TREE = pathlib.Path(sys.argv.pop()).absolute()


class Visit(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.memory = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.memory.name) / "gyre-visit"
        archive.gather(TREE, cls.folder)
        (cls.folder / "images" / "launches.json").write_text("{}", encoding="utf-8")

    @classmethod
    def tearDownClass(cls):
        cls.memory.cleanup()

    def lines(self, stage):
        results = self.folder.with_name("rehearsal") / "visit.jsonl"
        found = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
        return [line for line in found if line["stage"] == stage]

    def test_kernels_are_checked_against_double_and_their_images_loaded(self):
        status, launches = archive.rehearse(TREE, self.folder, ["machine", "accuracy", "images"])
        self.assertEqual(status, 0)
        families = {line["family"] for line in self.lines("accuracy") if "family" in line}
        self.assertLessEqual({"plain_as_stored", "rotated", "window", "paged", "split_as_stored", "general", "rotary"}, families)
        self.assertTrue(all(line["of_allowed"] <= 1 for line in self.lines("accuracy") if "of_allowed" in line))
        self.assertGreater(len(launches), len(families))
        images = list((self.folder / "images").glob("*.fatbin"))
        self.assertGreater(len(images), 40)
        self.assertGreaterEqual(len(self.lines("images")), len(images))

    def test_a_stage_that_does_not_end_and_one_that_cannot_run_stop_no_other(self):
        status, _ = archive.rehearse(TREE, self.folder, ["accuracy", "oracle", "machine"], "--limit", "1")
        self.assertEqual(status, 1)
        self.assertEqual(self.lines("accuracy")[-1]["ended"], "no end")
        self.assertNotEqual(self.lines("oracle")[-1]["ended"], 0)
        self.assertEqual(self.lines("machine")[-1]["stage"], "machine")


if __name__ == "__main__":
    unittest.main()
