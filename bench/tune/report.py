"""gyre tune report: what studies found, as pictures and one HTML page that holds them all."""

import os

import optuna
import report_figures as figures
from errors import RunError, refuse
from optuna.trial import TrialState
from progress import Progress
from report_comparison import comparison
from report_page import page
from study import FINISHED, open_storage

FEWEST_FOR_IMPORTANCE = 10  # timed trials
AUTOSCHEDULERS = ("adams2019", "mullapudi2016", "li2018")


class Result:
    """A study as the report sees it."""

    def __init__(self, study):
        self.name, attributes = study.study_name, study.user_attrs
        self.kernel, self.machine = attributes["kernel"], attributes["machine"]
        self.knobs, self.reference, self.identity = attributes["knobs"], attributes["reference"], attributes["identity"]
        self.verdict, self.sessions = attributes.get("verdict"), attributes.get("sessions", [])
        self.trials = [trial for trial in study.get_trials(deepcopy=False) if trial.state in FINISHED]
        self.timed = [trial for trial in self.trials if trial.state == TrialState.COMPLETE]
        self.autoscheduler = self.identity.get("--autoscheduler")
        self.importance = {}
        if len(self.timed) >= FEWEST_FOR_IMPORTANCE:
            self.importance = optuna.importance.get_param_importances(
                study, evaluator=optuna.importance.PedAnovaImportanceEvaluator()
            )

    @property
    def title(self):
        return f"{self.kernel['name']} on {self.kernel['target']}"

    def best(self):
        return min(self.timed, key=lambda trial: trial.value) if self.timed else None

    def minutes(self):
        return sum(record(trial).get("spent_seconds", 0) for trial in self.trials) / 60

    def outcomes(self):
        """{outcome: trials}, the most frequent first."""
        found = {}
        for trial in self.trials:
            found.setdefault(record(trial)["outcome"], []).append(trial)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def record(trial):
    return trial.user_attrs["record"]


def open_results(options):
    """The studies that were named, or all that there are."""
    names, loaded = options.study, {}
    if options.storage:
        storage, _ = open_storage(options.storage, None)
        loaded = {study.study_name: (storage, study.study_name) for study in optuna.get_all_study_summaries(storage)}
    elif os.path.isdir(options.studies):
        for name in sorted(os.listdir(options.studies)):
            folder = os.path.join(options.studies, name)
            if os.path.exists(os.path.join(folder, "study.db")):
                loaded[name] = (open_storage(None, folder)[0], name)
    for name in names:
        if name not in loaded:
            refuse(
                "study",
                f"'{name}'",
                f"one of {', '.join(loaded)}" if loaded else f"a study; there is none in {options.studies}",
            )
    results = [
        Result(optuna.load_study(study_name=name, storage=storage))
        for name, (storage, _) in loaded.items()
        if not names or name in names
    ]
    results = [result for result in results if result.trials]
    if not results:
        raise RunError(f"there are no trials to report of in {options.storage or options.studies}")
    return results


def report(options):
    progress = Progress()
    out = options.out or os.path.join(options.studies, "report")
    os.makedirs(out, exist_ok=True)
    kernels = {}
    for result in open_results(options):
        kernels.setdefault(result.title, []).append(result)
    sections = []
    for title, results in kernels.items():
        results.sort(
            key=lambda result: (AUTOSCHEDULERS.index(result.autoscheduler) + 1 if result.autoscheduler else 0, result.name)
        )
        progress.show(f"drawing {title}")
        file_name = title.replace(" on ", "__")
        pictures = {
            "comparison": comparison(results, os.path.join(out, f"{file_name}-comparison.png")),
            "curves": figures.curves(results, os.path.join(out, f"{file_name}-curves.png")),
        }
        for result in results:
            path = os.path.join(out, result.name)
            pictures[result.name] = {
                "effects": figures.effects(result, f"{path}-knobs.png"),
                "importance": figures.importance(result, f"{path}-importance.png"),
                "pairs": figures.pairs(result, f"{path}-pairs.png"),
            }
        sections.append((title, results, pictures))
    path = os.path.join(out, "report.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page(sections))
    progress.line(
        f"{path}: {len(sections)} kernel{'s' if len(sections) > 1 else ''}, "
        f"{sum(len(results) for _, results, _ in sections)} studies"
    )
