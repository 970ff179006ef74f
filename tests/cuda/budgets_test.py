"""Registers, stack and spills of every CUDA kernel that is linked, by ptxas, against budgets.json; and, where nvdisasm is
found, the instructions of the main loop. Its products (HMMA) and loads of tiles (LDSM) must be as many as that says, all the
rest at most.

    python budgets_test.py NVCC DEVICE_HEADER_DIRECTORY KERNEL.cu…

A kernel without a budget fails, and so does a budget without a kernel of the same head size and type: neither can be forgotten.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ARCH = "sm_80"
EXACT = ("HMMA", "LDSM")


def find_disassembler(nvcc):
    """Beside nvcc, or what requirements-test.txt installs; None: there is none."""
    try:
        from nvidia import cu13  # pylint: disable=import-outside-toplevel
        installed = [os.path.join(folder, "bin", "nvdisasm") for folder in cu13.__path__]
    except ImportError:
        installed = []
    for program in [os.path.join(os.path.dirname(nvcc), "nvdisasm"), *installed]:
        if os.access(program, os.X_OK):
            return program
    return shutil.which("nvdisasm")


def main_loop(disassembler, cubin):
    """Of the smallest loop with products: instructions in all, products and loads of tiles."""
    text = subprocess.run([disassembler, "-c", cubin], check=True, capture_output=True, text=True).stdout
    labels, kinds, jumps = {}, [], []
    for line in text.splitlines():
        if label := re.match(r"(\.L_[\w.]+):", line):
            labels[label[1]] = len(kinds)
        elif instruction := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(\w+)[^;]*;", line):
            if jump := re.search(r"BRA.*`\((\.L_[\w.]+)\)", line):
                jumps.append((len(kinds), jump[1]))
            kinds.append(instruction[1])
    loops = [kinds[labels[to]:at + 1] for at, to in jumps if to in labels and labels[to] <= at]
    loops = sorted((loop for loop in loops if "HMMA" in loop), key=len)
    return {"loop": len(loops[0]), **{kind: loops[0].count(kind) for kind in ("HMMA", "LDSM")}} if loops else {}


def usage(nvcc, header, source, disassembler=None):
    """Function: registers, bytes of stack and of spills, and what is in its main loop."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "kernel.cubin")
        command = [nvcc, "-std=c++17", "-O3", "-cubin", f"-arch={ARCH}", "-Xptxas", "-v", "-diag-suppress", "177,550",
                   f"-I{header}", source, "-o", cubin]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        loop = main_loop(disassembler, cubin) if disassembler else {}
    found = {}
    for part in told.split("Compiling entry function")[1:]:
        name = re.search(r"'(\w+)'", part)[1]
        stack, stores, loads = map(int, re.search(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", part).groups())
        found[name] = {"registers": int(re.search(r"Used (\d+) registers", part)[1]), "stack": stack,
                       "spills": stores + loads, **loop}
    return found


def group(name):
    """Operation and head size."""
    size = re.search(r"_d\d+_", name)
    return name.split("_")[0], size and size[0]


def main():
    nvcc, header, *sources = sys.argv[1:]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "budgets.json"), encoding="utf-8") as file:
        budgets = json.load(file)
    wrong, seen = [], set()
    disassembler = find_disassembler(nvcc)
    print(f"instructions are counted by {disassembler}" if disassembler else
          "SKIPPED: there is no nvdisasm, instructions are not counted")
    for source in sources:
        for function, used in sorted(usage(nvcc, header, source, disassembler).items()):
            name = re.sub(r"^gyrekernel_gyre_", "", function)
            print(f"{name:48} {used}")
            seen.add(name)
            if name not in budgets:
                wrong.append(f"{name}: has no budget")
                continue
            wrong += [f"{name}: {used[what]} {what}, over its budget of {most}"
                      for what, most in budgets[name].items()
                      if what in used and (used[what] != most if what in EXACT else used[what] > most)]
    built = {group(name) for name in seen}  # a build may leave out operations and head sizes
    wrong += [f"{name}: there is no such function" for name in sorted(set(budgets) - seen) if group(name) in built]
    print("\n".join(wrong) or f"{len(seen)} functions within their budgets")
    sys.exit(1 if wrong or not seen else 0)


if __name__ == "__main__":
    main()
