"""What CUDA kernels execute before and after a change: a table of two folders of kernels, each with the printed text (.cu) and the image (.fatbin)
beside it, as builds leave them in kernels/shipped.

    python before_after.py NVCC BEFORE AFTER [NAME …]

NAME: only kernels whose names have it. Instructions are those of warps for 16 rows and 64 keys in the main loop of attention and its gradients, and in
all of the machine code. Cycles are the model's (model.py), of an A100's multiprocessor (of cuda_90a's kernels an H100's) for 128 rows and 4096 keys: of
the loop, and where the way around it is known with that. In f32 they are what multiply-adds and issue take, without shared memory. Nothing is measured.
"""

import pathlib
import re
import sys
import tempfile

import machine_code
import model

ROWS, KEYS = 16, 64  # that instructions are counted for
TIMED_ROWS, TIMED_KEYS = 128, 4096  # that cycles are
PRODUCTS = {"queries": 3, "keys": 3, "values": 2}  # of kernels of gradients; attention has two
MULTIPLY_ADDS = 64  # in f32, a cycle of an A100's multiprocessor
LANES = 32


def products_of(name):
    found = re.search(r"backward_(?:general_)?(queries|keys|values)_", name)
    return PRODUCTS[found[1]] if found else 2


def work(rows, keys, head_dim, products=2):
    """Multiply-adds of all products."""
    return products * rows * keys * head_dim


def figures(loop, head_dim, device, products=2):
    """{"loop": instructions of warps, "cycles", and "whole" where what is around the loop is known}."""
    of_turn = loop.multiply_adds()
    found = {"loop": loop.instructions * loop.warps * work(ROWS, KEYS, head_dim, products) / of_turn,
             "cycles": model.cycles(loop, device)["turn"] * work(TIMED_ROWS, TIMED_KEYS, head_dim, products) / of_turn}
    if loop.around:
        rows = loop.queries // head_dim
        turns = work(rows, TIMED_KEYS, head_dim) / of_turn
        found["whole"] = model.whole(loop, turns, device) * TIMED_ROWS / rows
    return found


def figures_of_f32(instructions, multiply_adds, head_dim, products=2):
    """Likewise of a loop that multiplies by a warp's multiply-adds."""
    of_turn = multiply_adds * LANES
    turn = max(instructions / model.SCHEDULERS, of_turn / MULTIPLY_ADDS)
    return {"loop": instructions * work(ROWS, KEYS, head_dim, products) / of_turn,
            "cycles": turn * work(TIMED_ROWS, TIMED_KEYS, head_dim, products) / of_turn}


def kernels(folder, names):
    """{kernel: its image}."""
    found = {re.sub("^gyrekernel_gyre_", "", image.stem): image for image in sorted(pathlib.Path(folder).glob("*.fatbin"))}
    return {name: image for name, image in found.items() if image.with_suffix(".cu").exists() and
            (not names or any(word in name for word in names))}


def read(tools, image):
    """Figures of an image's first function."""
    arch = machine_code.WARPGROUPS if "__cuda_90a" in image.name else machine_code.ARCH
    with tempfile.TemporaryDirectory() as folder:
        cubin = machine_code.machine_code(tools, image, arch, folder)
        used = next(iter(sorted(machine_code.usage(tools, cubin).items())))[1]
        code = next(iter(sorted(machine_code.listing(tools, cubin).items())))[1]
    found = {"registers": used["registers"], "all": len(machine_code.instructions(code)[0])}
    head_dim = re.search(r"_d(\d+)_", image.name)
    loop = machine_code.main_loop(image.with_suffix(".cu"), used) if head_dim else None
    if loop:
        found.update(figures(loop, int(head_dim[1]), model.DEVICES[arch], products_of(image.name)))
    elif head_dim and used.get("FFMA"):
        found.update(figures_of_f32(used["loop"], used["FFMA"], int(head_dim[1]), products_of(image.name)))
    return found


def cell(before, after, what):
    """`before -> after`, one number if they are the same, nothing if a kernel has none."""
    texts = [f"{found[what]:.0f}" if found and what in found else "" for found in (before, after)]
    if texts[0] == texts[1]:
        return texts[0]
    return " -> ".join(text or "none" for text in texts)


def table(before, after):
    columns = {"all": "machine code", "registers": "registers", "loop": "loop, 16 x 64", "cycles": "cycles, loop", "whole": "cycles, whole"}
    lines = [f"| kernel | {' | '.join(columns.values())} |", "|---" * (1 + len(columns)) + "|"]
    for name in sorted({*before, *after}):
        lines.append(f"| {name} | {' | '.join(cell(before.get(name), after.get(name), what) for what in columns)} |")
    return "\n".join(lines)


def main():
    nvcc, *folders = sys.argv[1:4]
    tools = {name: machine_code.find_tool(name, nvcc) for name in ("cuobjdump", "nvdisasm", "ptxas")}
    print(table(*({name: read(tools, image) for name, image in kernels(folder, sys.argv[4:]).items()} for folder in folders)))


if __name__ == "__main__":
    main()
