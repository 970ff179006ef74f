"""gyre.build(): kernels from Python, with a score function, kept for the next call; and what it refuses.

    python build_test.py SOURCE_DIRECTORY GENERATORS WORK_DIRECTORY       skipped where there is no Halide for this Python

GENERATORS: a folder of compiled generators of the same sources, which spares a minute.
"""

import contextlib
import importlib.util
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

import gyre
import numpy as np
from support import SKIPPED, random

SOURCE, GENERATORS, WORK = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
NEAR_FIRST = SOURCE / "tests/examples/score_function/near_first.h"
INPUTS = {"slopes": np.array([0.5, 0.25], np.float32), "reach": np.array([0], np.int32)}


def build(**options):
    return gyre.build(**{"folder": WORK, "defines": {"GYRE_GENERATORS": GENERATORS}, **options})


class Build(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)

    def test_a_score_function(self):
        context = build(head_dims=48, score=NEAR_FIRST, name="near_kernels")
        q = random(1, 20, 2, 48)
        out = gyre.attention(q, q, q, causal=True, score="near_first", score_inputs=INPUTS, context=context)
        np.testing.assert_allclose(out, q, atol=1e-6)  # beyond a reach of 0 a token sees itself alone
        self.assertIn("near_first", context.selected_kernel)
        (made,) = WORK.rglob("libnear_kernels.so")
        written = made.stat().st_mtime_ns
        again = build(head_dims=48, score=NEAR_FIRST, name="near_kernels")
        self.assertEqual((made.stat().st_mtime_ns, again.target), (written, context.target))
        # Calls of tensors' libraries, and those without a context, find the kernels too.
        np.testing.assert_array_equal(gyre.attention(q, q, q, causal=True, score="near_first", score_inputs=INPUTS), out)
        with self.assertRaisesRegex(ValueError, "name: near_kernels is the name of other kernels in this process"):
            build(ops="rotary", name="near_kernels", features="half")

    def test_a_score_of_a_text(self):
        source = ('#pragma once\n#include <attention/score.h>\n'
                  'inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &) { return 2.0f * p.score; }\n')
        context = build(head_dims=16, score={"twice": source}, name="twice_kernels")
        q = random(1, 9, 2, 16)
        np.testing.assert_allclose(gyre.attention(q, q, q, score="twice", context=context), gyre.attention(q, q, q, scale=0.5), atol=1e-5)

    def test_a_session_that_changes_its_mind(self):
        q = random(1, 9, 2, 16)
        for factor in (2, 4):
            source = ('#pragma once\n#include <attention/score.h>\n'
                      f'inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &) {{ return {factor}.0f * p.score; }}\n')
            out = gyre.attention(q, q, q, score="scaled", context=build(head_dims=16, features="half", score={"scaled": source}))
            np.testing.assert_allclose(out, gyre.attention(q, q, q, scale=factor / 4), atol=1e-5)

    def test_a_size_of_its_own(self):
        context = build(head_dims=[24], dtypes=["f32"], features=["causal", "rope"], name="small_kernels")
        q = random(1, 9, 2, 24)
        out = gyre.attention(q, q, q, causal=True, rope=gyre.Rope(), context=context)
        self.assertRegex(context.selected_kernel, "^attention_plain_f32_dmax32__")
        np.testing.assert_allclose(out, gyre.attention(q, q, q, causal=True, rope=gyre.Rope(), context=gyre.Context(library="gyre")), atol=1e-5)

    def test_mistakes(self):
        for error, said, options in [
            (ValueError, "HEAD_DIMS: got 900, valid: 1 to 512", {"head_dims": 900}),
            (ValueError, "OPS: got attending, valid: ", {"ops": "attending"}),
            (ValueError, "attention needs HEAD_DIMS", {}),
            (ValueError, "head_dims: got '64\\) message", {"head_dims": "64) message(hi"}),
            (ValueError, "HEAD_DIMS: got -3, valid: 1 to 512", {"head_dims": -3}),
            (TypeError, "dtypes: got \\[1.5\\]", {"dtypes": [1.5]}),
            (TypeError, "head_dims: got 64.5, expected a word or a number", {"head_dims": 64.5}),
            (OSError, "score: got 'nowhere.h', which is no file", {"score": "nowhere.h", "head_dims": 16}),
        ]:
            with self.assertRaisesRegex(error, said):
                build(folder=WORK / "mistakes", **options)
        self.assertEqual(list((WORK / "mistakes").rglob("*.so")), [])

    def test_mistakes_in_a_score_function(self):
        """The compiler's words of the file alone: what CMake and Ninja say around them is long."""
        begin = "#pragma once\n#include <attention/score.h>\ninline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {\n"
        for name, rest, said in [
            ("syntax", "return p.score * ;\n}\n", r"^score: syntax\.h:4:18: error: [^\n]+\n +4 \| return p\.score \* ;\n[ |^]+$"),
            ("field", "return p.scores;\n}\n", r"^score: field\.h:4:\d+: error: .*scores"),
            ("nothing", "}\n", r"^score: nothing\.h:4:1: error: no return statement"),
            ("header", "return p.score;\n}\n#include <nowhere.h>\n", r"^score: header\.h:6:\d+: fatal error: nowhere\.h"),
            ("place", "return p.q_position;\n}\n", r"^score: place\.h: score\(\) gave int32, expected an f32 expression$"),
        ]:
            with self.subTest(name), self.assertRaisesRegex(ValueError, said):
                build(folder=WORK / "mistakes", head_dims=16, score={name: begin + rest}, features="half")

    def test_programs_that_are_too_old_or_not_there_are_told_before_anything_is_made(self):
        with tempfile.TemporaryDirectory() as folder:
            cmake = pathlib.Path(folder) / "cmake"
            for version, said in (("3.25.1", "version 3.25.1, expected 3.28 or later: pip install"), ("3.30.0", None)):
                cmake.write_text(f"#!/bin/sh\necho cmake version {version}\n")
                cmake.chmod(0o755)
                with self.assertRaisesRegex(ImportError, said) if said else contextlib.nullcontext():
                    gyre._build_tools.configure_command({"PATH": folder})
            (pathlib.Path(folder) / "halide").mkdir()  # a folder of that name is no package
            with mock.patch.object(sys, "path", [folder]), self.assertRaisesRegex(ImportError, "there is no halide"):
                gyre._build_tools.environment()


if __name__ == "__main__":
    if importlib.util.find_spec("halide") is None:
        print("skipped: there is no Halide for this Python")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
