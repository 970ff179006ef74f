"""The list of mutants applies, and the script tells a mutant that is killed from one that survives.

    python mutants_test.py
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from beside import Beside
from mutants import ROOT, read
from scratch import Mismatch, Scratch, check, mutated

HERE = pathlib.Path(__file__).resolve().parent
ALONE = {
    "builds": {"alone": {"folder": "tests/mutants/alone", "options": {}}},
    "suites": {"alone": {"build": "alone", "targets": ["{}"], "command": ["{build}/{}"]}},
}
PAGES = "runtime/cache/written_pages.cpp"
CASES = [
    {"name": "killed", "file": PAGES, "from": "first < rows[row].end", "to": "first <= rows[row].end", "tests": ["alone:pages"]},
    {"name": "survives", "file": PAGES, "from": "< 2 * pages", "to": "< 4 * pages", "tests": ["alone:pages"]},
    {"name": "explained", "file": PAGES, "from": "< 2 * pages", "to": "< 8 * pages", "tests": ["alone:pages"], "equivalent": "a larger table"},
    {"name": "broken", "file": PAGES, "from": "int bits = 1;", "to": "int bits = 1", "tests": ["alone:pages"]},
]


class List(unittest.TestCase):
    def setUp(self):
        self.mutants = read(HERE / "list")
        self.suites = json.loads((HERE / "suites.json").read_text(encoding="utf-8"))

    def test_every_mutant_still_applies(self):
        for mutant in self.mutants:
            with self.subTest(mutant["name"]):
                check(ROOT, mutant)

    def test_there_are_many_and_of_every_engine(self):
        self.assertGreater(len(self.mutants), 200)
        text = "\n".join(mutant["file"] for mutant in self.mutants)
        for folder in ("generators/attention/", "generators/attention/merge/", "generators/attention/operands/", "generators/backward/",
                       "generators/linear/", "generators/rotary/", "generators/math/", "generators/common/", "generators/passes/",
                       "generators/passes/cuda/", "runtime/attention/", "runtime/backward/", "runtime/linear/", "runtime/rotary/",
                       "runtime/cache/", "runtime/cuda/", "runtime/frequencies/", "runtime/embedded/", "runtime/cli/"):
            self.assertRegex(text, f"(?m)^{folder}[^/]*(/[^/]*)?$")

    def test_the_tests_that_they_name_exist(self):
        for mutant in self.mutants:
            for test in mutant["tests"]:
                kind, name = test.split(":", 1)
                self.assertIn(kind, self.suites["suites"], mutant["name"])
                self.assertIn(self.suites["suites"][kind]["build"], self.suites["builds"])
                command = " ".join(self.suites["suites"][kind]["command"])
                pattern = re.search(r"--source-file=\S*/(\S*)\{\}_test\.cpp", command)
                if pattern:
                    found = list(ROOT.glob(f"tests/{name}_test.cpp")) + list(ROOT.glob(f"tests/*/{name}_test.cpp"))
                    self.assertEqual(len(found), 1, f"{mutant['name']}: {test}")

    def test_a_text_that_is_not_there_once_is_an_error(self):
        mutant = {"name": "m", "file": PAGES, "from": "a", "to": "b"}
        self.assertEqual(mutated("xay", mutant), "xby")
        for text in ("xy", "xaya"):
            with self.assertRaisesRegex(Mismatch, "expected once"):
                mutated(text, mutant)
        with self.assertRaisesRegex(Mismatch, "no file"):
            check(ROOT, {**mutant, "file": "generators/nowhere.cpp"})


class Copy(unittest.TestCase):
    def test_a_mutant_is_in_the_copy_alone_and_leaves_it_again(self):
        with tempfile.TemporaryDirectory(prefix="gyre-mutants-") as folder:
            root, copy = pathlib.Path(folder, "root"), pathlib.Path(folder, "copy")
            root.mkdir(), copy.mkdir()
            for name in ("a", "b"):
                (root / name).write_text(f"{name} 1\n", encoding="utf-8")
            (copy / "gone").touch()
            scratch = Scratch(root, copy)
            scratch.synchronise()
            self.assertEqual(sorted(path.name for path in copy.iterdir()), ["a", "b"])
            times = {name: (copy / name).stat().st_mtime_ns for name in ("a", "b")}
            change = {"from": "1", "to": "2"}
            for put, expected in (({"name": "m", "file": "a", **change}, ["a 2\n", "b 1\n"]),
                                  ({"name": "n", "file": "b", **change}, ["a 1\n", "b 2\n"]),
                                  (None, ["a 1\n", "b 1\n"])):
                scratch.put(put)
                self.assertEqual([(copy / name).read_text(encoding="utf-8") for name in ("a", "b")], expected)
                self.assertEqual((root / "a").read_text(encoding="utf-8"), "a 1\n")
            before = (copy / "a").stat().st_mtime_ns
            self.assertGreaterEqual(before, times["a"])
            scratch.synchronise()
            self.assertEqual((copy / "a").stat().st_mtime_ns, before)


class BesideABuild(unittest.TestCase):
    """On a project of one library and one program."""

    PROJECT = """cmake_minimum_required(VERSION 3.28)
