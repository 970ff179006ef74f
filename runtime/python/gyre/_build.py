"""Kernels of one's own from Python: gyre_add_kernels() of the CMake package, its results kept for the next program."""

import ctypes
import hashlib
import os
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from . import _build_tools, _library
from ._context import Context

_loaded: dict[pathlib.Path, ctypes.CDLL] = {}  # never unloaded: their kernels stay registered


def _words(given: Any, name: str) -> list[str]:
    """A keyword's values. Errors: TypeError, ValueError (what CMake would read as something else)."""
    values = list(given) if isinstance(given, (list, tuple, set, frozenset)) else [given]
    words = [str(value) for value in values if isinstance(value, (str, int)) and not isinstance(value, bool)]
    if len(words) != len(values):
        raise TypeError(f"{name}: got {given!r}, expected a word or a number, or several")
    for word in words:
        if not re.fullmatch(r"-?[A-Za-z0-9_]+", word):  # what a negative number is refused for, CMake says
            raise ValueError(f"{name}: got {word!r}, expected letters, digits and _")
    return words


def _score_files(score: Any) -> dict[str, str]:
    """Sources of score functions by name. Errors: TypeError, ValueError, OSError."""
    if score is None:
        return {}
    if isinstance(score, Mapping):
        return {_words(name, "score")[0]: str(source) for name, source in score.items()}
    paths = [score] if isinstance(score, (str, os.PathLike)) else score
    files = [pathlib.Path(path) for path in paths]
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"score: got {str(file)!r}, which is no file, expected a header that defines score(), or {{name: source}}")
    return {file.stem: file.read_text() for file in files}


def _project(name: str, keywords: Mapping[str, Sequence[str]], package: pathlib.Path) -> str:
    told = " ".join(f"{keyword} {' '.join(words)}" for keyword, words in keywords.items() if words)
    return f"""cmake_minimum_required(VERSION 3.28)
project({name}_project LANGUAGES C CXX)
include("{package}/cmake/GyreAddKernels.cmake")
gyre_add_kernels({name} {told})
file(WRITE "${{CMAKE_CURRENT_BINARY_DIR}}/nothing.c" "")
add_library({name}_shared SHARED "${{CMAKE_CURRENT_BINARY_DIR}}/nothing.c")
target_link_options({name}_shared PRIVATE LINKER:--no-as-needed) # only what comes after it needs the library
target_link_libraries({name}_shared PRIVATE {name} "{_library.path.resolve()}")
set_target_properties({name}_shared PROPERTIES OUTPUT_NAME {name} LINKER_LANGUAGE C)
"""


def _run(words: Sequence[str], environment: Mapping[str, str], folder: str) -> None:
    """Errors: ValueError with CMake's own text, or that of a score function in `folder`; RuntimeError with the end of what a command printed."""
    done = subprocess.run(words, capture_output=True, text=True, env=dict(environment))
    if done.returncode == 0:
        return
    text = done.stdout + done.stderr
    stopped = re.search(r"CMake Error.*?:\n\s*(gyre_add_kernels.*?)\n\s*Call Stack", text, re.S)
    if stopped:
        raise ValueError(" ".join(stopped[1].split()))
    _build_tools.raise_failure(words[0], text, folder)


def _make(name: str, project: str, scores: Mapping[str, str], file: pathlib.Path, defines: Mapping[str, str]) -> None:
    """Makes the shared library `file`. Another program that makes it as well does no harm."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        source = pathlib.Path(folder)
        (source / "CMakeLists.txt").write_text(project)
        for score, text in scores.items():
            (source / f"{score}.h").write_text(text)
        environment = _build_tools.environment()
        for score in scores:
            _build_tools.check_score(score, folder, _build_tools.package(), environment)
        _run([*_build_tools.configure_command(environment), "-S", folder, "-B", f"{folder}/build", "-DCMAKE_BUILD_TYPE=Release",
              *(f"-D{key}={value}" for key, value in defines.items())], environment, folder)
        _run([_build_tools.program("cmake", environment), "--build", f"{folder}/build", "--target", f"{name}_shared", "--parallel",
              str(len(os.sched_getaffinity(0)))], environment, folder)
        os.replace(f"{folder}/build/lib{name}.so", file)


def build(ops: Any = "attention", *, head_dims: Any = (), dtypes: Any = "f32", features: Any = (), target: Any = "host", score: Any = None,
          name: str | None = None, folder: Any = None, defines: Mapping[str, str] | None = None, threads: int = 0) -> Context:
    """Makes kernels of one's own, loads them, and returns a context that takes its kernels from them alone.

        context = gyre.build(head_dims=72, dtypes=["f32", "bf16"], features="causal")
        context = gyre.build(head_dims=64, score="near_first.h")           # then attention(…, score="near_first", context=context)

    ops        "rotary", "attention", "backward", "linear", one or several
    head_dims  of attention, 1 to 512
    dtypes     "f32", "f16", "bf16"
    features   what calls will use, such as "causal", "roper", "bias"; none: everything
    target     "host", or names such as "x86_64_avx2"
    score      a file that defines a score function by gyre/attention/score.h, or several, or {name: source}
    name       of the library; None: one that follows from what it is made of. Two in one process have different names
    folder     where libraries are kept; None: $XDG_CACHE_HOME/gyre, or ~/.cache/gyre
    defines    CMake's options, such as {"GYRE_GENERATORS": a folder of compiled generators}
    threads    of the context

    A library that was made before from the same sources is loaded as it is. Calls without a context, and those of gyre.torch, find its
    kernels, too, before this package's of the same target. Making one takes a minute for the generator, once more for each score
    function, and about a second a kernel; it needs a C++ compiler, and cmake and halide of `pip install gyre[build]`.

    Errors: ValueError (with CMake's text, or the compiler's of a score function), TypeError, ImportError (no cmake, halide or sources), OSError, RuntimeError.
    """
    scores = _score_files(score)
    keywords = {"OPS": _words(ops, "ops"), "DTYPES": _words(dtypes, "dtypes"), "HEAD_DIMS": _words(head_dims, "head_dims"),
                "FEATURES": _words(features, "features"), "TARGETS": _words(target, "target"), "SCORE": [f"{each}.h" for each in scores]}
    package = _build_tools.package()
    (given,) = _words("python_kernels" if name is None else name, "name")
    made_of = (_project(given, keywords, package), sorted(scores.items()), _build_tools.fingerprint(package))
    key = hashlib.sha256(repr(made_of).encode()).hexdigest()[:24]
    name = f"{given}_{key[:8]}" if name is None else given
    file = _build_tools.cache(folder) / key / f"lib{name}.so"
    if file not in _loaded:
        if any(other.name == file.name for other in _loaded):
            raise ValueError(f"name: {name} is the name of other kernels in this process, expected another one")
        if not file.exists():
            _make(name, _project(name, keywords, package), scores, file, defines or {})
        _loaded[file] = ctypes.CDLL(str(file))
    return Context(threads=threads, library=name)
