"""gyre compare: times two builds of one kernel in turns, and says whether they differ by more than one differs from itself."""

import json
import os
import shutil
import tempfile

import numpy as np
import timings
from errors import RunError, refuse
from kernel_facts import declaration_of, parameters_of
from programs import find_runner
from progress import Progress
from runner import Limits, Runner
from shapes import complete_shape

BLOCKS = 10
QUANTILE = 0.9  # of the differences between the first build and its copy
VERIFYING_SECONDS = 60


def compare(options):
    for option, path in (("OLD.so", options.old), ("NEW.so", options.new)):
        if not os.path.isfile(path):
            refuse(f"{option} {path}", "no such file", "a library that cmake/go kernel made")
    name = options.kernel
    declared = declaration_of(options.build, name)["shape"]
    shapes = [complete_shape(given, declared, parameters_of(options.build, name)) for given in options.shape or [{}]]
    runner = Runner(find_runner(options), name, options.threads, Limits(options.limit_seconds, options.limit_memory))
    progress = Progress()
    with tempfile.TemporaryDirectory(prefix="gyre-compare-") as folder:
        again = os.path.join(folder, "again.so")  # another file: loading one twice would load it once
        shutil.copyfile(options.old, again)
        libraries = {"old": options.old, "again": again, "new": options.new}
        if not options.no_verify:
            for role in ("old", "new"):
                progress.show(f"verifying {libraries[role]}")
                said(libraries[role], runner.run({role: libraries[role]}, "--verify", role, seconds=VERIFYING_SECONDS))
        progress.show(f"timing for {options.seconds * len(shapes):.0f} s")
        words = ["--seconds", options.seconds, "--fewest-rounds", 3 * BLOCKS, "--most-rounds", 100000]
        words += [word for shape in shapes for word in ("--shape", shape)]
        sessions = said(options.new, runner.run(libraries, *words, seconds=10 * options.seconds * len(shapes))).timed
    result = {"kernel": name, "threads": options.threads, **compared(sessions)}
    if options.json:
        result["shapes"] = [{"shape": timed["shape"], **compared([timed])} for timed in sessions]
        progress.line(json.dumps(result, indent=2))
    else:
        progress.line("\n".join(text_of(result, options, sessions)))


def said(path, report):
    if report.outcome != "done":
        raise RunError(f"{path}: {report.outcome}: {report.text}")
    return report


def compared(sessions):
    """Times in microseconds, new / old, and the noise: how far the copy of old is from it in nine of ten stretches."""
    ratios = timings.block_ratios(sessions, "new", "old", BLOCKS)
    alike = timings.block_ratios(sessions, "again", "old", BLOCKS)
    ratio, noise = float(np.median(ratios)), float(np.exp(np.quantile(np.abs(np.log(alike)), QUANTILE)) - 1)
    return {
        "old_us": timings.microseconds(sessions, "old", 50),
        "new_us": timings.microseconds(sessions, "new", 50),
        "ratio": ratio,
        "old_to_old": float(np.median(alike)),
        "noise": noise,
        "verdict": verdict(ratio, noise, ratios),
    }


def verdict(ratio, noise, ratios):
    """By the rule that gyre tune stores knobs by: beyond the noise, and in nine of ten stretches."""
    if ratio < 1 - noise and np.quantile(ratios, QUANTILE) < 1:
        return "faster"
    if ratio > 1 + noise and np.quantile(ratios, 1 - QUANTILE) > 1:
        return "slower"
    return "alike"


MEANINGS = {
    "faster": "NEW is faster by more than the noise",
    "slower": "NEW is slower by more than the noise",
    "alike": "no difference beyond the noise",
}


def text_of(result, options, sessions):
    threads = options.threads
    lines = [f"{result['kernel']} on {threads} thread{'s' if threads > 1 else ''}"]
    for timed in sessions:
        each = compared([timed])
        lines.append(
            f"{timed['shape']}   OLD {each['old_us']:.1f} us, NEW {each['new_us']:.1f} us   "
            f"NEW / OLD {each['ratio']:.4f}   OLD / OLD {each['old_to_old']:.4f}"
        )
    lines.append(
        f"NEW / OLD {result['ratio']:.4f}, noise {100 * result['noise']:.2f} % (OLD against a copy of itself, in the same rounds): "
        f"{MEANINGS[result['verdict']]}"
    )
    return lines
