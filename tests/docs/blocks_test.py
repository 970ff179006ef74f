"""Every fenced block of the guides is compiled, configured or read, and run where it can be, with the installed package.

    python blocks_test.py PREFIX WORK GENERATOR CC GENERATORS      the package, a scratch folder, CMake's generator, the C
                                                                 compiler, the folder of a build's generator programs
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from guides import ROOT, blocks

GUIDES = ("README.md", "include/gyre/README.md", "cmake/README.md", "generators/README.md", "generators/first_schedule.md",
          "bench/README.md", "bench/tune/README.md", "runtime/embedded/README.md")
PROJECT = "cmake_minimum_required(VERSION 3.28)\nproject(guide LANGUAGES C CXX)\nadd_executable({program} main.c)\n"
SMALL = ("-DGYRE_TARGETS=host", "-DGYRE_OPS=rotary", "-DGYRE_HEAD_DIMS=64", "-DGYRE_CUDA=OFF")


class Blocks(unittest.TestCase):
    prefix = work = generator = cc = generators = None

    def setUp(self):
        self.folder = self.work / self.id().split(".")[-1]
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def run_in_folder(self, *words, **options):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, **options)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def configure(self, *options):
        self.run_in_folder("cmake", "-S", ".", "-B", "build", "-G", self.generator, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                           "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_C_COMPILER={self.cc}",
                           f"-DPython3_EXECUTABLE={sys.executable}", *options)

    def build_and_run(self, program):
        self.run_in_folder("cmake", "--build", "build")
        self.run_in_folder(f"build/{program}")

    def first_call(self, text):
        """Runs the lines below it in README.md, which compile it: they are run as they are, with the package in ~/gyre."""
        self.write("first.c", text)
        home = self.folder / "home"
        home.mkdir()
        (home / "gyre").symlink_to(self.prefix, target_is_directory=True)
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        lines = [line.strip() for line in readme.split("```c\n")[1].split("```\n")[1].splitlines() if line.startswith("    ")]
        self.assertEqual([line.split()[0] for line in lines[:2]], ["export", "cc"])
        self.run_in_folder("sh", "-ec", "\n".join(lines[:2]), env={**os.environ, "HOME": str(home)})

    def own_kernels(self, text):
        """The first call with the type and the head size that the kernels are made for."""
        source = dict(enumerate(blocks("README.md")))[0][1]
        for before, after in ((r"\b64\b", "72"), ("GYRE_F32", "GYRE_BF16"), ("static float", "static uint16_t")):
            source, count = re.subn(before, after, source)
            self.assertTrue(count)
        self.write("main.c", source)
        self.write("CMakeLists.txt", PROJECT.format(program="my_program") + text)
        self.configure(f"-DGYRE_GENERATORS={self.generators}")  # on_demand:libraries compiles them from the package
        self.build_and_run("my_program")

    def fragment(self, name, text):
        """tests/docs/fragments.c with all the fragments of include/gyre/README.md: this one must be among them."""
        names = ("gradients.inc", "cache.inc", "masks.inc", "linear.inc")
        fragments = dict(zip(names, (text for _, text in blocks("include/gyre/README.md")), strict=True))
        self.assertEqual(fragments[name], text)
        for each, content in fragments.items():
            self.write(each, content)
        shutil.copy(pathlib.Path(__file__).with_name("fragments.c"), self.folder / "main.c")
        self.write("CMakeLists.txt", PROJECT.format(program="program") + "find_package(gyre REQUIRED)\n"
                   "target_link_libraries(program PRIVATE gyre::gyre m)\ntarget_compile_options(program PRIVATE -Wall -Werror)\n"
                   "target_include_directories(program PRIVATE .)\n")
        self.configure()
        self.build_and_run("program")

    def package(self, text):
        self.write("main.c", blocks("README.md")[0][1])
        self.write("CMakeLists.txt", PROJECT.format(program="program") + text)
        self.configure()
        self.build_and_run("program")

    def sources(self, text):
        """Configured only: the test install:subdirectory builds such a project."""
        (self.folder / "third_party").mkdir()
        (self.folder / "third_party" / "gyre").symlink_to(ROOT, target_is_directory=True)
        self.write("main.c", blocks("README.md")[0][1])
        self.write("CMakeLists.txt", PROJECT.format(program="program") + text)
        self.configure(*SMALL, f"-DGYRE_GENERATORS={self.generators}")

    def tuning_entry(self, text):
        entry = json.loads("{" + text + "}")["attention_plain_f32_d64"]
        self.assertEqual(set(entry), {"knobs", "evidence"})
        knobs = json.loads(next((ROOT / "generators").rglob("attention_knobs.json")).read_text(encoding="utf-8"))["knobs"]
        for name, value in entry["knobs"].items():
            self.assertIn(value, knobs[name]["values"])

    def microcontroller(self, text):
        """It is the project in tests/embedded/example/kernels, which the tests embedded:… build for its target."""
        project = (ROOT / "tests/embedded/example/kernels/CMakeLists.txt").read_text(encoding="utf-8")
        words = " ".join(project.replace("${GYRE_EXAMPLE_TARGET}", "cortex_m55").split())
        for statement in (line.split("#")[0].strip() for line in text.splitlines()):
            self.assertIn(statement, words)

    RUN = {
        ("README.md", 0): first_call,
        ("README.md", 1): own_kernels,
        ("include/gyre/README.md", 0): lambda self, text: self.fragment("gradients.inc", text),
        ("include/gyre/README.md", 1): lambda self, text: self.fragment("cache.inc", text),
        ("include/gyre/README.md", 2): lambda self, text: self.fragment("masks.inc", text),
        ("include/gyre/README.md", 3): lambda self, text: self.fragment("linear.inc", text),
        ("cmake/README.md", 0): package,
        ("cmake/README.md", 1): sources,
        ("generators/first_schedule.md", 0): tuning_entry,
        ("runtime/embedded/README.md", 0): microcontroller,
    }

    def test_every_block_is_run(self):
        found = {(guide, i): text for guide in GUIDES for i, (_, text) in enumerate(blocks(guide))}
        self.assertEqual(set(found), set(self.RUN))


def add_test(guide, i, run):
    def test(self):
        run(self, blocks(guide)[i][1])

    name = f"test_{guide.replace('/', '_').removesuffix('.md')}_{i}"
    setattr(Blocks, name, test)


for (guide, i), run in Blocks.RUN.items():
    add_test(guide, i, run)

if __name__ == "__main__":
    Blocks.prefix, Blocks.work, Blocks.generator, Blocks.cc, Blocks.generators = sys.argv[1:6]
    Blocks.work = pathlib.Path(Blocks.work)
    del sys.argv[1:6]
    unittest.main()
