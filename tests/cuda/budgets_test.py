"""Registers, stack and accesses to local memory of every CUDA kernel that is linked, against budgets.json; and the
instructions of its main loop, whose products (HMMA) and loads of tiles (LDSM) must be as many as that says, all the rest, in f32
multiply-adds (FFMA) and loads (LDS), at most. Kernels that rotate and append have no arithmetic that flushes subnormal numbers. Read from the machine code
for compute capability 8.0 that the build has made, by cuobjdump and nvdisasm: those beside nvcc, or what requirements-test.txt installs. Kernels that have a
budget under "sm_90" are looked at as a Hopper runs them, too: ptxas makes its machine code of the image's PTX, as the driver does. Those
of the target cuda_90a, if they are built, are counted against "sm_90a": their products are HGMMA.

    python budgets_test.py NVCC KERNEL.fatbin…

A kernel without a budget fails, and so does a budget without a kernel, where others of the same operation, types and head size are built: neither can be forgotten. Beside
the counts stands what a model makes of attention's main loop (bench/cuda/model.py).
"""

import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "cuda"))

import model  # noqa: E402  # pylint: disable=wrong-import-position
from machine_code import ARCH, EXACT, WARPGROUPS, find_tool, machine_code, main_loop, usage  # noqa: E402  # pylint: disable=wrong-import-position

HOPPER = "sm_90"
KEYS = 4096  # of the call that the model times


def usage_of_image(tools, fatbin, arch):
    with tempfile.TemporaryDirectory() as folder:
        return usage(tools, machine_code(tools, fatbin, arch, folder))


def modelled(fatbin, used, arch):
    """What the model makes of an attention kernel's main loop; "": nothing."""
    loop = main_loop(pathlib.Path(fatbin).with_suffix(".cu"), used)
    if not loop:
        return ""
    device, whole = model.DEVICES[arch], ""
    if loop.around and "attention_plain" in fatbin:
        head_dim = int(re.search(r"_d(\d+)_", fatbin)[1])
        rows = loop.queries // head_dim
        turns = KEYS * 2 * rows * head_dim // loop.multiply_adds()
        whole = (f"\n{'':48} the whole kernel, {KEYS} keys, full: {model.whole(loop, turns, device):.0f} cycles for {rows} queries, "
                 f"{loop.around} instructions a warp around {turns} turns, {model.whole_tflop_s(loop, turns, device):.0f} TFLOP/s")
    return f"\n{'':48} {model.told(loop, device)}{whole}"


def over(name, used, budget):
    """What is beyond a budget, in words."""
    return [f"{name}: {used.get(what, 0)} {what}, over its budget of {most}" for what, most in budget.items()
            if (used.get(what, 0) != most if what in EXACT else used.get(what, 0) > most)]


def group(name):
    """Operation, types and head size."""
    return name.split("_")[0], *re.findall(r"(?<=_)(?:b?f16|f32|d\d+)(?=_)", name)


def main():
    nvcc, *fatbins = sys.argv[1:]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "budgets.json"), encoding="utf-8") as file:
        budgets = json.load(file)
    of_hopper, of_warpgroups = budgets.pop(HOPPER), budgets.pop(WARPGROUPS)
    if any("__cuda_90a" in fatbin for fatbin in fatbins):
        budgets.update(of_warpgroups)
    wrong, seen = [], set()
    tools = {name: find_tool(name, nvcc) for name in ("cuobjdump", "nvdisasm", "ptxas")}
    for fatbin in fatbins:
        arch = WARPGROUPS if "__cuda_90a" in fatbin else ARCH
        for function, used in sorted(usage_of_image(tools, fatbin, arch).items()):
            name = re.sub(r"^gyrekernel_gyre_", "", function)
            print(f"{name:48} {used}{modelled(fatbin, used, arch)}")
            seen.add(name)
            if name not in budgets:
                wrong.append(f"{name}: has no budget")
                continue
            wrong += over(name, used, budgets[name])
            if name in of_hopper:
                of_sm_90, = usage_of_image(tools, fatbin, HOPPER).values()
                print(f"{HOPPER + ' ' + name:48} {of_sm_90}{modelled(fatbin, of_sm_90, HOPPER)}")
                wrong += over(f"{HOPPER} {name}", of_sm_90, of_hopper[name])
    built = {group(name) for name in seen}  # a build may leave out operations, types and head sizes
    wrong += [f"{name}: there is no such function" for name in sorted({*budgets, *of_hopper} - seen) if group(name) in built]
    print("\n".join(wrong) or f"{len(seen)} functions within their budgets")
    sys.exit(1 if wrong or not seen else 0)


if __name__ == "__main__":
    main()
