"""Runs the libFuzzer programs for some minutes and says what they did: calls a second, findings, and coverage of runtime/.

    python fuzz.py build/tests/fuzz/libfuzzer --minutes 5 --work build/fuzz [--tests]

--tests runs the suite as well, and says what fuzzers, tests and both cover.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHARES = {"arguments": 4, "calls": 3, "invariances": 2, "npy": 1, "rope_json": 1}  # of the time
LONGEST_INPUT = 1024  # bytes; more than a case reads


def run(program, seconds, work):
    """One fuzzer: its statistics, and whether it found something. What it learnt stays for the next time."""
    name = program.name.removeprefix("fuzz_")
    corpus = work / "corpus" / name
    findings = work / "findings"
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    command = [program, f"-max_total_time={seconds}", f"-max_len={LONGEST_INPUT}", "-len_control=0", "-timeout=600", "-rss_limit_mb=8192",
               "-print_final_stats=1", f"-artifact_prefix={findings}/{name}-", corpus]
    kept = HERE / "corpus" / name
    if kept.is_dir():
        command.append(kept)
    log = work / f"{name}.log"
    with log.open("w", encoding="utf-8") as output:
        environment = {**os.environ, "LLVM_PROFILE_FILE": str(work / f"{name}.profraw")}
        status = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=environment, check=False).returncode
    text = log.read_text(encoding="utf-8", errors="replace")
    counts = {key: int(value) for key, value in re.findall(r"stat::(\w+):\s+(\d+)", text)}
    print(f"{name:12} {counts.get('number_of_executed_units', 0):10} inputs, {counts.get('average_exec_per_sec', 0):6} a second"
          + (f"   FOUND SOMETHING: {log}" if status else ""))
    return status == 0


def tool(name):
    """The program's name in the path. It is not asked for its version, since llvm-profdata of LLVM 14 fails then."""
    names = (name, *(f"{name}-{number}" for number in range(30, 13, -1)))
    return next((found for found in names if shutil.which(found)), None)


def run_suite(program, work):
    """The tests of the suite, for their coverage alone: `cmake/go test` tells whether they pass."""
    environment = {**os.environ, "LLVM_PROFILE_FILE": str(work / "tests.profraw"), "ASAN_OPTIONS": "detect_leaks=0"}
    with (work / "tests.log").open("w", encoding="utf-8") as output:
        subprocess.run([program], stdout=output, stderr=subprocess.STDOUT, env=environment, check=False)


def report_coverage(name, programs, profiles, work, elsewhere):
    """`elsewhere`: folders of runtime/ that programs of their own run."""
    cov, profdata = tool("llvm-cov"), tool("llvm-profdata")
    if not (cov and profdata and profiles):
        print(f"no coverage by {name}: llvm-cov, llvm-profdata or profiles are missing")
        return
    merged = work / f"{name}.profdata"
    subprocess.run([profdata, "merge", "-sparse", *profiles, "-o", merged], check=True)
    objects = [word for program in programs[1:] for word in ("-object", program)]
    command = [cov, "export", "-summary-only", programs[0], *objects, f"-instr-profile={merged}"]
    exported = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    kinds = ("regions", "functions", "lines", "branches")
    sums, rows = {kind: [0, 0] for kind in kinds}, []
    for file in exported["data"][0]["files"]:
        path = pathlib.Path(os.path.normpath(file["filename"]))
        if ROOT / "runtime" not in path.parents or path.relative_to(ROOT / "runtime").parts[0] in elsewhere:
            continue
        counts = [(file["summary"][kind]["covered"], file["summary"][kind]["count"]) for kind in kinds]
        rows.append(" ".join(f"{covered:5}/{count:<5}" for covered, count in counts) + f" {path.relative_to(ROOT)}")
        for kind, (covered, count) in zip(kinds, counts):
            sums[kind][0] += covered
            sums[kind][1] += count
    (work / f"coverage_{name}.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    total = ", ".join(f"{100 * covered / max(count, 1):.1f} % of {count} {kind}" for kind, (covered, count) in sums.items())
    print(f"coverage of runtime/ but {' and '.join(elsewhere)} by {name}: {total}; by file: {work / f'coverage_{name}.txt'}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=pathlib.Path, help="the folder of fuzz_*")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="a folder for the corpus, findings, logs and coverage")
    parser.add_argument("--tests", action="store_true", help="the coverage of the suite, too")
    arguments = parser.parse_args()
    programs = [path for path in sorted(arguments.programs.glob("fuzz_*")) if path.name.removeprefix("fuzz_") in SHARES]
    if not programs:
        sys.exit(f"fuzz.py: no fuzzers in {arguments.programs}")
    arguments.work.mkdir(parents=True, exist_ok=True)
    parts = sum(SHARES[path.name.removeprefix("fuzz_")] for path in programs)
    clean = True
    for program in programs:
        share = SHARES[program.name.removeprefix("fuzz_")] / parts
        clean = run(program, max(1, round(60 * arguments.minutes * share)), arguments.work) and clean
    profiles = [arguments.work / f"{path.name.removeprefix('fuzz_')}.profraw" for path in programs]
    profiles = [path for path in profiles if path.exists()]
    report_coverage("fuzzers", programs, profiles, arguments.work, ["cuda"])
    suite = arguments.programs / "tests_covered"
    if arguments.tests and suite.exists():
        run_suite(suite, arguments.work)
        of_tests = arguments.work / "tests.profraw"
        report_coverage("tests", [suite], [of_tests], arguments.work, ["cuda", "cli"])
        report_coverage("both", [suite, *programs], [of_tests, *profiles], arguments.work, ["cuda", "cli"])
    sys.exit(not clean)


if __name__ == "__main__":
    main()
