"""gyre tune --device cuda: the knobs of a kernel for CUDA by what a model of a multiprocessor makes of its machine code (model.py). Nothing is
run or written: times are what a visit to a device measures (bench/cuda/visit, stage variants).
"""

import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import machine_code
import model
import numpy as np
from child import run
from errors import RunError, refuse
from recipes import Recipe, recipes_content
from space import folder_of, read_declaration, space_of
from tuning_file import TuningFile

TOOLS = ("cuobjdump", "nvdisasm")
OPERATION = "attention"  # whose main loop the model knows


def estimate(options):
    content = recipes_content(options.build)
    recipe = chosen(content, options)
    path = os.path.join(folder_of(content["generators"], recipe.operation), f"{recipe.operation}_{options.device}_knobs.json")
    stored = TuningFile(options.tuning or content["tuning"], recipe.target).knobs(recipe)
    space = space_of(read_declaration(path), path, recipe.variables(), include=(stored,))
    points = points_of(space, space.complete(stored), options)
    tools = {name: machine_code.find_tool(name, content["nvcc"]) for name in TOOLS}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.threads) as pool:
        found = list(pool.map(lambda numbered: candidate(content, recipe, tools, options, folder, *numbered), enumerate(points)))
    show(recipe, options, without_doubles(found))


def chosen(content, options):
    """The recipe of the kernel, which is to be one."""
    kernels = [Recipe(**kernel) for kernel in content.get("device_kernels", ()) if kernel["operation"] == OPERATION]
    kernels = [recipe for recipe in kernels if recipe.target == options.device]  # cuda_90a has an architecture of its own
    if not kernels or not content["nvcc"]:
        refuse(f"--build {options.build}", "it makes no kernels of attention for CUDA", "a build with nvcc")
    for recipe in kernels:
        if recipe.name == options.kernel:
            return recipe
    names = ", ".join(recipe.name for recipe in kernels)
    return refuse("kernel", f"'{options.kernel}'", f"one of {names}")


def points_of(space, stored, options):
    """The stored knobs, and as many others as --trials allows, by chance; all of them without it."""
    points = [space.point(row) for row in range(len(space))]
    others = [point for point in points if point != stored]
    if options.trials and options.trials <= len(others):
        picked = np.random.default_rng(options.seed).permutation(len(others))[:options.trials - 1]
        others = [others[i] for i in sorted(picked)]
    return [stored, *others]


def candidate(content, recipe, tools, options, folder, number, knobs):
    """{"knobs", "text", "loop"}; or with "refused", by the generator or nvcc."""
    symbol = f"candidate_{number}"
    source, cubin = (os.path.join(folder, f"{symbol}.{kind}") for kind in ("cu", "cubin"))
    given = {**recipe.parameters, **knobs}
    generate = [recipe.generator, "-g", f"{recipe.operation}_{options.device}", "-f", symbol, "-e", "object", "-o", folder,
                f"target={recipe.halide_target}", *(f"{name}={value}" for name, value in given.items()),
                f"facts={os.path.join(folder, symbol)}.inc", f"device_code={source}"]
    headers = os.path.join(content["generators"], "passes", "cuda", "device")
    compile_it = [content["nvcc"], "-std=c++17", "-O3", "-cubin", f"-arch={options.arch}", "-diag-suppress", "177,550", f"-I{headers}",
                  source, "-o", cubin]
    for command in (generate, compile_it):
        ended = run(command, options.limit_seconds, options.limit_memory, folder=folder)
        if not ended.ok:
            return {"knobs": knobs, "refused": ended.text()}
    used, = machine_code.usage(tools, cubin).values()
    with open(source, encoding="utf-8") as file:
        text = file.read().replace(symbol, "candidate")
    return {"knobs": knobs, "text": text, "loop": machine_code.main_loop(source, used), "spills": used["loop_local"]}


def without_doubles(found):
    """One of those whose text is the same: a knob of 0 is what another names. The stored one comes first."""
    texts, kept = set(), []
    for result in found:
        if "refused" in result or result["text"] not in texts:
            texts.add(result.get("text"))
            kept.append(result)
    return kept


def show(recipe, options, found):
    device = model.DEVICES[options.arch]
    good = [result for result in found if result.get("loop")]
    if not good:
        raise RunError(f"{recipe.name}: no candidate was made: {found[0].get('refused', 'its products are not of tensor cores')}")
    stored = good[0] if good[0] is found[0] else None
    good.sort(key=lambda result: -model.tflop_s(result["loop"], device))
    rows = [{"knobs": result["knobs"], "stored": result is stored, "tflop_s": round(model.tflop_s(result["loop"], device), 1),
             "cycles": {name: round(count) for name, count in model.cycles(result["loop"], device).items()},
             "blocks_at_once": model.blocks_at_once(result["loop"], device), "registers": result["loop"].registers,
             "shared": result["loop"].shared, "spills": result["spills"]} for result in good]
    refused = len(found) - len(good)
    if options.json:
        print(json.dumps({"kernel": recipe.name, "device": device.name, "measured": False, "refused": refused, "candidates": rows}))
        return
    print(f"{recipe.name} on {device.name}, by a model: nothing was measured; {refused} candidates were refused")
    for row in rows:
        knobs = " ".join(f"{name}={value}" for name, value in row["knobs"].items())
        print(f"{row['tflop_s']:7.1f} TFLOP/s {row['cycles']['turn']:6} cycles a turn, {row['blocks_at_once']} blocks at once, "
              f"{row['registers']:3} registers, {row['spills']} spills  {knobs}{'  (stored)' if row['stored'] else ''}")
