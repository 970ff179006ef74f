"""gyre tune import: what a device measured becomes trials of a study, and its final session decides as one here would."""

import json
import os

import optuna
from acceptance import verdict
from choice import check_writable
from errors import RunError, refuse
from evaluation import record_of
from options import parse
from progress import Progress
from recipes import Recipes
from runner import judge_text
from sampling import distributions
from setup import Setup
from study import TIMED
from tuning import store_verdict


def read_manifest(folder):
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        return refuse(f"folder {folder}", f"no bundle ({error})", "a folder that gyre tune export made")


def read_result(folder, library):
    path = os.path.join(folder, "results", library + ".json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return judge_text(file.read())


def machine_of(folder):
    path = os.path.join(folder, "results", "machine")
    if not os.path.exists(path):
        raise RunError(f"{path} is missing: has run.sh come to its end on the device?")
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    return ", ".join(reversed(lines))


def import_bundle(options):
    manifest = read_manifest(options.folder)
    machine = machine_of(options.folder)
    progress = Progress()
    setup = setup_of(options, manifest)
    check_writable(setup.options, setup.recipes, setup.recipe)
    study = setup.open()
    if study.optuna.user_attrs["identity"] != manifest["identity"]:
        refuse(f"folder {options.folder}", "made with other options than those it says", "a bundle as it was exported")
    study.optuna.set_user_attr("machine", machine)
    known = {trial.user_attrs.get("imported") for trial in study.trials()}
    added = 0
    for library, knobs in manifest["candidates"].items():
        report = read_result(options.folder, library)
        if report is None or library in known:
            continue
        study.optuna.add_trial(trial_of(setup, knobs, record_of(report), library))
        added += 1
    progress.line(f"{study.name}: {added} candidates that {machine} has tried")
    final = read_result(options.folder, "final")
    if final is None or not final.timed:
        raise RunError(f"results/final.json is missing in {options.folder}: has run.sh come to its end on the device?")
    by_name = {os.path.splitext(library)[0]: knobs for library, knobs in manifest["candidates"].items()}
    finalists = {role: by_name[role] for role in final.timed[0]["seconds"] if role in by_name}
    stored_then, stored_now = manifest["stored"]["knobs"], setup.stored
    if stored_then != stored_now:
        raise RunError(
            f"{setup.database.path} has changed since the bundle was made: export it again to compare with its knobs"
        )
    store_verdict(setup, study, verdict(final.timed, finalists), machine, progress)


def setup_of(options, manifest):
    """The setup that the bundle was made with, on this machine's build."""
    identity = manifest["identity"]
    words = [
        manifest["kernel"],
        "--target",
        manifest["target"],
        "--seed",
        str(manifest["seed"]),
        "--threads",
        str(manifest["threads"]),
        "--study",
        manifest["study"].rpartition("__")[2].partition("-")[2],
        "--sampler",
        identity["--sampler"],
        "--build",
        options.build,
        "--studies",
        options.studies,
    ]
    for shape in manifest["shapes"]:
        words += ["--shape", shape]
    if identity["--knobs"]:
        words += ["--knobs", *(f"{name}={value}" for name, value in identity["--knobs"].items())]
    words += ["--tuning", options.tuning] if options.tuning else []
    words += ["--storage", options.storage] if options.storage else []
    words += ["--no-write"] if options.no_write else []
    words += ["--force"] if options.force else []
    given = parse(words, options.build)
    recipes = Recipes(options.build)
    return Setup(given, recipes, recipes.get(manifest["kernel"], manifest["target"]))


def trial_of(setup, knobs, record, library):
    timed = record["outcome"] in TIMED
    state = optuna.trial.TrialState.COMPLETE if timed else optuna.trial.TrialState.PRUNED
    return optuna.trial.create_trial(
        params=knobs,
        distributions=distributions(setup.space),
        state=state,
        value=record["value"] if timed else None,
        user_attrs={"record": record, "worker": {"host": "", "boot": "", "pid": 0, "started": 0}, "imported": library},
    )
