"""gyre tune export: candidates, the program that verifies and times them, and a script, for a device without a compiler.

BUNDLE/manifest.json        what the study is about, and the knobs of every library
       gyre_tune_runner, run.sh
       libraries/*.so       stored knobs (twice, for the noise), defaults, candidates
       results/             written on the device: a file a library, and final.json
"""

import json
import os
import shutil

import numpy as np
from acceptance import FINALISTS, NEAR, made
from choice import chosen
from errors import RunError, refuse
from evaluation import HOPELESS, WORSE
from progress import Progress
from recipes import Recipes
from setup import Setup
from workshop import NotBuilt

TRIALS = 50


def export(options):
    options.study = options.study or f"device-{options.seed}"  # apart from what this machine measures
    recipes = Recipes(options.build)
    found, _ = chosen(options, recipes)
    if len(found) > 1:
        refuse("kernel", f"'{options.kernel}' means {len(found)} kernels", "one, since a bundle holds one study")
    if os.path.exists(options.out) and os.listdir(options.out):
        refuse(f"--out {options.out}", "is there and not empty", "a new folder")
    bundle(Setup(options, recipes, found[0]), options.out, options.trials or TRIALS, Progress())


def bundle(setup, out, trials, progress):
    libraries = os.path.join(out, "libraries")
    os.makedirs(libraries, exist_ok=True)
    os.makedirs(os.path.join(out, "results"), exist_ok=True)
    runner = setup.make_runner()

    def put(path):
        shutil.copy2(path, libraries)
        return os.path.basename(path)

    manifest = {
        "study": setup.name,
        "kernel": setup.recipe.name,
        "target": setup.recipe.target,
        "shapes": setup.shapes,
        "threads": setup.options.threads,
        "seed": setup.options.seed,
        "identity": setup.identity(),
        "stored": {"library": put(made(setup.scheduled, setup.stored)), "knobs": setup.stored},
        "again": {"library": put(made(setup.scheduled, setup.stored, copy=1)), "knobs": setup.stored},
        "candidates": {},
    }
    if setup.has_defaults and setup.defaults != setup.stored:
        manifest["default"] = {"library": put(made(setup.scheduled, setup.defaults)), "knobs": setup.defaults}
    for number, knobs in enumerate(candidates(setup, trials)):
        progress.show(f"candidate {number + 1} of {trials}")
        try:
            manifest["candidates"][put(setup.workshop.make(knobs))] = knobs
        except NotBuilt as error:
            progress.line(f"left out, since it cannot be made: {error}")
    if not manifest["candidates"]:
        raise RunError("no candidate could be made")
    shutil.copy2(runner.path, os.path.join(out, "gyre_tune_runner"))
    with open(os.path.join(out, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)
    script = os.path.join(out, "run.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write(script_of(setup, manifest))
    os.chmod(script, 0o755)
    progress.line(
        f"{out}: {len(manifest['candidates'])} candidates of {setup.recipe.name} for {setup.recipe.target}; copy it onto the "
        f"device, run run.sh there, copy results/ back, and say: gyre tune import {out}"
    )


def candidates(setup, trials):
    """The start, and points at random: nobody is there to say which were good. The stored knobs are measured with all of them."""
    random = np.random.default_rng(setup.options.seed)
    points = [setup.start, *map(setup.space.point, random.permutation(len(setup.space))[: trials + 2])]
    new = {tuple(point.items()): point for point in points if point != setup.stored}
    return list(new.values())[:trials]


def script_of(setup, manifest):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "device.sh"), encoding="utf-8") as file:
        text = file.read()
    values = {
        "KERNEL": manifest["kernel"],
        "THREADS": manifest["threads"],
        "SHAPES": " ".join(setup.timed),
        "STORED": manifest["stored"]["library"],
        "AGAIN": manifest["again"]["library"],
        "DEFAULT": manifest.get("default", {}).get("library", ""),
        "CANDIDATES": " \\\n    ".join(manifest["candidates"]),
        "SECONDS": setup.options.trial_seconds,
        "HOPELESS": HOPELESS,
        "WORSE": WORSE,
        "FINALISTS": FINALISTS,
        "NEAR": NEAR,
        "FINAL_SECONDS": setup.options.final_seconds,
        "LIMIT_SECONDS": round(setup.limits.seconds),
        "LIMIT_MEMORY": setup.limits.mebibytes,
    }
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return text