project(whole LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
include_directories(runtime)
add_library(written STATIC runtime/cache/written_pages.cpp)
add_executable(pages pages.cpp)
target_link_libraries(pages PRIVATE written)
"""
    SUITES = {
        "builds": {"none": {"options": {}}},
        "suites": {"alone": {"program": {"path": "{}"}, "build": "none", "targets": [], "command": ["{build}/{}"]}},
    }

    def test_the_mutated_object_is_linked_first_and_the_build_stays_as_it_is(self):
        with tempfile.TemporaryDirectory(prefix="gyre-mutants-") as folder:
            root, tree, work = (pathlib.Path(folder, name) for name in ("root", "tree", "work"))
            for name in (PAGES, PAGES.replace(".cpp", ".h")):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, root / name)
            shutil.copyfile(HERE / "alone" / "pages.cpp", root / "pages.cpp")
            (root / "CMakeLists.txt").write_text(self.PROJECT, encoding="utf-8")
            for command in (["cmake", "-S", root, "-B", tree, "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"], ["ninja", "-C", tree]):
                subprocess.run(command, check=True, capture_output=True)
            suites = pathlib.Path(folder, "suites.json")
            suites.write_text(json.dumps(self.SUITES), encoding="utf-8")
            before = {path: path.stat().st_mtime_ns for path in tree.rglob("*") if path.is_file()}
            beside = Beside(work, 1, suites, tree, root)
            scratch = Scratch(root, beside.source("beside"))
            scratch.synchronise()
            told = {}
            for mutant in CASES:
                self.assertEqual(beside.missing("alone:pages") + beside.missing_for(mutant), [])
                scratch.put(mutant)
                beside.mutant = mutant
                built = beside.make("alone:pages")
                told[mutant["name"]] = "does not build" if not built else "passes" if beside.passes("alone:pages")[0] else "fails"
            self.assertEqual(told, {"killed": "fails", "survives": "passes", "explained": "passes", "broken": "does not build"})
            self.assertEqual({path: path.stat().st_mtime_ns for path in tree.rglob("*") if path.is_file()}, before)


class Script(unittest.TestCase):
    """On mutants of a source that is built alone within a second."""

    def run_script(self, work, *words):
        lists, suites = work / "list", work / "suites.json"
        lists.mkdir(parents=True, exist_ok=True)
        (lists / "cases.json").write_text(json.dumps(CASES), encoding="utf-8")
        suites.write_text(json.dumps(ALONE), encoding="utf-8")
        return subprocess.run([sys.executable, HERE / "mutants.py", "--work", work / "work", "--mutants", lists, "--suites", suites, *words],
                              capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"})

    def test_killed_survived_explained_and_broken_are_told_apart(self):
        with tempfile.TemporaryDirectory(prefix="gyre-mutants-") as folder:
            work = pathlib.Path(folder)
            first = self.run_script(work)
            told = [json.loads(line) for line in (work / "work" / "results.jsonl").read_text(encoding="utf-8").splitlines()]
            self.assertEqual({result["name"]: result["status"] for result in told},
                             {"cases/killed": "killed", "cases/survives": "survived", "cases/explained": "survived",
                              "cases/broken": "does not build"}, first.stdout + first.stderr)
            self.assertIn("| all | 4 | 1 | 1 | 1 | 1 | 0 |", first.stdout)
            self.assertIn("killed: 1 of 2", first.stdout)
            self.assertEqual(first.returncode, 1)
            self.assertIn("survived and unexplained: cases/survives", first.stderr)
            # What is settled is not run again, and a report runs nothing.
            again = self.run_script(work, "--only", "cases/killed", "--only", "cases/explained")
            self.assertEqual((again.returncode, again.stderr), (0, ""))
            self.assertNotIn("alone", again.stdout)
            self.assertEqual(self.run_script(work, "--report").stdout, first.stdout[first.stdout.index("| area"):])
            self.assertIn("written_pages.cpp: int bits = 1;", self.run_script(work, "--list").stdout)
            self.assertIn("none is called nothing", self.run_script(work, "--only", "nothing").stderr)


if __name__ == "__main__":
    unittest.main()
