"""Runs `gyre bench attention` for full calls of a few lengths, and prints their rates as shares of the multiply-adds that were timed between their runs.

    python bench/peak_shares.py [--gyre build/bin/gyre] [--threads 1] [--rounds 3]

The shapes of all targets that run here are gone through `rounds` times, and of each the best round counts. Where other programs use the processors, start it
with `chrt -f 1`, so that nothing interrupts it.
"""

import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Target and type, and the lengths and heads that are timed.
LONG = ((1024, 4), (2048, 2), (4096, 2))
TABLE = (("x86_64_amx", "bf16", LONG), ("x86_64_amx", "f16", LONG), ("x86_64_amx", "f32", LONG), ("x86_64_avx512_bf16", "bf16", LONG),
         ("x86_64_avx512", "f32", ((512, 8), *LONG)), ("x86_64_avx2", "f32", ((512, 8), *LONG)))
HEAD_DIMS = 64, 128


def runnable_targets(gyre):
    """The targets whose kernels this machine can run."""
    found = json.loads(subprocess.run([gyre, "info", "--json"], check=True, capture_output=True, text=True).stdout)
    return {target["name"] for target in found["targets"] if target["linked"] and target["runnable"]}


def rates(gyre, target, dtype, length, heads, head_dim, threads):
    """GFLOP/s of the fastest run, and of multiply-adds."""
    words = [gyre, "bench", "attention", "--shape", f"h={heads},lq={length},d={head_dim}", "--dtype", dtype, "--target", target,
             "--threads", str(threads), "--json"]
    found = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return found["gflops"] * found["median_us"] / found["min_us"], found["peak"], found["peak_name"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gyre", default=str(ROOT / "build" / "bin" / "gyre"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[""], help="targets and types, such as x86_64_avx2 or 'x86_64_amx bf16'")
    options = parser.parse_args()
    runnable = runnable_targets(options.gyre)
    cases = [(target, dtype, length, heads, head_dim) for target, dtype, lengths in TABLE if target in runnable for head_dim in HEAD_DIMS
             for length, heads in lengths if any(part in f"{target} {dtype}" for part in options.only)]
    found = {case: [] for case in cases}
    for _ in range(options.rounds):
        for case in cases:
            found[case].append(rates(options.gyre, *case, options.threads))
    print("| target | type | head size | length, heads | GFLOP/s | multiply-adds, GFLOP/s | share |\n|---|---|---|---|---|---|---|")
    for (target, dtype, length, heads, head_dim), each in found.items():
        rate, peak = max(rate for rate, _, _ in each), max(peak for _, peak, _ in each)
        print(f"| {target} | {dtype} | {head_dim} | {length}, {heads} | {rate:.0f} | {peak:.0f} ({each[0][2]}) | {100 * rate / peak:.0f} % |")


if __name__ == "__main__":
    main()
