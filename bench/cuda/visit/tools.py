"""Stages: NVIDIA's sanitizer on a small call of every family, and its profiler on six."""

import concurrent.futures
import csv
import io
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 150  # of one command
GRADIENTS = "backward on devices*the same bits every time,backward on devices*rows that are not aligned"
METRICS = {
    "gpu__time_duration.sum": "ns", "sm__throughput.avg.pct_of_peak_sustained_elapsed": "sm %",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "dram %", "sm__warps_active.avg.pct_of_peak_sustained_active": "warps %",
    "smsp__inst_executed.sum": "instructions", "launch__registers_per_thread": "registers",
    "sm__inst_executed_pipe_tensor.sum": "tensor instructions",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": "bank conflicts"}


def find(name):
    found = shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")
    if not found:
        raise FileNotFoundError(f"there is no {name}")
    return found


def small_calls(options, *words):
    """The command that makes a small call of each family."""
    return [sys.executable, HERE, options.archive, "--stage", "accuracy", "--keys", "130", "--head-dims", "64", "128",
            "--library", options.library, "--out", os.devnull, *words]


def sanitized(tool, name, command):
    checked = [find("compute-sanitizer"), "--tool", tool, "--target-processes", "all", *command]
    try:
        done = subprocess.run(checked, env={**os.environ, "GYRE_TEST_ONLY_DEVICES": "1"}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        return {"tool": tool, "calls": name, "ok": False, "error": f"no end after {SECONDS} s: {(late.stdout or b'')[-1000:]}"}
    counts = re.findall(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard", done.stdout)
    total = sum(int(errors or hazards) for errors, hazards in counts)
    result = {"tool": tool, "calls": name, "ok": bool(counts) and total == 0, "summaries": len(counts), "findings": total}
    return result if result["ok"] else {**result, "error": done.stdout[:4000] + done.stdout[-2000:]}


def sanitize(tool, options, say):
    commands = {"forward": small_calls(options), "gradients": [options.tests, f"--test-case={GRADIENTS}"]}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for result in pool.map(lambda item: sanitized(tool, *item), commands.items()):
            say(result)


def memcheck(_, options, say):
    sanitize("memcheck", options, say)


def racecheck(_, options, say):
    sanitize("racecheck", options, say)


def counters(_, options, say):
    keys = "70" if options.small else "4096"
    command = [find("ncu"), "--target-processes", "all", "--clock-control", "none", "--csv", "--page", "raw", "--metrics",
               ",".join(METRICS), *small_calls(options, "--keys", keys)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    table = done.stdout[done.stdout.find('"ID"'):]
    rows = list(csv.DictReader(io.StringIO(table)))
    seen = set()
    for row in rows:
        name = row.get("Kernel Name", "")
        if not name or name in seen or "_d" not in name:
            continue
        seen.add(name)
        say({"kernel": name, "ok": True, **{short: row.get(metric, "") for metric, short in METRICS.items()}})
    if not seen:
        say({"ok": False, "error": (done.stdout + done.stderr)[-3000:]})
