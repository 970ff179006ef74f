"""What a study is about, from the options: a kernel, its space, shapes and stored knobs, and what makes and runs candidates."""

import json
import os
import subprocess

import provenance
from errors import refuse
from runner import Limits, Runner
from shapes import complete_shape
from space import read_declaration, space_of
from study import Study, open_storage
from tuning_file import TuningFile
from workshop import Plan, Workshop


def targets_of(options):
    """The target that was asked for; for host, those of the build's program that this machine can run, best first."""
    if options.target != "host":
        return [options.target]
    program = os.path.join(options.build, "bin", "gyre")
    try:
        told = json.loads(subprocess.run([program, "info", "--json"], capture_output=True, text=True, check=True).stdout)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        refuse("--target host", f"{program} does not tell ({error})", "a build with its program, or a target's name")
    return [target["name"] for target in told["targets"] if target["runnable"] and target["linked"]]


class Setup:
    def __init__(self, options, recipes, recipe):
        self.options, self.recipes, self.recipe = options, recipes, recipe
        self.autoscheduler = getattr(options, "autoscheduler", None)
        self.tuning = options.tuning or recipes.tuning
        self.database = TuningFile(self.tuning, recipe.target)
        path = os.path.join(recipes.generators, recipe.operation, f"{recipe.operation}_knobs.json")
        if not os.path.exists(path):
            refuse("kernel", f"'{recipe.name}' has no knobs", "a kernel whose operation has a search space")
        for parameter, family, other_family in (("value_blocks", "_value_blocks_", "_"), ("dropout", "_dropout_", "_general_")):
            if recipe.parameters.get(parameter) == "true":
                other = recipe.name.replace(family, other_family)
                refuse("kernel", f"'{recipe.name}' has the knobs of {other}", other)
        declaration = read_declaration(path)
        if recipe.parameters.get("partial") == "true":
            declaration = {**declaration, **declaration["partial"]}
        self.shapes = [complete_shape(given, declaration["shape"], recipe.parameters) for given in options.shape or [{}]]
        self.timed = [word for shape in self.shapes for word in ("--shape", shape)]
        # An autoscheduler's kernels round lengths up, and are right only where there is nothing to round.
        self.verification, self.thorough = [], ["--thorough"]
        if self.autoscheduler:
            self.verification = ["--only-timed"]
            self.thorough = ["--only-timed", *self.timed, "--seconds", 0, "--fewest-rounds", 1]
        stored, given = self.database.knobs(recipe), dict(options.knobs)
        scheduled = space_of(
            declaration, path, recipe.variables(), include=(stored, given) if not self.autoscheduler else (stored,)
        )
        self.stored, self.defaults = scheduled.nearest_valid(stored), scheduled.defaults
        self.has_defaults = scheduled.violated(self.defaults) is None  # not on every target
        self.space, plan, by = scheduled, Plan(), options.sampler
        if self.autoscheduler:
            self.space, plan, by = *self.autoscheduled(options), self.autoscheduler
            stored = {}
        for name in given:
            if name not in self.space.names:
                refuse(f"--knobs {name}", "not a knob", f"one of {', '.join(self.space.names)}")
        self.start = self.space.complete(given) if given else self.space.nearest_valid(stored)
        violated = self.space.violated(self.start)
        if violated:
            refuse("--knobs", " ".join(f"{name}={value}" for name, value in self.start.items()), f"knobs with {violated}")
        self.name = f"{recipe.name}__{recipe.target}-{options.study or f'{by}-{options.seed}'}"
        self.folder = os.path.join(options.studies, self.name)
        self.limits = Limits(options.limit_seconds, options.limit_memory)
        names = [name.format(dtype=recipe.dtype) for name in declaration["needs"]]
        needed = [recipes.serving(name, recipe.target) for name in names]
        needed = [(each, TuningFile(self.tuning, each.target).knobs(each)) for each in needed]
        # Stored and default knobs are always the hand-written schedule's; candidates, if asked for, an autoscheduler's.
        self.scheduled = Workshop(recipes, recipe, needed, self.folder, self.limits)
        self.workshop = Workshop(recipes, recipe, needed, self.folder, self.limits, plan)

    def autoscheduled(self, options):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "autoschedulers.json")
        declaration = read_declaration(path)[options.autoscheduler]
        plugin = os.path.join(self.recipes.halide_libraries, declaration["plugin"])
        if not os.path.exists(plugin):
            refuse(f"--autoscheduler {options.autoscheduler}", f"{plugin} is missing", "a Halide with its autoschedulers")
        words = ("-p", plugin, f"autoscheduler={declaration['name']}")
        return space_of(declaration, path, {}, include=(dict(options.knobs),)), Plan(words, "autoscheduler.")

    def make_runner(self):
        program = self.options.runner or os.path.join(self.options.build, "bin", "gyre_tune_runner")
        if not os.access(program, os.X_OK):
            refuse(f"--runner {program}", "cannot be run", "the program gyre_tune_runner, which `cmake/go tune` builds")
        return Runner(os.path.abspath(program), self.recipe.name, self.options.threads, self.limits)

    def identity(self):
        """What a study that is resumed must agree on, by the options that say it."""
        options, recipes = self.options, self.recipes
        return {
            "--shape": " ".join(self.shapes),
            "--threads": options.threads,
            "--sampler": options.sampler,
            "--seed": options.seed,
            "--knobs": dict(options.knobs),
            "--autoscheduler": self.autoscheduler,
            "sources": provenance.sources_digest(
                *(os.path.join(recipes.generators, name) for name in (self.recipe.operation, "common"))
            ),
        }

    def open(self):
        os.makedirs(self.folder, exist_ok=True)
        storage, own = open_storage(self.options.storage, self.folder)
        study = Study(storage, self.name, self.identity(), own)
        study.remember("knobs", self.space.names)
        study.remember(
            "kernel",
            {
                "name": self.recipe.name,
                "target": self.recipe.target,
                "defaults": self.space.defaults,
                "meanings": self.space.meanings,
                "points": len(self.space),
            },
        )
        study.remember("machine", provenance.machine())
        study.remember("reference", self.stored)
        return study
