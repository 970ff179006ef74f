"""One study for each kernel that was named: search, decide, write."""

import json
import os
import subprocess

import acceptance
import provenance
from errors import RunError, refuse
from evaluation import Evaluation
from options import complete_shape
from progress import Progress
from recipes import Recipes
from runner import Limits, Runner
from search import Budget, search, text_of
from space import read_declaration, space_of
from study import Study, locked, open_storage
from tuning_file import TuningFile
from workshop import Workshop

MINUTES = 15


def host_target(build):
    """The best target that is linked into the build's program and that this machine can run."""
    program = os.path.join(build, "bin", "gyre")
    try:
        told = json.loads(subprocess.run([program, "info", "--json"], capture_output=True, text=True, check=True).stdout)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        refuse("--target host", f"{program} does not tell ({error})", "a build with its program, or a target's name")
    return next(target["name"] for target in told["targets"] if target["runnable"] and target["linked"])


class Setup:
    """What a study is about, from the options: the kernel with its space, shapes, reference and tools."""

    def __init__(self, options, recipes, recipe):
        self.options, self.recipes, self.recipe = options, recipes, recipe
        self.database = TuningFile(options.tuning or recipes.tuning, recipe.target)
        path = os.path.join(recipes.generators, recipe.operation, f"{recipe.operation}_knobs.json")
        declaration = read_declaration(path)
        self.shapes = [complete_shape(given, declaration["shape"], recipe.parameters) for given in options.shape or [{}]]
        stored, given = self.database.knobs(recipe), dict(options.knobs)
        for name in given:
            if name not in declaration["knobs"]:
                refuse(f"--knobs {name}", "not a knob", f"one of {', '.join(declaration['knobs'])}")
        self.space = space_of(declaration, path, recipe.variables(), include=(stored, given))
        self.stored, self.start = self.space.complete(stored), self.space.complete(given or stored)
        violated = self.space.violated(self.start)
        if violated:
            refuse("--knobs", " ".join(f"{name}={value}" for name, value in self.start.items()), f"knobs with {violated}")
        self.name = f"{recipe.name}__{recipe.target}-{options.study or f'{options.sampler}-{options.seed}'}"
        self.folder = os.path.join(options.studies, self.name)
        os.makedirs(self.folder, exist_ok=True)
        limits = Limits(options.limit_seconds, options.limit_memory)
        needed = [recipes.get(name, recipe.target) for name in declaration["needs"]]
        self.workshop = Workshop(recipes, recipe, [(each, self.database.knobs(each)) for each in needed], self.folder, limits)
        program = options.runner or os.path.join(options.build, "bin", "gyre_tune_runner")
        if not os.access(program, os.X_OK):
            refuse(f"--runner {program}", "cannot be run", "the program gyre_tune_runner, which `cmake/go tune` builds")
        self.runner = Runner(os.path.abspath(program), recipe.name, options.threads, limits)

    def identity(self):
        """What a study that is resumed must agree on, by the options that say it."""
        options = self.options
        return {"--shape": " ".join(self.shapes), "--threads": options.threads, "--sampler": options.sampler,
                "--seed": options.seed, "--knobs": dict(options.knobs), "generator": self.workshop.generator_digest}

    def open(self):
        storage, own = open_storage(self.options.storage, self.folder)
        study = Study(storage, self.name, self.identity(), own)
        study.remember("knobs", self.space.names)
        study.remember("kernel", {"name": self.recipe.name, "target": self.recipe.target, "defaults": self.space.defaults,
                                  "meanings": self.space.meanings, "points": len(self.space)})
        study.remember("machine", provenance.machine())
        return study


def tune(options):
    recipes = Recipes(options.build)
    target = host_target(options.build) if options.target == "host" else options.target
    setups = [Setup(options, recipes, recipe) for recipe in recipes.find(options.kernel, target)]
    progress = Progress()
    for setup in setups:
        study = setup.open()
        if study.own:
            with locked(setup.folder):
                run(setup, study, progress)
        else:
            run(setup, study, progress)


def run(setup, study, progress):
    options = setup.options
    reference = study.remember("reference", setup.stored)
    study.start_with(setup.start)
    progress.line(f"{study.name}: {len(setup.space)} points; reference {text_of(reference, {})}; {' and '.join(setup.shapes)}")
    budget = Budget(trials=options.trials) if options.trials else Budget(seconds=60 * (options.minutes or MINUTES))
    search(study, setup.space, Evaluation(setup.workshop, setup.runner, setup.shapes), reference, budget, options.sampler,
           options.seed, progress)
    conclude(setup, study, progress)


def conclude(setup, study, progress):
    """Measures the best again and stores it if it is better than what is stored."""
    options = setup.options
    ranked = [(trial.params, trial.value) for trial in study.best()]
    if not ranked:
        raise RunError(f"{study.name}: no candidate could be timed; the last said: {last_text(study)}")
    verdict = acceptance.measure(setup.workshop, setup.runner, setup.shapes, setup.stored, setup.space.defaults, ranked,
                                 options.final_seconds, progress)
    progress.line(f"{study.name}: {verdict.text}")
    study.optuna.set_user_attr("verdict", {"knobs": verdict.knobs, "accepted": verdict.accepted, "gain": verdict.gain,
                                           "noise": verdict.noise, "text": verdict.text, **verdict.evidence})
    study.optuna.set_user_attr("sessions", verdict.sessions)
    if verdict.knobs:
        progress.line(f"best: {text_of(verdict.knobs, {})}")
    if verdict.accepted and not options.no_write:
        setup.database.store(setup.recipe, verdict.knobs, evidence_of(setup, study, verdict))
        progress.line(f"written to {setup.database.path}; the next build makes the kernel with them")


def last_text(study):
    finished = study.finished()
    return finished[-1].user_attrs["record"]["text"] if finished else "nothing"


def evidence_of(setup, study, verdict):
    return {"date": provenance.today(), "commit": provenance.commit(setup.recipes.generators),
            "halide": provenance.halide_version(setup.recipes.halide_libraries), "machine": provenance.machine(),
            "threads": setup.options.threads, "shape": " and ".join(shape.replace(",", " ") for shape in setup.shapes),
            "verified": True, "candidates_tried": len(study.finished()),
            "sampler": f"{setup.options.sampler}, seed {setup.options.seed}", **verdict.evidence,
            "noise_percent": round(100 * verdict.noise, 2)}
