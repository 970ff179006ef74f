"""What a study is about, from the options: a kernel, its space, shapes and stored knobs, and what makes and runs candidates."""

import os

import provenance
from choice import check_tunable, space_path
from errors import refuse
from programs import find_runner
from runner import Limits, Runner
from shapes import complete_shape
from space import folder_of, knob_range, read_declaration, space_of
from study import Study, open_storage
from tuning_file import TuningFile
from workshop import Plan, Workshop


def sources_of(generators, operation):
    """A digest of what the operation's kernels are made from."""
    folders = [folder_of(generators, operation), *(os.path.join(generators, name) for name in ("common", "math", "passes"))]
    return provenance.sources_digest(*folders)


class Setup:
    def __init__(self, options, recipes, recipe):
        self.options, self.recipes, self.recipe = options, recipes, recipe
        self.autoscheduler = getattr(options, "autoscheduler", None)
        self.tuning = options.tuning or recipes.tuning
        self.database = TuningFile(self.tuning, recipe.target)
        check_tunable(recipes, recipe)
        path = space_path(recipes, recipe)
        declaration = read_declaration(path)
        if recipe.parameters.get("partial") == "true":
            declaration = {**declaration, **declaration["partial"]}
        if recipe.registered:
            self.check_own(options)
            self.shapes = ["estimates=1"]
        else:
            given_shapes = options.shape or [{}]
            self.shapes = [complete_shape(given, declaration["shape"], recipe.parameters) for given in given_shapes]
        self.timed = [word for shape in self.shapes for word in ("--shape", shape)]
        # An autoscheduler's kernels round lengths up, and are right only where there is nothing to round.
        self.verification, self.thorough = [], ["--thorough"]
        if self.autoscheduler:
            self.verification = ["--only-timed"]
            self.thorough = ["--only-timed", *self.timed, "--seconds", 0, "--fewest-rounds", 1]
        stored, given = self.stored_knobs(recipe), dict(options.knobs)
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
            if not self.autoscheduler:
                least, most = knob_range(declaration["knobs"][name])
                if not least <= given[name] <= most:
                    refuse(f"--knobs {name}={given[name]}", "outside the knob's range", f"{least} to {most}")
        self.start = self.space.complete(given) if given else self.space.nearest_valid(stored)
        violated = self.space.violated(self.start)
        if violated:
            refuse("--knobs", " ".join(f"{name}={value}" for name, value in self.start.items()), f"knobs with {violated}")
        self.name = f"{recipe.name}__{recipe.target}-{options.study or f'{by}-{options.seed}'}"
        self.folder = os.path.join(options.studies, self.name)
        self.limits = Limits(options.limit_seconds, options.limit_memory)
        names = [name.format(dtype=recipe.dtype) for name in declaration.get("needs", ())]
        needed = [recipes.serving(name, recipe.target) for name in names]
        needed = [(each, self.stored_knobs(each)) for each in needed]
        # Stored and default knobs are always the hand-written schedule's; candidates, if asked for, an autoscheduler's.
        self.scheduled = Workshop(recipes, recipe, needed, self.folder, self.limits)
        self.workshop = Workshop(recipes, recipe, needed, self.folder, self.limits, plan)

    @staticmethod
    def check_own(options):
        """Refuses options that a generator of gyre_add_generator() has not: its tensors are those of its estimates."""
        if options.shape:
            refuse("--shape", "given for a generator of gyre_add_generator()", "set_estimates() in the generator")
        if options.threads != 1:
            refuse("--threads", f"{options.threads} for a generator of gyre_add_generator()", "1")

    def stored_knobs(self, recipe):
        """The knobs that the tuning database has. A project's tuning files have any names, so unless --tuning names a folder, its kernels'
        knobs are those that it was configured with."""
        if not self.recipes.of_a_project:
            return TuningFile(self.tuning, recipe.target).knobs(recipe)
        found = TuningFile(self.options.tuning, recipe.target).knobs(recipe) if self.options.tuning else {}
        return found or {name: int(value) for name, value in recipe.knobs.items()}

    def autoscheduled(self, options):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "autoschedulers.json")
        declaration = read_declaration(path)[options.autoscheduler]
        plugin = os.path.join(self.recipes.halide_libraries, declaration["plugin"])
        if not os.path.exists(plugin):
            refuse(f"--autoscheduler {options.autoscheduler}", f"{plugin} is missing", "a Halide with its autoschedulers")
        words = ("-p", plugin, f"autoscheduler={declaration['name']}")
        return space_of(declaration, path, {}, include=(dict(options.knobs),)), Plan(words, "autoscheduler.")

    def make_runner(self):
        return Runner(find_runner(self.options), self.recipe.name, self.options.threads, self.limits)

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
            "sources": sources_of(recipes.generators, self.recipe.operation),
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
