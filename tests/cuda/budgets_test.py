"""Registers, stack and accesses to local memory of every CUDA kernel that is linked, against budgets.json; and the
instructions of its main loop, whose products (HMMA) and loads of tiles (LDSM) must be as many as that says, all the rest, in f32
multiply-adds (FFMA) and loads (LDS), at most. Kernels that rotate and append have no arithmetic that flushes subnormal numbers. Read from the machine code
for compute capability 8.0 that the build has made, by cuobjdump and nvdisasm: those beside nvcc, or what requirements-test.txt installs.

    python budgets_test.py NVCC KERNEL.fatbin…

A kernel without a budget fails, and so does a budget without a kernel of the same head size and type: neither can be forgotten.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ARCH = "sm_80"
EXACT = ("HMMA", "LDSM", "LDSMT")  # products; tiles as they lie, and transposed
LOCAL = ("LDL", "STL")  # spills, and arrays whose elements are chosen at run time
# Arithmetic and conversions that take subnormal numbers for 0. F2I, which divides indices by way of f32, is not of these.
FLUSHING = re.compile(r"\b(?:FADD|FMUL|FFMA|FMNMX|FSETP|F2F|F2FP|HADD2|HMUL2|HFMA2)[.\w]*\.FTZ\b")


def find_tool(name, nvcc):
    """Beside nvcc, or what requirements-test.txt installs."""
    try:
        from nvidia import cu13  # pylint: disable=import-outside-toplevel
        installed = [os.path.join(folder, "bin", name) for folder in cu13.__path__]
    except ImportError:
        installed = []
    for program in [os.path.join(os.path.dirname(nvcc), name), *installed]:
        if os.access(program, os.X_OK):
            return program
    return shutil.which(name) or sys.exit(f"there is no {name}: pip install -r cmake/requirements-test.txt")


def listing(tools, fatbin, folder):
    """The machine code of a kernel's image, with labels, by function."""
    subprocess.run([tools["cuobjdump"], "-xelf", ARCH, os.path.abspath(fatbin)], check=True,
                   capture_output=True, cwd=folder)
    cubin, = glob.glob(os.path.join(folder, f"*.{ARCH}.cubin"))
    text = subprocess.run([tools["nvdisasm"], "-c", cubin], check=True, capture_output=True, text=True).stdout
    parts = re.split(r"^\s*\.section\s+\.text\.(\w+)", text, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def instructions(text):
    """What a function executes, and from where to where it jumps back: [first, last] of each loop."""
    labels, kinds, jumps = {}, [], []
    for line in text.splitlines():
        if label := re.match(r"(\.L_[\w.]+):", line):
            labels[label[1]] = len(kinds)
        elif instruction := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(\w+)[^;]*;", line):
            if jump := re.search(r"BRA.*`\((\.L_[\w.]+)\)", line):
                jumps.append((len(kinds), jump[1]))
            kinds.append(instruction[1] + ("T" if ".MT88" in line else ""))
    return kinds, [(labels[to], at) for at, to in jumps if to in labels and labels[to] <= at]


def counts(text):
    """Counts a function's accesses to local memory, what takes subnormal numbers for 0, and its main loop's instructions, accesses to local memory, products and
    loads of tiles. The main loop is the smallest with products and tiles as they lie; in f32, with a third as many multiply-adds
    as the loop that has most. Blocks of keys in which a score is masked go through the loop around it."""
    kinds, jumps = instructions(text)
    all_loops = sorted((kinds[first:last + 1] for first, last in jumps), key=len)
    loops = [loop for loop in all_loops if "HMMA" in loop and "LDSM" in loop]
    counted = EXACT
    if all_loops and "HMMA" not in kinds:
        most = max(loop.count("FFMA") for loop in all_loops)
        loops = [loop for loop in all_loops if most and 3 * loop.count("FFMA") >= most]
        counted = ("FFMA", "LDS")
    main_loop = {}
    if loops:
        main_loop = {"loop": len(loops[0]), "loop_local": sum(map(loops[0].count, LOCAL))}
        main_loop.update({kind: loops[0].count(kind) for kind in counted})
    return {"local": sum(map(kinds.count, LOCAL)), "flushing": len(FLUSHING.findall(text)), **main_loop}


def usage(tools, fatbin):
    """Function: registers, bytes of stack, accesses to local memory, and what is in its main loop."""
    told = subprocess.run([tools["cuobjdump"], "-arch", ARCH, "--dump-resource-usage", fatbin], check=True,
                          capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        code = listing(tools, fatbin, folder)
    found = {name: {"registers": int(registers), "stack": int(stack), **counts(code[name])}
             for name, registers, stack in re.findall(r"Function (\w+):\s+REG:(\d+) STACK:(\d+)", told)}
    if not found or set(found) != set(code):
        sys.exit(f"{fatbin}: cuobjdump tells of {sorted(found)}, nvdisasm of {sorted(code)}")
    return found


def group(name):
    """Operation and head size."""
    size = re.search(r"_d\d+_", name)
    return name.split("_")[0], size and size[0]


def main():
    nvcc, *fatbins = sys.argv[1:]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "budgets.json"), encoding="utf-8") as file:
        budgets = json.load(file)
    wrong, seen = [], set()
    tools = {name: find_tool(name, nvcc) for name in ("cuobjdump", "nvdisasm")}
    for fatbin in fatbins:
        for function, used in sorted(usage(tools, fatbin).items()):
            name = re.sub(r"^gyrekernel_gyre_", "", function)
            print(f"{name:48} {used}")
            seen.add(name)
            if name not in budgets:
                wrong.append(f"{name}: has no budget")
                continue
            wrong += [f"{name}: {used.get(what, 0)} {what}, over its budget of {most}"
                      for what, most in budgets[name].items()
                      if (used.get(what, 0) != most if what in EXACT else used.get(what, 0) > most)]
    built = {group(name) for name in seen}  # a build may leave out operations and head sizes
    wrong += [f"{name}: there is no such function" for name in sorted(set(budgets) - seen) if group(name) in built]
    print("\n".join(wrong) or f"{len(seen)} functions within their budgets")
    sys.exit(1 if wrong or not seen else 0)


if __name__ == "__main__":
    main()
