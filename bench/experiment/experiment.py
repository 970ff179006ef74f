#!/usr/bin/env python3
"""Runs the experiment of README.md: every task, encoding and seed, one after the other; then draws the curves.

    python3 experiment.py build/bin/gyre_experiment [--out results] [--tasks dist sub …] [--seeds 3] [--all-encodings]

A run that has ended is not run again, one that was interrupted goes on: the same command, as often as needed.
"""

import argparse
import csv
import os
import subprocess
import sys

MAIN = ["rope", "roper"]
OTHERS = ["values", "alibi", "t5", "sin", "learned", "none"]
TASKS = ["dist", "nback", "sub", "add"]


def last_row(path):
    """The last row of a curve as strings, None without one."""
    try:
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
    except FileNotFoundError:
        return None
    return rows[-1] if rows else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--out", default="results")
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--seeds", type=int, default=3, help="of rope and roper")
    parser.add_argument("--all-encodings", action="store_true", help="also the others, one seed each")
    parser.add_argument("--no-plots", action="store_true")
    options = parser.parse_args()

    runs = [(t, e, s) for t in options.tasks for s in range(options.seeds) for e in MAIN]
    if options.all_encodings:
        runs += [(t, e, 0) for t in options.tasks for e in OTHERS]
    for number, (task, encoding, seed) in enumerate(runs, 1):
        print(f"[{number}/{len(runs)}] {task} {encoding} seed {seed}", flush=True)
        command = [options.program, "--task", task, "--encoding", encoding, "--seed", str(seed), "--out", options.out]
        status = subprocess.run(command).returncode  # ended runs say so at once
        if status:
            sys.exit(status)

    print(f"{'task':6} {'encoding':9} {'seed':4} {'exact match':>11} {'longer':>7} {'ms a step':>9}")
    for task, encoding, seed in sorted(runs):
        row = last_row(os.path.join(options.out, f"{task}-{encoding}-{seed}.csv"))
        step_time = 1e3 * float(row["seconds"]) / int(row["step"])
        exact, longer = float(row["exact_match"]), float(row["longer_exact_match"])
        print(f"{task:6} {encoding:9} {seed:4} {exact:11.4f} {longer:7.4f} {step_time:9.1f}")
    if not options.no_plots:
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "curves.py")
        sys.exit(subprocess.run([sys.executable, script, options.out]).returncode)


if __name__ == "__main__":
    main()
