"""Sources are as `cmake/go format` writes them.

    python format_test.py       skipped where there is no clang-format of the pinned version
"""

import importlib.metadata
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.executable).parent / "clang-format"


def is_pinned():
    """Every version formats a little differently."""
    try:
        found = importlib.metadata.version("clang-format")
    except importlib.metadata.PackageNotFoundError:
        return False
    return f"clang-format=={found}" in (ROOT / "cmake/requirements-format.in").read_text(encoding="utf-8").split()


if not is_pinned():
    print("skipped: there is no clang-format of the pinned version")
    sys.exit(77)


def sources():
    """What cmake/go format writes, as it lists them."""
    listed = subprocess.run(["bash", "-c", "source cmake/steps/commands.sh && sources"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def unformatted(files):
    """What clang-format would change, a line each."""
    done = subprocess.run([PROGRAM, "--dry-run", f"--style=file:{ROOT / '.clang-format'}", *files], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=True)
    return [line for line in done.stderr.splitlines() if "[-Wclang-format-violations]" in line]


class Format(unittest.TestCase):
    def test_sources(self):
        files = sources()
        self.assertGreater(len(files), 1000)
        self.assertEqual(unformatted(files), [], "run cmake/go format")

    def test_a_wrong_space_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "wrong.cpp")
            source.write_text("int  f();\n", encoding="utf-8")
            self.assertEqual(len(unformatted([source])), 1)


if __name__ == "__main__":
    unittest.main()
