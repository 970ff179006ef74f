"""Tests of cmake/cached_command.cmake: what it keeps, takes, and makes again.

    python cached_command_test.py CMAKE CACHED_COMMAND
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, SCRIPT = sys.argv.pop(1), os.path.abspath(sys.argv.pop(1))
# Leaves a line in `runs`, then writes both outputs; the second of two commands.
MAKE = "echo run >> runs; printf object > out.o; printf facts > out.inc"


class CachedCommand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = self.folder / "cache"
        (self.folder / "program").write_text("one")

    def run_script(self, key="key", make=MAKE, cache=True):
        environment = {name: value for name, value in os.environ.items() if name != "GYRE_KERNEL_CACHE"}
        if cache:
            environment["GYRE_KERNEL_CACHE"] = str(self.cache)
        folder = self.folder
        return subprocess.run(
            [CMAKE, "-D", f"KEY={key}", "-D", f"KEY_FILES={folder}/program", "-D", f"OUTPUTS={folder}/out.o;{folder}/out.inc",
             "-P", SCRIPT, "--", "true", "--then", "sh", "-c", make],
            cwd=folder, env=environment, capture_output=True, text=True, check=False)

    def check_made(self, runs, **arguments):
        """The outputs are there after a call, and the commands have run so many times since the test began."""
        for name in ("out.o", "out.inc"):
            (self.folder / name).unlink(missing_ok=True)
        done = self.run_script(**arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "out.o").read_text(), "object")
        self.assertEqual((self.folder / "out.inc").read_text(), "facts")
        self.assertEqual((self.folder / "runs").read_text().count("run"), runs)

    def entry(self):
        return next(self.cache.glob("*/*/sums")).parent

    def test_commands_run_once(self):
        self.check_made(1)
        self.check_made(1)

    def test_a_kernel_that_must_fail_is_an_error(self):
        warning = "echo 'Warning: This pipeline is guaranteed to fail an assertion at runtime: ' >&2; "
        done = self.run_script(make=warning + MAKE)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("would fail at run time", done.stderr)
        self.check_made(2)

    def test_no_cache_is_the_default(self):
        self.check_made(1, cache=False)
        self.check_made(2, cache=False)
        self.assertFalse(self.cache.exists())

    def test_another_key_is_another_entry(self):
        self.check_made(1)
        self.check_made(2, key="other")
        (self.folder / "program").write_text("two")
        self.check_made(3)
        (self.folder / "program").write_text("one")
        self.check_made(3)

    def test_a_missing_key_file_stops_caching(self):
        (self.folder / "program").unlink()
        self.check_made(1)
        self.check_made(2)

    def test_a_damaged_entry_is_made_again(self):
        self.check_made(1)
        runs = 1
        for damage in (lambda entry: (entry / "out.o").write_text("objec"),
                       lambda entry: (entry / "out.inc").unlink(),
                       lambda entry: (entry / "sums").write_text(""),
                       lambda entry: (entry / "sums").unlink()):
            damage(self.entry())
            runs += 1
            self.check_made(runs)
            self.check_made(runs)

    def test_a_failed_command_fails_and_leaves_nothing(self):
        self.assertNotEqual(self.run_script(make=MAKE + "; exit 3").returncode, 0)
        self.assertEqual(list(self.cache.glob("*/*")), [])

    def test_a_cache_that_cannot_be_written_is_reported(self):
        self.cache.write_text("a file where a folder is expected")
        self.check_made(1)
        self.assertIn("GYRE_KERNEL_CACHE", self.run_script().stderr)


if __name__ == "__main__":
    unittest.main()
