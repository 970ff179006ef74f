"""What mypy says of the package, and of programs that use it.

    python typing_test.py PACKAGE_FOLDER        skipped where there is no mypy
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PACKAGE = pathlib.Path(sys.argv.pop(1)).resolve()
if importlib.util.find_spec("mypy") is None:
    print("skipped: there is no mypy")
    sys.exit(77)

PROGRAM = """
import gyre
import numpy as np

q = np.zeros((1, 8, 2, 64), np.float32)
gyre.attention(q, q, q, causal=True, window=(3, 0), rope=gyre.Rope(theta=1e4), context=gyre.Context(threads=1))
threads: int = gyre.Context().threads
version: str = gyre.__version__
accepted: list[bool] = [study.accepted for study in gyre.tune("rotary_f32_half", build="build")]
gyre.plot.angles(gyre.Rope(), 64).savefig("angles.png")
"""
MISTAKES = {
    'gyre.attention(q, q, q, causal="yes")': "arg-type",
    "gyre.attention(q, q, q, caussal=True)": "call-arg",
    "gyre.attention(q, q, q, window=3)": "arg-type",
    "gyre.attention(q, q, q, rope=10000.0)": "arg-type",
    "gyre.Rope(thta=3)": "call-arg",
    "target: int = gyre.Context().target": "assignment",
    "gyre.rotary(q)": "call-arg",
}


# Where a framework is missing, what the package takes from it is of any type: PyTorch's layers, JAX's decorators.
OF_ANY_TYPE = {"torch": "--allow-subclassing-any", "jax": "--allow-untyped-decorators"}
WITHOUT_FRAMEWORKS = [option for framework, option in OF_ANY_TYPE.items() if importlib.util.find_spec(framework) is None]


def mypy(*words):
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", PACKAGE / "pyproject.toml", "--no-error-summary",
                           f"--cache-dir={Typing.cache}", *words],
                          cwd=Typing.cache, env={**os.environ, "MYPYPATH": str(PACKAGE)}, capture_output=True, text=True)
    if done.stderr:
        raise AssertionError(done.stderr)
    return done.stdout.splitlines()


class Typing(unittest.TestCase):
    cache: str  # of what mypy knows of the frameworks, which it takes most of its time to read

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="gyre-typing-")
        cls.addClassCleanup(folder.cleanup)
        cls.cache = folder.name

    def test_the_package(self):
        """Of mypy's strict mode, which wants a type of every function, and of frameworks that are there."""
        self.assertEqual(mypy(*WITHOUT_FRAMEWORKS, "-p", "gyre"), [])
        self.assertTrue((PACKAGE / "gyre" / "py.typed").exists())

    def test_a_fault_is_found(self):
        with tempfile.TemporaryDirectory(prefix="gyre-typing-") as folder:
            program = pathlib.Path(folder) / "untyped.py"
            program.write_text("def untyped(x):\n    return x\n")
            self.assertRegex("".join(mypy(str(program))), r"untyped\.py:1: error: .*\[no-untyped-def\]")

    def test_programs(self):
        with tempfile.TemporaryDirectory(prefix="gyre-typing-") as folder:
            program = pathlib.Path(folder) / "program.py"
            program.write_text(PROGRAM + "\n".join(MISTAKES) + "\n")
            told = [line for line in mypy(str(program)) if "error:" in line]
        first = PROGRAM.count("\n") + 1
        self.assertEqual([int(line.split(":")[1]) for line in told], list(range(first, first + len(MISTAKES))), told)
        for line, kind in zip(told, MISTAKES.values()):
            self.assertIn(f"[{kind}]", line)


if __name__ == "__main__":
    unittest.main()
