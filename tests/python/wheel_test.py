"""Makes the wheel of a build, installs it into an empty environment, and uses it there, away from the sources.

    python wheel_test.py SOURCE_DIRECTORY BUILD_DIRECTORY WORK_DIRECTORY PYTHON GENERATORS [MACHINE [INTERPRETER …]]

PYTHON: what makes the environment, which sees its NumPy, and PyTorch and others if it has them, by a path file: no network is needed.
GENERATORS: folders of compiled generators, for the example that makes kernels. Skipped where scikit-build-core is missing.
MACHINE: of a cross-compiled library, such as aarch64. INTERPRETER: words that run that machine's Python, which has NumPy, under an
emulator, as emulated_python.py prints them; without them the wheel is only looked into.
"""

import importlib.util
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import unittest
import zipfile

SOURCE, BUILD, WORK = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PYTHON, GENERATORS = sys.argv[4:6]
MACHINE = sys.argv[6] if len(sys.argv) > 6 else platform.machine()
EMULATED = sys.argv[7:]
CROSS = MACHINE != platform.machine()
SKIPPED = 77
LARGEST = 12_000_000  # bytes
HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "GYRE_LIBRARY")}
EXAMPLES = {"generate": ["gyre.torch", "transformers"], "score_function": ["halide"], "train_roper": ["gyre.torch"]}  # and what they need
TESTS_OF_ARRAYS = ("attention", "context", "dlpack", "mistakes", "operations")  # of this folder; they need NumPy alone
USE = """
import importlib.metadata, pathlib, sys
import numpy as np
import gyre
assert pathlib.Path(gyre.__file__).is_relative_to(PREFIX), gyre.__file__
assert gyre.__version__ == importlib.metadata.version("gyre"), gyre.__version__
q = np.random.default_rng(0).standard_normal((1, 9, 2, 64), dtype=np.float32)
s = np.einsum("bihd,bjhd->bhij", q, q) / 8
p = np.exp(s - s.max(-1, keepdims=True))
out = np.einsum("bhij,bjhd->bihd", p / p.sum(-1, keepdims=True), q)
assert abs(gyre.attention(q, q, q) - out).max() < 1e-5
assert gyre._build_tools.package().is_relative_to(PREFIX)  # what gyre.build() makes kernels from
print(gyre.info()["target"])
"""


def run(*words, **options):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if result.returncode not in (0, SKIPPED):
        raise AssertionError(f"{words}:\n{result.stdout}\n{result.stderr}")
    return result.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        run(sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "--no-index",
            "-w", WORK / "wheels", SOURCE / "runtime" / "python", "--config-settings", f"build-dir={WORK / 'build'}",
            "--config-settings", f"cmake.define.GYRE_BUILD_DIR={BUILD}",
            env={**os.environ, "_PYTHON_HOST_PLATFORM": f"linux-{MACHINE}"} if CROSS else None)
        (cls.wheel,) = (WORK / "wheels").glob("*.whl")

    def test_name_and_size(self):
        self.assertRegex(self.wheel.name, rf"^gyre-[\d.]+-py3-none-(many)?linux_.*{MACHINE}\.whl$")
        self.assertLess(self.wheel.stat().st_size, LARGEST)

    def test_contents(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            metadata = archive.read(next(n for n in names if n.endswith("METADATA"))).decode()
        package = {name for name in names if name.startswith("gyre/")}
        sources = {f"gyre/{p.relative_to(SOURCE / 'runtime/python/gyre')}" for p in (SOURCE / "runtime/python/gyre").rglob("*.py")}
        self.assertEqual({n for n in package if n.endswith(".py")}, sources)
        self.assertIn("gyre/py.typed", package)
        self.assertEqual(sum(n.startswith("gyre/libgyre.so.") for n in package), 1, package)
        self.assertIn("gyre/package/cmake/GyreAddKernels.cmake", package)
        self.assertIn("gyre/package/include/gyre/promises.md", package)
        self.assertTrue(any("LICENSE" in name for name in names))
        self.assertIn("Requires-Dist: numpy", metadata)

    @unittest.skipUnless(CROSS and EMULATED, "there is no Python of that machine: emulated_python.py makes one")
    def test_under_an_emulator(self):
        folder = WORK / "unpacked"
        with zipfile.ZipFile(self.wheel) as archive:
            archive.extractall(folder)
        print(run(*EMULATED, "-c", f"import sys; PREFIX = {str(folder)!r}; sys.path.insert(0, PREFIX)\n{USE}", cwd=WORK))
        for name in TESTS_OF_ARRAYS:
            with self.subTest(name):
                run(*EMULATED, HERE / f"{name}_test.py", cwd=WORK, env={**os.environ, "PYTHONPATH": str(folder)})

    @unittest.skipIf(CROSS, "that environment is of this machine")
    def test_in_an_empty_environment(self):
        folder = WORK / "environment"
        run(PYTHON, "-m", "venv", folder)
        python = folder / "bin" / "python"
        (packages,) = folder.glob("lib/python*/site-packages")
        run(python, "-m", "pip", "install", "--disable-pip-version-check", "--no-index", "--no-deps", self.wheel)
        numpy = run(PYTHON, "-c", "import numpy, pathlib; print(pathlib.Path(numpy.__file__).parents[1])", env=ENVIRONMENT).strip()
        (packages / "numpy.pth").write_text(f"{numpy}\n")
        print(run(python, "-I", "-c", f"import sys; PREFIX = sys.prefix\n{USE}", cwd=WORK))
        with self.subTest("the guide"):
            print(run(python, HERE / "readme_test.py", SOURCE / "runtime/python/README.md", cwd=WORK, env=ENVIRONMENT))
        for name, needed in EXAMPLES.items():
            with self.subTest(name):
                run(python, HERE / "example_test.py", SOURCE / f"tests/examples/python/{name}.py", GENERATORS, WORK / name, *needed,
                    cwd=WORK, env=ENVIRONMENT)


if __name__ == "__main__":
    if importlib.util.find_spec("scikit_build_core") is None:
        print("skipped: there is no scikit-build-core, which `cmake/go wheel` and `cmake/go test` install")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
