"""Registers, stack and spills of every CUDA kernel that is linked, by ptxas, against budgets.json.

    python budgets_test.py NVCC DEVICE_HEADER_DIRECTORY KERNEL.cu…

A kernel without a budget fails, and so does a budget without a kernel: neither can be forgotten.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

ARCH = "sm_80"


def usage(nvcc, header, source):
    """Function: registers, bytes of stack and of spills."""
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, "-std=c++17", "-O3", "-cubin", f"-arch={ARCH}", "-Xptxas", "-v", "-diag-suppress", "177",
                   f"-I{header}", source, "-o", os.path.join(folder, "kernel.cubin")]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    found = {}
    for part in told.split("Compiling entry function")[1:]:
        name = re.search(r"'(\w+)'", part)[1]
        stack, stores, loads = map(int, re.search(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", part).groups())
        found[name] = {"registers": int(re.search(r"Used (\d+) registers", part)[1]), "stack": stack,
                       "spills": stores + loads}
    return found


def main():
    nvcc, header, *sources = sys.argv[1:]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "budgets.json"), encoding="utf-8") as file:
        budgets = json.load(file)
    wrong, seen = [], set()
    for source in sources:
        for function, used in sorted(usage(nvcc, header, source).items()):
            name = re.sub(r"^gyrekernel_gyre_", "", function)
            print(f"{name:48} {used}")
            seen.add(name)
            if name not in budgets:
                wrong.append(f"{name}: has no budget")
                continue
            wrong += [f"{name}: {used[what]} {what}, over its budget of {most}"
                      for what, most in budgets[name].items() if used[what] > most]
    wrong += [f"{name}: there is no such function" for name in sorted(set(budgets) - seen)]
    print("\n".join(wrong) or f"{len(seen)} functions within their budgets")
    sys.exit(1 if wrong or not seen else 0)


if __name__ == "__main__":
    main()
