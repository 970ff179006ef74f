"""Asserts that no conditional jump of attention's kernels for AVX2, nor of those of its gradients, lies across two lines of the instruction cache:
generators/passes/instructions/aligned_branches.h.

    python jumps_test.py KERNELS OBJDUMP      KERNELS: the folder <build>/kernels

Skipped where no kernel for AVX2 was built.
"""

import pathlib
import re
import subprocess
import sys

LINE = 64  # bytes
SKIPPED = 77
NAMES = "gyrekernel_gyre_attention_*__x86_64_avx2.o", "gyrekernel_gyre_backward_*__x86_64_avx2.o"
OTHER_GENERATORS = re.compile(r"attention_(backward|merge|transformer_xl|shaw)")


def sections(objdump, path):
    """The instructions of each section of code: (address, mnemonic), in order."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    for section in text.split("Disassembly of section ")[1:]:
        yield [(int(address, 16), mnemonic) for address, mnemonic in re.findall(r"^\s+([0-9a-f]+):\s+(\w+)", section, re.M)]


def jumps(instructions):
    """How many conditional jumps there are, and the addresses of those across two lines."""
    found = [(at, after) for (at, mnemonic), (after, _) in zip(instructions, instructions[1:]) if re.fullmatch(r"j(?!mp)\w+", mnemonic)]
    return len(found), [at for at, after in found if at // LINE != (after - 1) // LINE]


def main():
    folder, objdump = pathlib.Path(sys.argv[1]), sys.argv[2]
    kernels = [path for name in NAMES for path in sorted((folder / "shipped").glob(name)) if not OTHER_GENERATORS.search(path.name)]
    if not kernels:
        print("skipped: there is no kernel for AVX2")
        sys.exit(SKIPPED)
    total, across = 0, []
    for path in kernels:
        for instructions in sections(objdump, path):
            count, of_section = jumps(instructions)
            total += count
            across += [f"{path.name}: the jump at {at:#x}" for at in of_section]
    if across or not total:
        sys.exit("\n".join(across[:20]) + f"\n{len(across)} of {total} conditional jumps lie across two lines of {LINE} bytes")
    print(f"{len(kernels)} kernels, {total} conditional jumps, none across two lines of {LINE} bytes")


if __name__ == "__main__":
    main()
