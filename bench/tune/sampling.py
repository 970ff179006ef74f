"""Optuna's samplers on spaces with conditions between knobs: a proposal becomes the nearest valid point that nobody has tried."""

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution, IntDistribution
from optuna.trial import TrialState

REFINED = 0.5  # share of the proposals that stay near one of the best
CENTRES = (0.6, 0.25, 0.15)  # how often the best, the second and the third are stayed near to
STARTUP = 12  # trials before there is something to learn from
LOGARITHMIC_FROM = 8  # ratio of a knob's largest and least value from which steps are ratios, not differences


def distribution(values, ordered):
    if len(values) == 1 or not ordered:
        return CategoricalDistribution(values)
    least, most = values[0], values[-1]
    return IntDistribution(least, most, log=least >= 1 and most >= LOGARITHMIC_FROM * least)


def distributions(space):
    return {name: distribution(values, space.ordered[name]) for name, values in space.values.items()}


class Exhausted(Exception):
    """Other processes have taken the last points since this one asked; `number` is the trial that has none."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


class UntriedPoints(optuna.samplers.BaseSampler):
    """Proposes what `inner` does (None: points at random; "grid": one after the other; "near": near the best ones), made valid and new.

    `on_trial(number)` is called as soon as a trial exists, before it has knobs.
    """

    def __init__(self, space, inner, seed, on_trial):
        self.space, self.inner, self.on_trial = space, inner, on_trial
        self.random = np.random.default_rng(seed)

    def before_trial(self, study, trial):
        self.on_trial(trial.number)

    def infer_relative_search_space(self, study, trial):
        return distributions(self.space)

    def sample_relative(self, study, trial, search_space):
        if "fixed_params" in trial.system_attrs:
            return {}  # queued: its knobs are known
        taken = self.taken(study, trial.number)
        free = np.flatnonzero(~taken)
        if not len(free):
            raise Exhausted(trial.number)
        if self.inner == "grid":
            return self.space.point(free[0])
        if self.inner == "near" or (self.inner is not None and self.random.random() < REFINED):
            near = np.flatnonzero(self.near_the_best(study) & ~taken)
            if len(near):
                return self.space.point(int(self.random.choice(near)))
        wanted = self.space.point(int(self.random.choice(free)))
        if self.inner not in (None, "near"):
            wanted.update(self.inner.sample_relative(study, trial, self.inner.infer_relative_search_space(study, trial)))
        return self.space.point(self.space.nearest(wanted, taken, self.random))

    def near_the_best(self, study):
        """The neighbours of one of the best trials. TPE alone, whose models are smooth, takes long from near an optimum to it."""
        timed = sorted(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)), key=lambda trial: trial.value)
        if len(timed) < (1 if self.inner == "near" else STARTUP):
            return np.zeros(len(self.space), bool)
        centre = self.random.choice(len(CENTRES), p=CENTRES)
        row = self.space.row(timed[min(centre, len(timed) - 1)].params)
        return self.space.neighbours(row) if row is not None else np.zeros(len(self.space), bool)

    def exhausted(self, study):
        return bool(self.taken(study).all())

    def sample_independent(self, study, trial, param_name, param_distribution):
        raise AssertionError("every knob is sampled together with the others")

    def taken(self, study, number=None):
        """A mask over points: those of other trials, finished, running or queued. Interrupted ones are queued again."""
        taken = np.zeros(len(self.space), bool)
        for other in study.get_trials(deepcopy=False):
            knobs = other.params or other.system_attrs.get("fixed_params", {})
            if other.number != number and other.state != TrialState.FAIL and set(knobs) == set(self.space.names):
                row = self.space.row(knobs)
                if row is not None:
                    taken[row] = True
        return taken


def make_sampler(name, space, seed, on_trial):
    """name: "tpe", "random", "grid" or "near". seed: a number or several."""
    inner = {"random": None, "grid": "grid", "near": "near"}.get(name)
    if name == "tpe":
        inner = optuna.samplers.TPESampler(
            seed=int(np.random.default_rng(seed).integers(1 << 31)),
            multivariate=True,
            constant_liar=True,
            n_startup_trials=STARTUP,
        )
    return UntriedPoints(space, inner, seed, on_trial)
