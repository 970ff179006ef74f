"""The machine code of CUDA kernels: made of PTX where that is needed, disassembled, and counted. cuobjdump and nvdisasm are those beside nvcc, or
what requirements-test.txt installs.
"""

import glob
import os
import re
import shutil
import subprocess
import sys

import executed
import model

QUERIES_AT_ONCE = 8  # numbers that a thread copies in a turn
ARCH = "sm_80"  # which the build makes; others are made of its PTX
WARPGROUPS = "sm_90a"  # which it makes of kernels of the target cuda_90a, without PTX
EXACT = ("HMMA", "HGMMA", "LDSM", "LDSMT")  # products, of warps and of warpgroups; tiles as they lie, and transposed
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


def machine_code(tools, fatbin, arch, folder):
    """The file of a kernel's machine code, which for a Hopper is made of its PTX."""
    image = os.path.abspath(fatbin)
    if arch in (ARCH, WARPGROUPS):
        subprocess.run([tools["cuobjdump"], "-xelf", arch, image], check=True, capture_output=True, cwd=folder)
        return glob.glob(os.path.join(folder, f"*.{arch}.cubin"))[0]
    subprocess.run([tools["cuobjdump"], "-xptx", "all", image], check=True, capture_output=True, cwd=folder)
    ptx, = glob.glob(os.path.join(folder, "*.ptx"))
    subprocess.run([tools["ptxas"], f"-arch={arch}", ptx, "-o", f"{ptx}.cubin"], check=True)
    return f"{ptx}.cubin"


def listing(tools, cubin):
    """The machine code of a kernel, with labels, by function."""
    text = subprocess.run([tools["nvdisasm"], "-c", "-ndf", cubin], check=True, capture_output=True, text=True).stdout
    parts = re.split(r"^\s*\.section\s+\.text\.(\w+)", text, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def instructions(text):
    """What a function executes, from where to where it jumps back, [first, last] of each loop, and the columns of warpgroups' products."""
    labels, kinds, jumps, columns = {}, [], [], {}
    for line in text.splitlines():
        if label := re.match(r"(\.L_[\w.]+):", line):
            labels[label[1]] = len(kinds)
        elif instruction := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(\w+)[^;]*;", line):
            if jump := re.search(r"BRA.*`\((\.L_[\w.]+)\)", line):
                jumps.append((len(kinds), jump[1]))
            if product := re.search(r"HGMMA\.64x(\d+)x16", line):
                columns[len(kinds)] = int(product[1])
            kinds.append(instruction[1] + ("T" if ".MT88" in line else ""))
    return kinds, [(labels[to], at) for at, to in jumps if to in labels and labels[to] <= at], columns


def multiplies_tiles(kinds):
    return "HMMA" in kinds or "HGMMA" in kinds


def main_loop_of(kinds, jumps):
    """Where the main loop is, which counts() tells of: [first, last]; None: there is none."""
    loops = sorted(jumps, key=lambda jump: jump[1] - jump[0])
    of_loops = [(place, kinds[place[0]:place[1] + 1]) for place in loops]
    if multiplies_tiles(kinds):
        found = [place for place, loop in of_loops if "HGMMA" in loop or ("HMMA" in loop and "LDSM" in loop)]
    else:
        most = max((loop.count("FFMA") for _, loop in of_loops), default=0)
        found = [place for place, loop in of_loops if most and 3 * loop.count("FFMA") >= most]
    return found[0] if found else None


def counts(text):
    """Counts a function's accesses to local memory, what takes subnormal numbers for 0, and its main loop's instructions, accesses to local memory, products and
    loads of tiles. The main loop is the smallest with products and tiles as they lie; in f32, with a third as many multiply-adds
    as the loop that has most. Blocks of keys in which a score is masked go through the loop around it."""
    kinds, jumps, columns = instructions(text)
    place = main_loop_of(kinds, jumps)
    found = {}
    if place:
        loop = kinds[place[0]:place[1] + 1]
        found = {"copies": loop.count("LDGSTS"), "loop": len(loop), "loop_local": sum(map(loop.count, LOCAL))}
        found.update({kind: loop.count(kind) for kind in (EXACT if multiplies_tiles(kinds) else ("FFMA", "LDS"))})
        if multiplies_tiles(kinds):
            found.update(executed.around(text, kinds, jumps, place))
        if columns:
            found["columns"] = sum(count for at, count in columns.items() if place[0] <= at <= place[1])
    return {"local": sum(map(kinds.count, LOCAL)), "flushing": len(FLUSHING.findall(text)), **found}


def usage(tools, cubin):
    """Function: registers, bytes of stack, accesses to local memory, and what is in its main loop."""
    told = subprocess.run([tools["cuobjdump"], "--dump-resource-usage", cubin], check=True, capture_output=True, text=True).stdout
    code = listing(tools, cubin)
    found = {name: {"registers": int(registers), "stack": int(stack), **counts(code[name])}
             for name, registers, stack in re.findall(r"Function (\w+):\s+REG:(\d+) STACK:(\d+)", told)}
    if not found or set(found) != set(code):
        sys.exit(f"{cubin}: cuobjdump tells of {sorted(found)}, nvdisasm of {sorted(code)}")
    return found


def main_loop(source, used):
    """What the model asks of an attention kernel's main loop, by the printed text and its machine code; None: it multiplies no tiles. Text of before
    2026-11-26 does not tell how much shared memory there is: then registers alone say how many blocks are on a multiprocessor."""
    with open(source, encoding="utf-8") as file:
        text = file.read()
    threads, shared = re.search(r"__launch_bounds__\((\d+)", text), re.search(r"// shared memory: (\d+) bytes", text)
    if not (used.get("HMMA") or used.get("HGMMA")) or not threads:
        return None
    turns = re.search(r"_q_staged_s0_d_run_together_together_turn < 0 \+ (\d+)", text)
    around = used["around"] + int(turns[1]) * used["around_turn"] if turns and "around" in used else 0
    count, registers, copies = int(threads[1]), used["registers"], used["copies"]
    if more := re.search(r"gyre_more_registers<(\d+)>", text):  # the others of the block copy (generators/passes/cuda/copying_warps.h)
        count, registers = int(re.search(r"gyre_sync_of<(\d+)>", text)[1]), int(more[1])
        copying = text[text.index("gyre_fewer_registers"):text.index("return;")]
        copies = copying.count("gyre_copy_async") * (int(threads[1]) - count) // count
    return model.Loop(used["loop"], used["HMMA"], used["LDSM"] + used["LDSMT"], copies, count // 32, registers,
                      int(shared[1]) if shared else 0, used.get("columns", 0), around, int(turns[1]) * count * QUERIES_AT_ONCE if around else 0)
