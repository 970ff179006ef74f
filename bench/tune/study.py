"""A study: the trials of one kernel, kept in Optuna's storage so that they outlive this process.

Each trial carries two attributes: `worker`, from the moment it exists, and `record`, once its outcome is known. A trial that a
killed process left running is either finished from its record or queued again with the same knobs.
"""

import contextlib
import fcntl
import os
import time
import warnings

import optuna
from errors import RunError, refuse
from optuna.trial import TrialState
from worker import is_gone, this_worker

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)

OPENING_ATTEMPTS = 5
TIMED, FINISHED = ("timed", "cut"), (TrialState.COMPLETE, TrialState.PRUNED)


def open_storage(url, folder):
    """The storage and whether it is the study's own file, which nobody else uses while its lock is held."""
    own = url is None
    if own:
        os.makedirs(folder, exist_ok=True)
        url = "sqlite:///" + os.path.join(os.path.abspath(folder), "study.db")
    for attempt in range(OPENING_ATTEMPTS):
        try:
            return optuna.storages.RDBStorage(url), own
        except Exception as error:  # of SQLAlchemy and of the database's own driver, which need not be known here
            said = str(error).splitlines()[0]
            # Another process that makes the same tables at this moment is seen as an error, and gone when tried again.
            time.sleep(0.3 if attempt + 1 < OPENING_ATTEMPTS and "already exists" in said else 0)
    return refuse(
        f"--storage {url}", f"cannot be opened ({said})", "a database URL as SQLAlchemy reads it, such as sqlite:///trials.db"
    )


@contextlib.contextmanager
def locked(folder, own, busy="another gyre tune works on this study; name another with --study"):
    """One process at a time works on a study that has its own file; a shared database is made for several."""
    if not own:
        yield
        return
    with open(os.path.join(folder, "lock"), "a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RunError(f"{folder}: {busy}") from None
        yield


class Study:
    def __init__(self, storage, name, identity, own):
        """identity: {option: value} that must be what the study began with."""
        self.name, self.own, self.storage = name, own, storage
        self.optuna = optuna.create_study(storage=storage, study_name=name, load_if_exists=True)
        known = self.optuna.user_attrs.get("identity")
        if known is None:
            self.optuna.set_user_attr("identity", identity)
        for option, value in identity.items():
            if known is not None and known.get(option) != value:
                refuse(
                    f"{option}",
                    f"'{value}', but study {name} began with '{known.get(option)}'",
                    "the same, or another study by --study NAME",
                )

    def remember(self, key, value):
        """Stores a value the first time; returns what is stored."""
        if key not in self.optuna.user_attrs:
            self.optuna.set_user_attr(key, value)
        return self.optuna.user_attrs[key]

    def trials(self, *states):
        return self.optuna.get_trials(deepcopy=False, states=states or None)

    def finished(self):
        """Trials whose outcome is known, whatever it was."""
        return self.trials(*FINISHED)

    def best(self):
        """Timed trials, best first."""
        return sorted(self.trials(TrialState.COMPLETE), key=lambda trial: trial.value)

    def spent_seconds(self):
        """What this machine has spent on finished trials."""
        host = this_worker()["host"]
        return sum(
            trial.user_attrs["record"].get("spent_seconds", 0)
            for trial in self.finished()
            if trial.user_attrs["worker"]["host"] == host
        )

    def start_with(self, *points):
        """Points that a new study tries first."""
        if not self.trials():
            for knobs in points:
                self.optuna.enqueue_trial(knobs, user_attrs={"start": True})

    def ask(self, sampler, knob_distributions):
        self.optuna.sampler = sampler
        return self.optuna.ask(fixed_distributions=knob_distributions)

    def mark_worker(self, number):
        self._set(number, "worker", this_worker())

    def tell(self, number, record):
        """record: {"outcome", "text", …}, with "value" if it was timed."""
        self._set(number, "record", record)
        self._finish(number, record)

    def _set(self, number, key, value):
        study = self.storage.get_study_id_from_name(self.name)
        trial = self.storage.get_trial_id_from_study_id_trial_number(study, number)
        self.storage.set_trial_user_attr(trial, key, value)

    def _finish(self, number, record):
        # A failed candidate is told as pruned: Optuna's samplers learn from those to keep away, and ignore failed trials.
        timed = record["outcome"] in TIMED
        self.optuna.tell(number, record["value"] if timed else None, state=TrialState.COMPLETE if timed else TrialState.PRUNED)

    def recover(self):
        """Finishes or queues again what workers that are gone left running. Returns how many were queued."""
        queued = 0
        retried = {trial.user_attrs.get("retry_of") for trial in self.trials()}
        for trial in self.trials(TrialState.RUNNING):
            worker = trial.user_attrs.get("worker")
            if not self.own and (worker is None or not is_gone(worker)):
                continue
            if "record" in trial.user_attrs:
                self._finish(trial.number, trial.user_attrs["record"])
                continue
            knobs = trial.system_attrs.get("fixed_params", trial.params)
            if set(knobs) == set(self.optuna.user_attrs["knobs"]) and trial.number not in retried:
                self.optuna.enqueue_trial(knobs, user_attrs={"retry_of": trial.number})
                queued += 1
            self.optuna.tell(trial.number, state=TrialState.FAIL)
        return queued
