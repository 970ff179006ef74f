"""Stages: NVIDIA's sanitizer on a small call of every family, and its profiler on six."""

import concurrent.futures
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys

import programs

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 150  # of one command
GRADIENTS = "backward on devices*the same bits every time,backward on devices*rows that are not aligned"
SECTIONS = ("SpeedOfLight", "WarpStateStats", "SchedulerStats", "MemoryWorkloadAnalysis", "ComputeWorkloadAnalysis", "LaunchStats")
METRICS = {  # of those that the sections have, what is shown; all of them are in visit.jsonl
    "gpu__time_duration.sum": "time", "launch__grid_size": "blocks", "launch__registers_per_thread": "registers",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "sm %", "lts__t_bytes.sum.per_second": "l2",
    "dram__bytes.sum.per_second": "dram", "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue %",
    "smsp__inst_executed.sum": "instructions"}
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active\.ratio|"
                   r"smsp__average_warp(?:s|_latency)_issue_stalled_(\w+?)\.ratio")


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
    status, said = programs.run(checked, SECONDS)
    if status is None:
        return {"tool": tool, "calls": name, "ok": False, "error": said}
    counts = re.findall(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard", said)
    total = sum(int(errors or hazards) for errors, hazards in counts)
    result = {"tool": tool, "calls": name, "ok": bool(counts) and total == 0, "summaries": len(counts), "findings": total}
    return result if result["ok"] else {**result, "error": said[:4000] + said[-2000:]}


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
    command = [find("ncu"), "--target-processes", "all", "--clock-control", "none", "--csv", "--page", "raw",
               *(word for section in SECTIONS for word in ("--section", section)), sys.executable, HERE, options.archive, "--stage",
               "shapes", "--library", options.library, "--out", os.devnull]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    rows = list(csv.DictReader(io.StringIO(done.stdout[done.stdout.find('"ID"'):])))
    units = rows.pop(0) if rows else {}  # the first row
    for row in rows:
        stalls = {next(filter(None, found.groups())): float(value.replace(",", "")) for name, value in row.items()
                  if value and (found := STALL.fullmatch(name or ""))}
        most = dict(sorted(stalls.items(), key=lambda item: -item[1])[:5])
        shown = {short: f"{row[name]} {units.get(name, '')}" for name, short in METRICS.items() if row.get(name)}
        say({"kernel": row.get("Kernel Name", "")[len("gyrekernel_gyre_"):], "ok": True, **shown, "stalls": most})
        with open(options.out + ".counters", "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    if not rows:
        say({"ok": False, "error": (done.stdout + done.stderr)[-3000:]})
