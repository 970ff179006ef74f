"""One visit to a machine with a CUDA device: everything that can be learnt there, in stages that fail alone.

    python3 bench/cuda/visit ARCHIVE [--out FOLDER] [--stages NAME…] [--limit SECONDS] [--small]

ARCHIVE is the folder that `cmake/go visit-archive` packs: the library, its tests, images and variants; nothing else is needed
but Python with NumPy. Each stage is a process with a limit of its own; what it finds goes line by line to FOLDER/visit.jsonl,
so that nothing is lost where it ends early. A table of at most 12,000 characters is printed at the end. PyTorch, compute-sanitizer
and ncu are used where they are. The exit status is 0 if every stage came to its end without a finding.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "..", "runtime", "python", "gyre")]  # an archive has _structures.py here

import summary  # noqa: E402  # pylint: disable=wrong-import-position

# name: (module, function, needs the driver)
STAGES = {
    "machine": ("machine", "run", True), "images": ("images", "run", True), "oracle": ("oracle", "run", False),
    "accuracy": ("accuracy", "run", True), "timings": ("timings", "run", True), "gradients": ("gradients", "run", True),
    "variants": ("variants", "run", True), "triton": ("triton_kernels", "run", True), "shapes": ("shapes", "run", True),
    "memcheck": ("tools", "memcheck", False), "racecheck": ("tools", "racecheck", False), "counters": ("tools", "counters", False)}
FOR_A_PROFILER = "shapes"  # a stage that counters begins
FEW_THREADS = {"OPENBLAS_NUM_THREADS": "2"}  # of each process: several run at once


def parse():
    parser = argparse.ArgumentParser(prog="visit", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", help="the unpacked folder")
    parser.add_argument("--out", default="visit", help="folder for visit.jsonl and visit.log")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=[name for name in STAGES if name != FOR_A_PROFILER])
    parser.add_argument("--limit", type=int, default=600, help="seconds that a stage may take")
    parser.add_argument("--small", action="store_true", help="sizes for the emulated device")
    parser.add_argument("--keys", type=int, nargs="+", help="of the stage accuracy")
    parser.add_argument("--head-dims", type=int, nargs="+")
    parser.add_argument("--library", help="default: the archive's")
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.archive = os.path.abspath(options.archive)
    options.library = options.library or os.path.join(options.archive, "libgyre.so")
    options.tests = os.path.join(options.archive, "gyre_tests_device")
    options.images = os.path.join(options.archive, "images")
    options.variants = os.path.join(options.archive, "variants")
    options.keys = options.keys or ([130] if options.small else [1000, 4096, 16384, 65536])
    options.head_dims = options.head_dims or ([64] if options.small else [64, 96, 128, 256])
    options.files = 1 if options.small else None
    return options


def run_stage(options):
    module, function, needs_driver = STAGES[options.stage]
    failed = False

    def say(result):
        nonlocal failed
        failed = failed or not result["ok"]
        with open(options.out, "a", encoding="utf-8") as file:
            file.write(json.dumps({"stage": options.stage, **result}) + "\n")

    try:
        driver = importlib.import_module("driver").Driver() if needs_driver else None
        getattr(importlib.import_module(module), function)(driver, options, say)
    except Exception as error:  # pylint: disable=broad-exception-caught  # whatever it is, the other stages go on
        say({"ok": False, "error": f"{type(error).__name__}: {error}"})
        raise
    return 1 if failed else 0


def commands(stage, results, options):
    """The processes of a stage: accuracy has one for each length and head size, whose references are formed by several processors."""
    command = [sys.executable, HERE, options.archive, "--stage", stage, "--out", results, "--library", options.library,
               *(["--small"] if options.small else [])]
    if stage != "accuracy":
        return [[*command, "--keys", *map(str, options.keys), "--head-dims", *map(str, options.head_dims)]]
    return [[*command, "--keys", str(keys), "--head-dims", str(dim)] for keys in options.keys for dim in options.head_dims]


def ended(stage, results, log, options):
    """Runs a stage. Returns the worst exit status of its processes, or that one did not end."""
    deadline = time.monotonic() + options.limit
    statuses = []
    with open(log, "a", encoding="utf-8") as file:
        processes = [subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, **FEW_THREADS})
                     for command in commands(stage, results, options)]
        for process in processes:
            try:
                statuses.append(process.wait(max(deadline - time.monotonic(), 0)))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                statuses.append("no end")
    return next((status for status in statuses if status), 0)


def visit(options):
    os.makedirs(options.out, exist_ok=True)
    results, log = (os.path.join(options.out, name) for name in ("visit.jsonl", "visit.log"))
    open(results, "w", encoding="utf-8").close()
    worst = 0
    for stage in options.stages:
        begin = time.monotonic()
        status = ended(stage, results, log, options)
        with open(results, "a", encoding="utf-8") as file:
            file.write(json.dumps({"stage": stage, "ended": status, "seconds": round(time.monotonic() - begin, 1)}) + "\n")
        print(f"{stage}: {'ended' if status == 0 else status} after {time.monotonic() - begin:.0f} s", flush=True)
        worst = worst or int(status != 0)
    print(summary.table(results))
    return worst


if __name__ == "__main__":
    chosen = parse()
    sys.exit(run_stage(chosen) if chosen.stage else visit(chosen))
