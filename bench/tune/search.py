"""The search: one candidate after the other until the budget is spent, and what is left to do at its end."""

import time

import numpy as np
from optuna.trial import TrialState
from progress import minutes
from sampling import Exhausted, distributions, make_sampler
from study import TIMED
from workshop import NotBuilt


class Budget:
    """So many trials, or so many seconds of this machine's, of the whole study: an interrupted one has the rest."""

    def __init__(self, trials=None, seconds=None):
        self.trials, self.seconds = trials, seconds

    def spent(self, study):
        return self.left(study)[0] <= 0

    def left(self, study):
        """What is left and how to say it."""
        if self.trials is not None:
            left = self.trials - len(study.finished())
            return left, f"{left} of {self.trials} trials left"
        left = self.seconds - study.spent_seconds()
        return left, f"{minutes(max(left, 0))} left"


def text_of(knobs, defaults):
    """The knobs that are not as they are by default."""
    return " ".join(f"{name}={value}" for name, value in knobs.items() if value != defaults.get(name)) or "defaults"


def spread(study):
    """How much the reference's time has varied so far: the machine, not the candidates."""
    times = [trial.user_attrs["record"]["reference_median_us"] for trial in study.trials(TrialState.COMPLETE)]
    return (np.quantile(times, 0.9) - np.quantile(times, 0.1)) / np.median(times) if len(times) > 2 else 0


def search(study, space, evaluation, reference, budget, sampler_name, seed, progress):
    """Runs trials until the budget is spent or every point was tried. reference: the library that all are timed beside."""
    workshop = evaluation.workshop
    if study.own:
        workshop.clean()
    again = study.recover()
    if again:
        progress.line(f"{again} interrupted trial{'s' if again > 1 else ''} will be tried again")
    # The number of trials goes into the seed, so that a resumed study does not repeat what it has proposed before.
    sampler = make_sampler(sampler_name, space, [seed, len(study.trials())], study.mark_worker)
    while not budget.spent(study):
        if sampler.exhausted(study.optuna) and not study.trials(TrialState.WAITING):
            progress.line("every point of the search space has been tried")
            break
        begin = time.monotonic()
        try:
            trial = study.ask(sampler, distributions(space))
        except Exhausted as exhausted:
            study.optuna.tell(exhausted.number, state=TrialState.FAIL)
            continue
        best = study.best()[:1]
        best_value = best[0].value if best else None
        progress.show(
            f"trial {trial.number}: best {'not known' if best_value is None else f'{best_value:.3f}'}, "
            f"machine's spread {100 * spread(study):.0f} %, {budget.left(study)[1]}; {text_of(trial.params, space.defaults)}",
            budget.left(study)[0] if budget.trials is None else None,
        )
        best_library = library_of(workshop, best[0].params) if best else None
        record = evaluation.record(trial.params, reference, best_library, best_value)
        record["spent_seconds"] = round(time.monotonic() - begin, 3)
        study.tell(trial.number, record)
        better = record["outcome"] in TIMED and (best_value is None or record["value"] < best_value)
        # A terminal keeps what is worth reading later; the live line has shown the others.
        if better or not progress.live or record["outcome"] not in TIMED:
            progress.line(line_of(trial, record, better, space))


def library_of(workshop, knobs):
    """None if it cannot be made any more: the search goes on without."""
    try:
        return workshop.make(knobs)
    except NotBuilt:
        return None


def line_of(trial, record, better, space):
    result = f"{record['value']:.3f}{' best' if better else ''}" if record["outcome"] in TIMED else record["outcome"]
    said = f"   {record['text'].splitlines()[0][:160]}" if record["text"] else ""
    return f"trial {trial.number:4}  {result:10}  {text_of(trial.params, space.defaults)}{said}"
