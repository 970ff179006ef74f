"""What becomes of one candidate: made, verified, timed beside the best so far and the reference, and recorded."""

import time

import timings
from study import TIMED
from workshop import NotBuilt

HOPELESS = 3.0  # times the best so far, by its first calls: not timed any further
WORSE = 1.06  # times the best so far: no need to know more precisely


class Evaluation:
    """reference, best: paths of libraries; best may be None. Candidates are verified before they are timed."""

    def __init__(self, setup, runner):
        self.workshop, self.runner, self.verification, self.timed = setup.workshop, runner, setup.verification, setup.timed
        self.seconds, self.shapes = setup.options.trial_seconds, len(setup.shapes)

    def record(self, knobs, reference, best, best_value):
        """{"outcome", "text", …}; with "value", the ratio to the reference's time, if it was timed."""
        begin = time.monotonic()
        try:
            library = self.workshop.make(knobs)
        except NotBuilt as error:
            return {"outcome": "timed out" if error.timed_out else "not built", "text": str(error)}
        made_seconds = round(time.monotonic() - begin, 3)
        libraries = {"reference": reference}
        if best and best != library:
            libraries["best"] = best
        libraries["candidate"] = library
        options = ["--verify", "candidate", *self.verification, "--seconds", self.seconds, *self.timed]
        if best_value is not None:
            options += ["--hopeless", best_value * HOPELESS, "--cut", best_value * WORSE]
        report = self.runner.run(libraries, *options, seconds=self.shapes * self.seconds)
        record = {**record_of(report), "made_seconds": made_seconds}
        if record["outcome"] not in TIMED:
            self.workshop.forget(library)
        elif "best" in libraries:
            record["to_best"] = timings.value(report.timed, "candidate", "best")
        return record


def record_of(report):
    """What is recorded of a candidate that could be made."""
    if report.outcome != "done":
        return {"outcome": report.outcome, "text": report.text}
    sessions = report.timed
    return {
        "outcome": "cut" if any(timed["cut"] for timed in sessions) else "timed",
        "text": "",
        "value": timings.value(sessions),
        "verified_calls": report.cases,
        "median_us": timings.microseconds(sessions, "candidate", 50),
        "reference_median_us": timings.microseconds(sessions, "reference", 50),
        "shapes": {timed["shape"]: timings.ratio(timed, "candidate", "reference") for timed in sessions},
    }
