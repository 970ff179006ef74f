"""One study for each kernel that was named: search, decide, write."""

import json
import sys

import acceptance
import provenance
from acceptance import made
from choice import check_writable, chosen
from errors import RunError, UsageError
from evaluation import Evaluation
from history import History
from programs import find_runner
from progress import Progress, Whole
from recipes import Recipes
from search import Budget, search, text_of
from setup import Setup
from study import locked
from tuning_file import TuningFile

MINUTES = 15


def tune(options):
    recipes = Recipes(options.build)
    found, left_out = chosen(options, recipes)
    progress = Progress(sys.stderr if options.json else sys.stdout)
    if options.list:
        show(found, left_out, options, recipes, progress)
        return
    for recipe in found:
        check_writable(options, recipes, recipe)
    if len(found) > 1:
        find_runner(options)  # what would fail for each fails once
    failures, studies = [], []
    for number, recipe in enumerate(found):
        progress.whole = Whole(number, len(found), seconds_of_each(options)) if len(found) > 1 else None
        try:
            setup = Setup(options, recipes, recipe)
            runner = setup.make_runner()
            study = setup.open()
            with locked(setup.folder, study.own):
                run(setup, study, runner, progress)
                studies.append(told(setup, study))
        except (RunError, UsageError) as error:
            if len(found) == 1:
                raise
            failures.append(recipe.name)
            progress.line(f"{recipe.name}: {error}")
    if options.json:
        print(json.dumps(studies))
    if failures:
        raise RunError(f"{len(failures)} of {len(found)} kernels failed: {', '.join(failures)}")


def told(setup, study):
    """A study for other programs: its trials in turn, and what was decided."""
    verdict = study.optuna.user_attrs["verdict"]
    trials = [
        {"knobs": trial.params, "outcome": trial.user_attrs["record"]["outcome"], "time": trial.value}
        for trial in study.finished()
    ]
    return {
        "name": study.name,
        "kernel": setup.recipe.name,
        "target": setup.recipe.target,
        "reference": study.optuna.user_attrs["reference"],
        "best": verdict["knobs"],
        "accepted": verdict["accepted"],
        "gain": verdict["gain"],
        "noise": verdict["noise"],
        "verdict": verdict["text"],
        "trials": trials,
    }


def show(found, left_out, options, recipes, progress):
    """A line for each kernel."""
    for recipe in found:
        setup = Setup(options, recipes, recipe)
        stored = text_of(setup.stored, setup.defaults)
        progress.line(f"{recipe.name}  {recipe.target}  {len(setup.space)} points  stored: {stored}")
    for reason in left_out:
        progress.line(f"left out: {reason}")


def seconds_of_each(options):
    """What a study takes, about; None where trials are counted."""
    final = options.final_seconds * max(len(options.shape or ()), 1)
    return None if options.trials else 60 * (options.minutes or MINUTES) + final


def run(setup, study, runner, progress):
    look_for_better(setup, study, runner, progress)
    conclude(setup, study, runner, progress)


def look_for_better(setup, study, runner, progress, first=()):
    """Tries candidates until the study's budget is spent. first: points that a new study tries first, after its start."""
    options = setup.options
    reference = study.optuna.user_attrs["reference"]
    study.start_with(setup.start, *first)
    progress.line(f"{study.name}: {len(setup.space)} points; reference {text_of(reference, {})}; {' and '.join(setup.shapes)}")
    budget = Budget(trials=options.trials) if options.trials else Budget(seconds=60 * (options.minutes or MINUTES))
    search(
        study,
        setup.space,
        Evaluation(setup, runner),
        made(setup.scheduled, reference),
        budget,
        options.sampler,
        options.seed,
        progress,
    )


def conclude(setup, study, runner, progress):
    """Measures the best again and stores it if it is better than what is stored."""
    verdict = acceptance.measure(setup, runner, ranked(study), progress)
    store_verdict(setup, study, verdict, provenance.machine(), progress)


def ranked(study):
    """(knobs, value) of the candidates that were timed, best first."""
    found = [(trial.params, trial.value) for trial in study.best()]
    if not found:
        raise RunError(f"{study.name}: no candidate could be timed; the last: {last_text(study)}")
    return found


def store_verdict(setup, study, verdict, machine, progress):
    progress.line(f"{study.name}: {verdict.text}")
    study.optuna.set_user_attr(
        "verdict",
        {
            "knobs": verdict.knobs,
            "accepted": verdict.accepted,
            "gain": verdict.gain,
            "noise": verdict.noise,
            "text": verdict.text,
            **verdict.evidence,
        },
    )
    study.optuna.set_user_attr("sessions", verdict.sessions)
    if verdict.knobs:
        progress.line(f"best: {text_of(verdict.knobs, {})}")
    if verdict.accepted and not setup.options.no_write and not setup.autoscheduler:
        store(setup, verdict.knobs, evidence_of(setup, study, verdict, machine), progress)


def store(setup, knobs, evidence, progress):
    database, recipe = TuningFile(setup.tuning, setup.recipe.target), setup.recipe  # read again: others may have written
    before = database.entry(recipe.name)
    database.store(recipe, knobs, evidence)
    history = History(setup.options.studies)
    history.add(
        kernel=recipe.name, target=recipe.target, folder=setup.tuning, before=before, after=database.entry(recipe.name)
    )
    function = "gyre_add_generator" if setup.recipe.registered else "gyre_add_kernels"
    then = f"give it to {function}() as TUNING" if setup.recipes.of_a_project else "the next build makes the kernel with them"
    progress.line(f"written to {database.path}; {then} (gyre tune revert {recipe.name} takes it back)")


def last_text(study):
    finished = study.finished()
    if not finished:
        return "none was finished"
    record = finished[-1].user_attrs["record"]
    return f"{record['outcome']}: {record['text']}"


def evidence_of(setup, study, verdict, machine):
    return {
        "date": provenance.today(),
        "commit": provenance.commit(setup.recipes.generators),
        "halide": provenance.halide_version(setup.recipes.halide_libraries),
        "machine": machine,
        "threads": setup.options.threads,
        "shape": " and ".join(shape.replace(",", " ") for shape in setup.shapes),
        "verified": True,
        "candidates_tried": len(study.finished()),
        "sampler": f"{setup.options.sampler}, seed {setup.options.seed}",
        **verdict.evidence,
        "noise_percent": round(100 * verdict.noise, 2),
    }
