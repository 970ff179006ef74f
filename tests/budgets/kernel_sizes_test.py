"""Holds every shipped kernel's machine code below the limit of its family and target, kernel_sizes.json.

    python kernel_sizes_test.py KERNELS [--record]      KERNELS: the folder <build>/kernels

A schedule that explodes shows in the bytes of its code, which are the same on every machine, however busy. A kernel whose
family has no limit on its target fails too. --record writes the limits anew: the largest kernel of each family and target in
this build, and a quarter. Limits of targets that this build has no kernels for stay.
"""

import json
import math
import os
import re
import struct
import sys

LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernel_sizes.json")
HEADROOM, STEP, SHOWN = 1.25, 256, 20
EXECUTABLE = 4  # SHF_EXECINSTR


def code_bytes(path):
    """The bytes of an ELF object's executable sections."""
    with open(path, "rb") as file:
        elf = file.read()
    wide = elf[4] == 2
    table = struct.unpack_from("<Q", elf, 0x28)[0] if wide else struct.unpack_from("<I", elf, 0x20)[0]
    entry_size, count = struct.unpack_from("<HH", elf, 0x3A if wide else 0x2E)
    total = 0
    for entry in range(table, table + entry_size * count, entry_size):
        if wide:
            flags, size = struct.unpack_from("<Q", elf, entry + 0x08)[0], struct.unpack_from("<Q", elf, entry + 0x20)[0]
        else:
            flags, size = struct.unpack_from("<I", elf, entry + 0x08)[0], struct.unpack_from("<I", elf, entry + 0x14)[0]
        total += size if flags & EXECUTABLE else 0
    return total


def family(kernel):
    """A kernel's name without its head size and pairing."""
    return re.sub(r"_(d|dmax)\d+$|_(half|interleaved)$", "", kernel)


def kernel_sizes(folder):
    """(kernel, target): bytes of code, of the kernels that the library lists."""
    with open(os.path.join(folder, "shipped.c"), encoding="utf-8") as file:
        symbols = re.findall(r"^int (gyrekernel_\w+)_argv\(", file.read(), re.M)
    sizes = {}
    for symbol in symbols:
        kernel, target = symbol.removeprefix("gyrekernel_gyre_").split("__")
        if target != "cuda":  # tests/cuda/budgets.json
            sizes[kernel, target] = code_bytes(os.path.join(folder, "shipped", f"{symbol}.o"))
    return sizes


def complaints(sizes, limits):
    for (kernel, target), size in sorted(sizes.items()):
        limit = limits.get(family(kernel), {}).get(target)
        if limit is None:
            yield f"{kernel}__{target}: {size} bytes of code, and {family(kernel)} has no limit on {target}"
        elif size > limit:
            yield f"{kernel}__{target}: {size} bytes of code, the limit of {family(kernel)} on {target} is {limit}"


def record(sizes, limits):
    largest = {}
    for (kernel, target), size in sizes.items():
        largest[family(kernel), target] = max(size, largest.get((family(kernel), target), 0))
    made_for = {target for _, target in sizes}
    kept = {name: {target: limit for target, limit in row.items() if target not in made_for} for name, row in limits.items()}
    for (name, target), size in largest.items():
        kept.setdefault(name, {})[target] = math.ceil(size * HEADROOM / STEP) * STEP
    rows = [f'  "{name}": {json.dumps(kept[name], sort_keys=True)}' for name in sorted(kept) if kept[name]]
    with open(LIMITS, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


def main():
    folder = sys.argv[1]
    sizes = kernel_sizes(folder)
    if not sizes:
        sys.exit(f"no kernel in {folder}")
    with open(LIMITS, encoding="utf-8") as file:
        limits = json.load(file)
    if "--record" in sys.argv[2:]:
        record(sizes, limits)
        return
    found = list(complaints(sizes, limits))
    if found:
        more = [f"… and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        sys.exit("\n".join(found[:SHOWN] + more) + f"""

Machine code that grows so much usually comes of a loop that a schedule unrolls, and takes long to compile: compare the kernel's
lowered statement before and after (-DGYRE_LISTINGS=ON), or its knobs. Where the larger kernel is worth it, or a kernel is new,
record the limits and commit them:
    python {os.path.relpath(__file__)} {os.path.relpath(folder)} --record""")
    total = sum(sizes.values())
    print(f"{len(sizes)} kernels, {total} bytes of machine code, all within their limits; the largest:")
    for (kernel, target), size in sorted(sizes.items(), key=lambda item: -item[1])[:5]:
        print(f"  {size:7d}  {kernel}__{target}")


if __name__ == "__main__":
    main()
