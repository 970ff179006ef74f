"""Calls of gyre_add_kernels() that are nearly right: each makes kernels of everything that it asks for, or stops with a sentence that
begins with its name.

    python add_kernels_test.py CMAKE GENERATOR PYTHON [--seeds 30] [--from 1]
"""

import argparse
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROJECT = ROOT / "tests" / "on_demand" / "mistakes"

GOOD = {
    "OPS": ["rotary", "attention", "backward", "linear"],
    "DTYPES": ["f32", "f16", "bf16"],
    "HEAD_DIMS": ["64", "128", "72", "1", "512", "80"],
    "FEATURES": ["half", "interleaved", "causal", "window", "gqa", "packed", "lse", "rope", "roper", "decode", "bias", "mask", "softcap",
                 "alibi", "sinks", "dropout"],
    "TARGETS": ["host", "all", "x86_64_generic", "x86_64_avx2", "x86_64_avx512", "x86_64_amx", "cuda"],
}
ODD = ["", "0", "-1", "064", "513", "1e2", "64.5", "F32", "float32", "ALL", "all", "none", "rotary;attention", "d64", "dmax64", "x86_64", "cortex_m55",
       "arm_64_neon", "é", "a b", "OFF", "NOTFOUND", "x-NOTFOUND", "$ENV{HOME}", "*", "[64]", "(", "%", "'", ".", "/", "../..", "OPS", "HEAD_DIM", "TARGETS", "-D", "--", "TRUE",
       "18446744073709551616", "0x40", "+64", " 64", "attention ", "COMMAND", "INTERFACE", "k"]
NAMES = ["kernels_2", "K", "gyre", "my-kernels", "1k", "_", "taken", "taken_archive", "gyre_runtime", "all", "test", "help", "install", "k.o",
         "é", "", "OPS", "Halide::Halide", "a" * 80]

REST = {"x86_64_amx": ("x86_64_avx512_bf16", "x86_64_avx512"), "x86_64_avx512_bf16": ("x86_64_avx512",)}  # whose kernels serve, too


def words_of_seed(seed):
    """The words of a call: a right one, with a few things replaced, added or left out."""
    draw = random.Random(seed)
    lists = {"OPS": draw.sample(GOOD["OPS"], draw.randint(1, 2)), "HEAD_DIMS": draw.sample(GOOD["HEAD_DIMS"], draw.randint(1, 2))}
    for name in ("DTYPES", "FEATURES", "TARGETS"):
        if draw.random() < 0.6:
            lists[name] = draw.sample(GOOD[name], draw.randint(1, 2))
    name = "k" if draw.random() < 0.8 else draw.choice(NAMES)
    words = [name]
    for key in draw.sample(sorted(lists), len(lists)):
        words += [key, *lists[key]]
    for kind in ("TUNING", "SCORE"):
        if draw.random() < 0.08:
            words += [kind, draw.choice(["nowhere.json", ".", "CMakeLists.txt", "/", ""])]
    for _ in range(draw.choice([0, 0, 0, 1, 1, 2])):
        at = draw.randrange(1, len(words))
        edit = draw.randrange(3)
        if edit == 0:
            words[at] = draw.choice(ODD)
        elif edit == 1:
            words.insert(at, draw.choice(ODD))
        elif len(words) > 2:
            del words[at]
    return words


def wanted(words):
    """What a call that is accepted has asked for: by keyword."""
    lists, key = {}, None
    for word in " ".join(words[1:]).replace(";", " ").split():
        if word in (*GOOD, "TUNING", "SCORE"):
            key = word
            lists.setdefault(key, [])
        elif key:
            lists[key].append(word)
    return lists


def complaint(words, returncode, output):
    """What is wrong with how a call was taken; None: nothing."""
    said = " ".join(output.split())
    errors = re.findall(r"CMake Error.*?(?=CMake Error|Call Stack|-- Configuring|$)", said)
    if returncode != 0:
        ours = [e for e in errors if re.match(r"CMake Error at \S+:\d+ \(message\): (gyre_add_kernels\(|gyre: |gyre needs)", e)]
        return None if errors and len(ours) == len(errors) else said
    if errors or "CMake Warning (dev)" in said:
        return said
    rows = dict(re.findall(r"-- made for (\w+): (\S*)", said))
    made = [row for line in rows.values() for row in line.split(",") if row]
    lists = wanted(words)
    for op in lists.get("OPS", []):
        if not any(row.startswith(op + "_") for row in made):
            return f"no kernel of {op}: {rows}"
        for dtype in lists.get("DTYPES", ["f32"]):
            if op in ("rotary", "attention") and not any(re.match(rf"{op}_(.*_)?{dtype}_", row) for row in made):
                return f"no kernel of {op} in {dtype}: {rows}"
        for size in lists.get("HEAD_DIMS", []):
            sizes = [(m[1], int(m[2])) for row in made if (m := re.match(r"attention_.*_(d|dmax)(\d+)$", row))]
            if op == "attention" and not any(n == int(size) if kind == "d" else n >= int(size) for kind, n in sizes):
                return f"no kernel of attention of head size {size}: {rows}"
    for target in lists.get("TARGETS", []):
        for op in lists.get("OPS", []):
            served = any(row.startswith(op + "_") for t in (target, *REST.get(target, ())) for row in rows.get(t, "").split(","))
            if target not in ("all", "host") and not served and f"{target} has no kernels of {op}" not in said:
                return f"nothing of {op} for {target}, and nothing said: {rows}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cmake")
    parser.add_argument("generator")
    parser.add_argument("python", help="the one with Halide")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--from", type=int, default=1, dest="first")
    arguments = parser.parse_args()
    findings = accepted = 0
    with tempfile.TemporaryDirectory(prefix="gyre-add-kernels-") as folder:
        for seed in range(arguments.first, arguments.first + arguments.seeds):
            words = words_of_seed(seed)
            result = subprocess.run([arguments.cmake, "-S", PROJECT, "-B", folder, "-G", arguments.generator, f"-DGYRE_SOURCE={ROOT}",
                                     f"-DPython3_EXECUTABLE={arguments.python}", "-DSAY_MADE=ON", f"-DWORDS={' '.join(words)}"],
                                    capture_output=True, text=True, check=False)
            accepted += result.returncode == 0
            wrong = complaint(words, result.returncode, result.stdout + result.stderr)
            if wrong:
                findings += 1
                print(f"seed {seed}: gyre_add_kernels({' '.join(words)})\n    {wrong[:1500]}\n")
                if "CMakeCache" in wrong:
                    shutil.rmtree(folder, ignore_errors=True)
    print(f"{arguments.seeds} calls, {accepted} accepted, {findings} finding(s)")
    sys.exit(findings != 0)


if __name__ == "__main__":
    main()
