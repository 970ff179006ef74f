"""suite/models_suite.py on small suites of its own: it counts calls, tells what fails with Gyre alone, and a run without calls fails.

    python models_suite_test.py        skipped where there is no pytest, no Transformers, or no operators for PyTorch
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import pytest  # noqa: F401
    import transformers  # noqa: F401

    import gyre.transformers  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

SUITE = pathlib.Path(__file__).parent / "suite" / "models_suite.py"
HEAD = """
import sys, torch
from transformers_support import MODELS, model_of

def logits(way):
    return model_of(MODELS["Llama"](), way)(torch.tensor([[3, 4, 5]])).logits

def test_sdpa():
    torch.testing.assert_close(logits("sdpa"), logits("eager"), rtol=1e-4, atol=1e-5)
"""
FAILS_WITH_GYRE = """
def test_nobody_else():
    assert "gyre.transformers" not in sys.modules

def test_always_wrong():
    assert False
"""
NO_CALL = """
def test_nothing():
    pass
"""


class Suite(unittest.TestCase):
    def run_suite(self, text, *words):
        with tempfile.TemporaryDirectory() as folder:
            tests = pathlib.Path(folder) / "tests" / "models" / "llama"
            tests.mkdir(parents=True)
            (tests / "test_modeling_llama.py").write_text(text)
            (pathlib.Path(folder) / "conftest.py").write_text(f"import sys\nsys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})\n")
            return subprocess.run([sys.executable, str(SUITE), folder, "--models", "llama", "--gyre", *words], capture_output=True, text=True)

    def test_all_ways(self):
        done = self.run_suite(HEAD, "attention", "rotations", "sdpa")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = [line.split("|") for line in done.stdout.splitlines()[2:]]
        self.assertEqual([row[2].strip() for row in rows], ["attention", "rotations", "sdpa"])
        for row in rows:
            self.assertGreater(int(row[3]), 0, row)
            self.assertEqual([int(cell) for cell in row[4:8]], [1, 0, 0, 0], row)

    def test_failures_with_gyre_alone(self):
        done = self.run_suite(HEAD + FAILS_WITH_GYRE, "attention")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("| 1 | 2 | 1 | 1 |", done.stdout)
        self.assertIn("test_nobody_else: failed", done.stdout)
        self.assertNotIn("test_always_wrong", done.stdout)

    def test_no_call_is_a_failure(self):
        self.assertEqual(self.run_suite(NO_CALL, "attention").returncode, 1)


if __name__ == "__main__":
    unittest.main()
