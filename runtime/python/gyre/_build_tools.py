"""What makes kernels: the CMake package, and programs of this Python's environment or the PATH."""

import functools
import hashlib
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from . import _info, _library

_FOLDERS = ("cmake", "generators", "include")
_OLDEST_CMAKE = (3, 28)


def package() -> pathlib.Path:
    """The folder with cmake/, generators/ and include/: this package's own, or the clone that it lies in. Errors: ImportError."""
    here = pathlib.Path(__file__).parent
    for folder in (here / "package", *here.parents[2:3]):
        if all((folder / name).is_dir() for name in _FOLDERS):
            return folder
    raise ImportError(f"gyre.build: there are no sources of kernels in {here / 'package'}: this package was built without them")


@functools.lru_cache(maxsize=4)
def fingerprint(folder: pathlib.Path) -> str:
    """Returns a checksum of all that a kernel is made from beside its own words: sources, this library and processor."""
    total = hashlib.sha256(repr((str(_library.path.resolve()), _library.path.stat().st_mtime_ns, _info.info()["features"])).encode())
    for name in _FOLDERS:
        for file in sorted(path for path in (folder / name).rglob("*") if path.is_file() and "__pycache__" not in path.parts):
            total.update(str(file.relative_to(folder)).encode())
            total.update(file.read_bytes())
    return total.hexdigest()


def cache(folder: Any) -> pathlib.Path:
    """Where libraries of kernels are kept."""
    if folder is not None:
        return pathlib.Path(folder).absolute()
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home) / "gyre"


def environment() -> dict[str, str]:
    """This process's, with the programs of this Python's environment before others'. Errors: ImportError (no Halide)."""
    halide = importlib.util.find_spec("halide")
    if halide is None or halide.origin is None:  # a folder of that name is no package
        raise ImportError("gyre.build: there is no halide, which makes kernels: pip install 'gyre[build]'")
    words = dict(os.environ)
    words["PATH"] = os.pathsep.join([str(pathlib.Path(sys.executable).parent), words.get("PATH", os.defpath)])
    return words


def program(name: str, words: Mapping[str, str]) -> str:
    """Errors: ImportError."""
    found = shutil.which(name, path=words["PATH"])
    if found is None:
        raise ImportError(f"gyre.build: there is no {name} on the PATH: pip install 'gyre[build]'")
    return found


def _score_mistake(text: str, folder: str) -> str | None:
    """What a compiler or a generator says of a score function, without the folder that its file lies in."""
    said = re.search(r"^(?:.*Error: )?" + re.escape(folder) + r"/(\w+\.h:(?:\d+:\d+: (?:fatal )?error: .*(?:\n {4,}.*)*| score\(\) .*))", text, re.M)
    return said[1].rstrip() if said else None


def check_score(name: str, folder: str, package: pathlib.Path, words: Mapping[str, str]) -> None:
    """Compiles a score function alone, which takes seconds where kernels take a minute. Errors: ValueError with the compiler's text."""
    compiler = shutil.which((words.get("CXX") or "c++").split()[0], path=words["PATH"])
    halide = importlib.util.find_spec("halide")
    if compiler is None or halide is None or halide.origin is None:  # CMake says so
        return
    include = pathlib.Path(halide.origin).parent / "include"
    done = subprocess.run([compiler, "-std=c++17", "-fsyntax-only", "-Werror=return-type", "-I", str(package / "generators"), "-isystem", str(include),
                           "-x", "c++", "-include", f"{folder}/{name}.h", os.devnull], capture_output=True, text=True, env=dict(words))
    mistake = _score_mistake(done.stderr, folder) if done.returncode else None
    if mistake:
        raise ValueError(f"score: {mistake}")


def raise_failure(command: str, text: str, folder: str) -> None:
    """Errors: ValueError with what was said of a score function, or RuntimeError with the end of what the command printed."""
    mistake = _score_mistake(text, folder)
    if mistake:
        raise ValueError(f"score: {mistake}")
    raise RuntimeError(f"{command} failed:\n{text[-4000:]}")


def _check_version(cmake: str) -> None:
    """Errors: ImportError."""
    told = re.search(r"version (\d+)\.(\d+)\S*", subprocess.run([cmake, "--version"], capture_output=True, text=True).stdout)
    if told is None or (int(told[1]), int(told[2])) < _OLDEST_CMAKE:
        what = told[0] if told else "no CMake"
        raise ImportError(f"gyre.build: {cmake} is {what}, expected {'.'.join(map(str, _OLDEST_CMAKE))} or later: pip install 'gyre[build]'")


def configure_command(words: Mapping[str, str]) -> list[str]:
    """CMake with Ninja where there is one, and with this Python, whose Halide it takes. Errors: ImportError."""
    cmake = program("cmake", words)
    _check_version(cmake)
    generator = ["-G", "Ninja"] if shutil.which("ninja", path=words["PATH"]) else []
    return [cmake, *generator, f"-DPython3_EXECUTABLE={sys.executable}"]
