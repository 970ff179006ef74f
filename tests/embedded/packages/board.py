"""What the tests of packages have in common: the board, the installed library, the compiler."""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGES = ROOT / "runtime" / "embedded" / "packages"
BOARDS = ROOT / "tests" / "embedded" / "boards"


class BoardTest(unittest.TestCase):
    """A test with a folder of its own, in which the build is installed as `prefix`."""

    board = None

    def setUp(self):
        self.work = pathlib.Path(self.board["build"]) / "packages" / self.id().split(".")[-1]
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.prefix = self.work / "prefix"
        self.run_words(self.board["cmake"], "--install", self.board["build"], "--prefix", self.prefix)

    def run_words(self, *words, **options):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **options)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr  # qemu's semihosting writes to the latter

    def make(self, kind, out, *words):
        words = words or (f"{self.board['processor']}={self.prefix}",)
        return subprocess.run([sys.executable, PACKAGES / "make.py", kind, out, *words], capture_output=True, text=True, check=False)

    def package(self, kind):
        out = self.work / kind
        done = self.make(kind, out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def compile(self, source, *flags, compiler=None):
        out = self.work / (pathlib.Path(source).name + ".o")
        self.run_words(compiler or self.board["cc"], *self.board["flags"].split(), *flags, "-c", source, "-o", out)
        return out

    def board_objects(self):
        clock = f"-DBOARD_MHZ={self.board['clock']}"
        return [self.compile(source, "-std=gnu99", "-Os", clock) for source in self.board["sources"]]

    def link_and_run(self, objects, *libraries):
        program = self.work / "program.elf"
        self.run_words(self.board["cc"], *self.board["flags"].split(), "-nostdlib", "-static", "-Wl,--gc-sections", "-T",
                       self.board["script"], *objects, *libraries, "-lgcc", "-o", program)
        self.assertIn("decoded 12 tokens, twice alike", self.run_words(*self.board["run"], program))


def main():
    with open(sys.argv[1], encoding="utf-8") as inputs:
        BoardTest.board = json.load(inputs)
    unittest.main(module="__main__", argv=sys.argv[:1])
