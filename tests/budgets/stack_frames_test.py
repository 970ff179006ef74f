"""Holds the stack frames of every shipped kernel below the limit that lets any call do with the stack it promises.

    python stack_frames_test.py KERNELS OBJDUMP [--list]      KERNELS: the folder <build>/kernels; --list: all kernels, largest first

A kernel's frames are those of all functions in its object, as if each called the next. They are read from the disassembly, of
x86, 64-bit ARM and 32-bit ARM alike.
"""

import os
import re
import subprocess
import sys

# include/gyre/promises.md promises 32 KiB a call, of which the runtime takes up to 14 around a kernel (tests/faults/small_stacks.cpp prints it).
LIMIT = 18 << 10
SHOWN = 20
POINTER = {"x86": 8, "aarch64": 8, "arm": 4}


def registers(operand):
    """How many registers a list such as {r4, r5, d8-d15} has, by bytes of each kind."""
    total = 0
    for first, last in re.findall(r"([a-z]+\d*)(?:-([a-z]+\d+))?", operand):
        size = 8 if first[0] == "d" else 4
        count = int(last[1:]) - int(first[1:]) + 1 if last else 1
        total += size * count
    return total


def number(text):
    return int(text, 0)


def x86_bytes(mnemonic, operands):
    """What an instruction takes of the stack; None: an amount that only shows when it runs."""
    if mnemonic.startswith("push"):
        return 8
    if not operands.endswith(",%rsp"):
        return 0
    amount = operands[: -len(",%rsp")]
    if mnemonic.startswith("sub"):
        return number(amount[1:]) if amount.startswith("$") else None
    if mnemonic.startswith("add") and amount.startswith("$"):
        added = number(amount[1:])
        return 2**64 - added if added >= 2**63 else 0
    if mnemonic.startswith("and"):
        return 2**64 - number(amount[1:])  # aligned: at most so much is left out
    below = re.fullmatch(r"-(0x[0-9a-f]+)\(%rsp\)", amount)
    return number(below[1]) if mnemonic.startswith("lea") and below else 0


def aarch64_bytes(mnemonic, operands):
    stored = re.search(r"\[sp, #-(\d+)\]!", operands)
    if stored:
        return int(stored[1])
    taken = re.fullmatch(r"\w+, sp, #(0x[0-9a-f]+|\d+)(?:, lsl #12)?", operands)
    if mnemonic == "sub" and taken:
        return number(taken[1]) << (12 if operands.endswith("lsl #12") else 0)
    return None if mnemonic == "sub" and operands.startswith("sp, sp, x") else 0


def arm_bytes(mnemonic, operands):
    if mnemonic in ("push", "vpush"):
        return registers(operands)
    if re.match(r"v?stm", mnemonic) and operands.startswith("sp!"):
        return registers(operands.partition("{")[2])
    if re.match(r"v?str", mnemonic):
        stored = re.search(r"\[sp, #-(\d+)\]!", operands)
        return int(stored[1]) if stored else 0
    taken = re.match(r"\w+, sp, #(\d+)", operands)
    if mnemonic.startswith("sub") and taken:
        return int(taken[1])
    return None if mnemonic.startswith("sub") and re.match(r"sp, sp, r", operands) else 0


BYTES = {"x86": x86_bytes, "aarch64": aarch64_bytes, "arm": arm_bytes}


def frame_bytes(objdump, path):
    """The bytes of all frames in an object; None where one has no constant size."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    form = re.search(r"file format elf\d+-(?:little)?(x86|aarch64|arm)", text)
    if not form:
        sys.exit(f"{path}: no object of a known processor")
    taken = BYTES[form[1]]
    total = 0
    # Only code that names the stack pointer counts, and there is much other.
    for line in re.findall(r"^.*(?:>:$|%rsp|\bpush|\bsp\b).*$", text, re.M):
        if line.endswith(">:"):
            total += POINTER[form[1]]  # where the function returns to
            continue
        mnemonic, _, operands = line.partition("\t")[2].strip().partition("\t")
        if not operands:
            mnemonic, _, operands = mnemonic.partition(" ")
        bytes_taken = taken(mnemonic.strip(), re.split(r"\s*(?:[#@;]\s|//)", operands)[0].strip())
        if bytes_taken is None:
            return None
        total += bytes_taken
    return total


def kernel_frames(folder, objdump):
    with open(os.path.join(folder, "shipped.c"), encoding="utf-8") as file:
        symbols = re.findall(r"^int (gyrekernel_\w+)_argv\(", file.read(), re.M)
    return {symbol.partition("_gyre_")[2]: frame_bytes(objdump, os.path.join(folder, "shipped", f"{symbol}.o")) for symbol in symbols}


def main():
    folder, objdump = sys.argv[1:3]
    frames = kernel_frames(folder, objdump)
    if not frames:
        sys.exit(f"no kernel in {folder}")
    largest = sorted(frames.items(), key=lambda item: -(item[1] if item[1] is not None else sys.maxsize))
    found = [f"{kernel}: {f'{size} bytes' if size is not None else 'no constant number of bytes'} of stack, the limit is {LIMIT}"
             for kernel, size in largest if size is None or size > LIMIT]
    if found:
        more = [f"… and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        sys.exit("\n".join(found[:SHOWN] + more) + """

A block that a kernel uses at places which are not constant belongs into its workspace (generators/passes/memory/workspace_slots.h). What
is left is what the compiler spills: unroll less, or let a schedule form fewer values at once. -DGYRE_LISTINGS=ON shows both.""")
    print(f"{len(frames)} kernels, all with frames of at most {LIMIT} bytes; the largest:")
    for kernel, size in largest if "--list" in sys.argv[3:] else largest[:5]:
        print(f"  {size:6d}  {kernel}")


if __name__ == "__main__":
    main()
