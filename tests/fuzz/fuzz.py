"""Runs the libFuzzer programs for some minutes and says what they did: calls a second, findings, and coverage of runtime/.

    python fuzz.py build/tests/fuzz/libfuzzer --minutes 5 --work build/fuzz
"""

import argparse
import os
import pathlib
import re
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
    """Of the clang that built the programs, or of the path."""
    for version in ("", *(f"-{number}" for number in range(30, 13, -1))):
        try:
            subprocess.run([name + version, "--version"], capture_output=True, check=True)
            return name + version
        except (OSError, subprocess.CalledProcessError):
            continue
    return None


def report_coverage(programs, work):
    cov, profdata = tool("llvm-cov"), tool("llvm-profdata")
    raw = sorted(work.glob("*.profraw"))
    if not (cov and profdata and raw):
        print("no coverage: llvm-cov, llvm-profdata or profiles are missing")
        return
    merged = work / "merged.profdata"
    subprocess.run([profdata, "merge", "-sparse", *raw, "-o", merged], check=True)
    objects = [word for program in programs[1:] for word in ("-object", program)]
    report = subprocess.run([cov, "report", programs[0], *objects, f"-instr-profile={merged}", ROOT / "runtime"],
                            capture_output=True, text=True, check=True).stdout
    (work / "coverage.txt").write_text(report, encoding="utf-8")
    print("coverage of runtime/ (regions, functions, lines, branches):", re.sub(r"\s+", " ", report.splitlines()[-1]))
    print(f"by file: {work / 'coverage.txt'}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=pathlib.Path, help="the folder of fuzz_*")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="a folder for the corpus, findings, logs and coverage")
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
    report_coverage(programs, arguments.work)
    sys.exit(not clean)


if __name__ == "__main__":
    main()
