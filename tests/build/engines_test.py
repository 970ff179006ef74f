"""Every engine of attention makes its kernels, whatever this build has: with a maximum and without one, with a state that the first block of
keys sets and with one that begins empty. They are lowered, and not compiled.

    python engines_test.py SOURCES RECIPES
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCES, RECIPES = map(pathlib.Path, sys.argv[1:])
TARGET = re.compile(r"gyre_add_target\((\w+) +ARCH [\w-]+(?: +#.*)?\s+HALIDE ([\w-]+)")
DEVICE_ENGINES = {"mma"}  # of a generator of its own

# An expression that an engine's statement has and no other engine's; "": it has none of theirs.
SIGNS = {
    "tiles": "produce v_packed",
    "pairs": "produce k_pairs",
    "matrices": "produce k_matrices",
    "folded": r"(?s)\A(?!.*produce (?:v_packed|weight_pairs)).*produce weighted_lanes",  # few rows on tiles and of pairs have such lanes, too
    "folded_pairs": r"(?s)produce weight_pairs.*produce weighted_lanes",
    "key_lanes": "produce lane_pairs",
    "bare": "(?s)produce folded_scores.*produce weighted_sums",
    "vectors": "",
}
BARE = {"dense": "true", "as_stored": "true"}
DECODE = {"general": "true", "partial": "true", "as_stored": "true"}
# Engine, target, family whose knobs are taken, parameters.
KERNELS = (
    ("tiles", "x86_64_amx", "plain", {"dtype": "bfloat16"}),  # without a maximum where scores are small, and with one
    ("tiles", "x86_64_amx", "split", {"dtype": "bfloat16", "partial": "true"}),  # with a maximum
    ("tiles", "x86_64_amx", "general", {"dtype": "float16", "general": "true", "padded": "true"}),
    ("pairs", "x86_64_avx512_bf16", "plain", {"dtype": "bfloat16"}),
    ("matrices", "arm_64_bf16", "plain", {"dtype": "bfloat16"}),
    ("vectors", "x86_64_avx2", "general", {"general": "true"}),
    ("folded", "x86_64_avx512", "split", {"partial": "true"}),
    ("folded_pairs", "x86_64_avx512_bf16", "split_as_stored_bf16_d64", {"dtype": "bfloat16", "partial": "true", "as_stored": "true"}),
    ("key_lanes", "x86_64_avx512", "decode", DECODE),
    ("bare", "arm_64_bare", "row", BARE),
    ("bare", "cortex_m55", "plain", {**BARE, "cache": "int8"}),
    ("bare", "cortex_m7", "row", {**BARE, "capped": "true"}),  # without vectors
)


def knobs_of(target, family):
    tuning = json.loads((SOURCES / "generators" / "tuning" / f"{target}.json").read_text(encoding="utf-8"))
    known = {**tuning["defaults"], **tuning["kernels"]}
    return known.get(f"attention_{family}", known["attention"])["knobs"]


def statement_of(target, family, parameters):
    """What Halide lowers a kernel to."""
    words = {"target": TARGETS[target], "head_dim": 64, **knobs_of(target, family), **parameters}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([GENERATOR, "-g", "attention", "-f", "kernel", "-n", "kernel", "-o", folder, "-e", "stmt",
                               *(f"{name}={value}" for name, value in words.items())], capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        return pathlib.Path(folder, "kernel.stmt").read_text(encoding="utf-8")


MADE = json.loads(RECIPES.read_text(encoding="utf-8"))["kernels"]
GENERATOR = next((kernel["generator"] for kernel in MADE if kernel["operation"] == "attention"), None)
TARGETS = dict(TARGET.findall((SOURCES / "cmake" / "GyreTargets.cmake").read_text(encoding="utf-8")))


class Engines(unittest.TestCase):
    def test_every_engine_is_here(self):
        folders = {path.name for path in (SOURCES / "generators" / "attention" / "engines").iterdir() if path.is_dir()}
        self.assertEqual(folders - DEVICE_ENGINES, set(SIGNS))
        self.assertEqual(set(SIGNS), {engine for engine, *_ in KERNELS})

    def test_keys_are_read_from_several_places_where_a_step_is_one_turn(self):
        """Other knobs are valid as well: with them keys are read in order."""
        for knobs in ({}, {"lanes": 4, "fold": 4}, {"lanes": 16, "fold": 16}, {"feature_chunk": 4}):
            with self.subTest(knobs=knobs):
                statement = statement_of("x86_64_avx2", "decode_f32_d128", {**DECODE, "head_dim": 128, **knobs})
                self.assertEqual("produce spread" in statement, not knobs)

    def test_every_engine_makes_its_kernels(self):
        for engine, *kernel in KERNELS:
            with self.subTest(engine, kernel=kernel):
                statement = statement_of(*kernel)
                self.assertEqual([name for name, sign in SIGNS.items() if sign and re.search(sign, statement)], [engine] if SIGNS[engine] else [])


if __name__ == "__main__":
    if not GENERATOR:
        sys.exit(77)  # a build without attention
    unittest.main(argv=sys.argv[:1])
