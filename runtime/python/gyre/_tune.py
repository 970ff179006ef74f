"""Studies of kernels' knobs: the program gyre tune, as a function."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ._values import choose, integer, real

SAMPLERS = {"tpe": 0, "random": 1, "grid": 2, "near": 3}
_USAGE = 2  # the program's exit code for what it was told


@dataclass(frozen=True)
class Trial:
    """Knobs that were tried. outcome: "timed", or what went wrong; time: relative to the reference's, None if it was not timed."""

    knobs: dict[str, int]
    outcome: str
    time: float | None


@dataclass(frozen=True)
class Study:
    """What was tried for one kernel, and what came of it.

    name             of the study, which the same call goes on with
    kernel, target   such as "attention_plain_f32_d64", "x86_64_avx512"
    reference        the knobs that every trial was timed beside
    best             the best knobs, None if none was timed in the end
    accepted         whether they are faster than the reference by more than the noise
    gain             1 - their time / the reference's
    noise            how far two copies of the reference were apart, as a part of their time
    verdict          that in a sentence
    """

    name: str
    kernel: str
    target: str
    reference: dict[str, int]
    best: dict[str, int] | None
    accepted: bool
    gain: float | None
    noise: float | None
    verdict: str
    trials: tuple[Trial, ...]


def _program(build: Any) -> pathlib.Path:
    script = pathlib.Path(build) / "share" / "gyre" / "tune" / "tune.py"
    if not script.is_file():
        raise ValueError(f"build: there is no {script}, expected a build of Gyre that `cmake/go tune` made")
    return script


def _words(kernel: str, build: pathlib.Path, given: Iterable[tuple[str, Any]], shapes: Sequence[str]) -> list[str]:
    if not isinstance(kernel, str) or not kernel or kernel.startswith("-"):
        raise ValueError(f"kernel: got {kernel!r}, expected its name, or the beginning of several")
    words = [kernel, "--json", "--build", str(build)]
    for option, value in given:
        if value is not None:
            words += [option, str(value)]
    for shape in [shapes] if isinstance(shapes, str) else shapes:
        words += ["--shape", str(shape)]
    return words


def _as_argument(text: str) -> str:
    """A refusal of the program's as this function says it: by the argument's name, not the option's."""
    told = re.fullmatch("(?:--)?([a-z-]+): ('.*'); expected (.*?)(; see --help)?", text)
    if told is None:
        return text
    name = {"shape": "shapes", "studies": "folder"}.get(told[1], told[1].replace("-", "_"))
    return f"{name}: got {told[2]}, expected {told[3]}"


def _run(words: Sequence[str], progress: Callable[[str], None] | None) -> str:
    """What a program printed. Errors: ValueError, RuntimeError with its last words."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        printed: list[str] = []
        reading = threading.Thread(target=lambda: printed.append(running.stdout.read()))  # type: ignore[union-attr]
        reading.start()
        told = []
        for line in running.stderr:  # type: ignore[union-attr]
            told.append(line.rstrip("\n"))
            if progress is not None:
                progress(told[-1])
        reading.join()
    if running.returncode:
        text = (told[-1] if told else f"{words[0]} failed").removeprefix("gyre tune: ")
        raise ValueError(_as_argument(text)) if running.returncode == _USAGE else RuntimeError(text)
    return printed[0]


def tune(kernel: str, *, build: Any, minutes: float | None = None, trials: int | None = None, shapes: Sequence[str] = (),
         target: str = "host", threads: int = 1, sampler: str = "tpe", seed: int = 1, trial_seconds: float = 1, final_seconds: float = 30,
         folder: Any = None, write: bool = False, progress: Callable[[str], None] | None = None) -> list[Study]:
    """Searches the knobs of kernels on this machine, as the program `gyre tune` does: bench/tune/README.md.

        (study,) = gyre.tune("attention_plain_f32_d64", build="build", minutes=5)
        print(study.verdict); gyre.plot.knobs(study).savefig("knobs.png")

    kernel    its name, the beginning of several, or a pattern with *
    build     the folder of a build of Gyre that `cmake/go tune` has made
    minutes   of each study; or trials, how many; neither: 15 minutes. A study of the same name goes on where it was
    shapes    what is timed, such as "h=8,lq=1024,causal=1", one or several; none: what the kernel's knobs were found with
    sampler   "tpe", "near", "random" or "grid"
    trial_seconds, final_seconds    of timing a candidate, and of the session that decides, for each shape
    folder    where studies are kept; None: build/tune
    write     True: knobs that are accepted are written to the tuning file, which the next build takes
    progress  is called with each line that the program tells

    Every candidate is compared with an oracle before it is timed. Needs Optuna in this Python (pip install optuna).
    Errors: ValueError (what was told), TypeError, RuntimeError (Optuna is missing, all candidates failed).
    """
    choose(sampler, "sampler", SAMPLERS)
    if minutes is not None and trials is not None:
        raise ValueError("minutes, trials: both are given, expected one of them")
    script, build = _program(build), pathlib.Path(build)
    given = (("--minutes", None if minutes is None else real(minutes, "minutes")),
             ("--trials", None if trials is None else integer(trials, "trials")), ("--target", target),
             ("--threads", integer(threads, "threads")), ("--sampler", sampler), ("--seed", integer(seed, "seed", 64)),
             ("--trial-seconds", real(trial_seconds, "trial_seconds")), ("--final-seconds", real(final_seconds, "final_seconds")),
             ("--studies", None if folder is None else os.fspath(folder)))
    words = _words(kernel, build, given, shapes)
    if importlib.util.find_spec("optuna") is None:
        raise RuntimeError(f"tune: {sys.executable} has no Optuna, expected it: pip install optuna")
    printed = _run([sys.executable, "-B", str(script), *words, *(() if write else ("--no-write",))], progress)
    return [Study(**{**study, "trials": tuple(Trial(**trial) for trial in study["trials"])}) for study in json.loads(printed)]
