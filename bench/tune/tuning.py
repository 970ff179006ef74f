"""One study for each kernel that was named: search, decide, write."""

import acceptance
import provenance
from acceptance import made
from errors import RunError
from evaluation import Evaluation
from progress import Progress
from recipes import Recipes
from search import Budget, search, text_of
from setup import Setup, targets_of
from study import locked

MINUTES = 15


def tune(options):
    recipes = Recipes(options.build)
    setups = [Setup(options, recipes, recipe) for recipe in recipes.find(options.kernel, targets_of(options))]
    progress = Progress()
    for setup in setups:
        runner = setup.make_runner()
        study = setup.open()
        with locked(setup.folder, study.own):
            run(setup, study, runner, progress)


def run(setup, study, runner, progress):
    options = setup.options
    reference = study.optuna.user_attrs["reference"]
    study.start_with(setup.start)
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
    conclude(setup, study, runner, progress)


def conclude(setup, study, runner, progress):
    """Measures the best again and stores it if it is better than what is stored."""
    ranked = [(trial.params, trial.value) for trial in study.best()]
    if not ranked:
        raise RunError(f"{study.name}: no candidate could be timed; the last: {last_text(study)}")
    store_verdict(setup, study, acceptance.measure(setup, runner, ranked, progress), provenance.machine(), progress)


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
        setup.database.store(setup.recipe, verdict.knobs, evidence_of(setup, study, verdict, machine))
        progress.line(f"written to {setup.database.path}; the next build makes the kernel with them")


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
