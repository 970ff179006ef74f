"""Whether a study's best beats the stored knobs: measured again, all in one long session, against the noise of that session.

The noise is measured A/A: the stored knobs' library is there twice, and how far the two differ in stretches of the session is
how far any two may differ by chance. What was best in many short sessions is often only luckiest, so the first few are measured,
and verified more thoroughly.
"""

from dataclasses import dataclass

import numpy as np
import timings
from errors import RunError
from search import library_of
from workshop import NotBuilt

FINALISTS = 3
NEAR = 1.05  # times the best value: what is slower is no finalist
BLOCKS = 10
QUANTILE = 0.9  # of the A/A differences


@dataclass
class Verdict:
    knobs: dict  # of the best finalist; None: there is none
    accepted: bool
    gain: float  # 1 - ratio of times
    noise: float
    evidence: dict  # measured times
    text: str
    sessions: list


def judge(sessions, finalists):
    """(role, ratio to the stored knobs, noise, whether nearly every stretch of the session agrees) of the best finalist."""

    def middle(role):
        return float(np.median(timings.block_ratios(sessions, role, "stored", BLOCKS)))

    best = min(finalists, key=middle)
    alike = np.abs(np.log(timings.block_ratios(sessions, "again", "stored", BLOCKS)))
    noise = float(np.exp(np.quantile(alike, QUANTILE)) - 1)
    steady = float(np.quantile(timings.block_ratios(sessions, best, "stored", BLOCKS), QUANTILE)) < 1
    return best, middle(best), noise, steady


def measure(setup, runner, candidates, progress):
    """candidates: (knobs, value), best first. Verifies each thoroughly, then times them all together; returns a Verdict."""
    seconds = setup.options.final_seconds
    libraries = {"stored": made(setup.scheduled, setup.stored), "again": made(setup.scheduled, setup.stored, copy=1)}
    if setup.has_defaults and setup.defaults != setup.stored:
        libraries["default"] = made(setup.scheduled, setup.defaults)
    finalists = {}
    for knobs, value in candidates:
        if len(finalists) == FINALISTS or value > NEAR * candidates[0][1]:
            break
        path = library_of(setup.workshop, knobs)
        if path in (None, libraries["stored"]):
            continue
        progress.show(f"verifying finalist {len(finalists) + 1}")
        report = runner.run({"finalist": path}, "--verify", "finalist", *setup.thorough, seconds=60)
        if report.outcome == "done":
            finalists[f"finalist{len(finalists)}"] = (knobs, path)
    progress.show(f"final session of {seconds * len(setup.shapes):.0f} s")
    libraries.update({role: path for role, (_, path) in finalists.items()})
    options = ["--seconds", seconds, "--fewest-rounds", 3 * BLOCKS, "--most-rounds", 5000, "--peak", *setup.timed]
    report = runner.run(libraries, *options, seconds=10 * seconds * len(setup.shapes))
    if report.outcome != "done":
        raise RunError(f"the final session {report.outcome}: {report.text}")
    return verdict(report.timed, {role: knobs for role, (knobs, _) in finalists.items()})


def made(workshop, knobs, copy=0):
    try:
        return workshop.make(knobs, copy)
    except NotBuilt as error:
        raise RunError(f"the stored or default knobs cannot be built: {error}") from None


def verdict(sessions, finalists):
    """finalists: {role: knobs}."""

    def evidence(role):
        numbers = {"median_us": (role, 50), "p10_us": (role, 10), "p90_us": (role, 90), "replaced_median_us": ("stored", 50)}
        if "default" in sessions[0]["seconds"]:
            numbers["default_median_us"] = ("default", 50)
        return {name: round(timings.microseconds(sessions, *where), 1) for name, where in numbers.items()}

    if not finalists:
        return Verdict(
            None,
            False,
            0,
            0,
            evidence("stored"),
            "no other candidate came near the stored knobs, which remain",
            [summary(timed, {}) for timed in sessions],
        )
    best, ratio, noise, steady = judge(sessions, list(finalists))
    gain = 1 - ratio
    accepted = gain > noise and steady
    text = (
        f"the best takes {ratio:.4f} of the stored knobs' time, noise {100 * noise:.1f} %: "
        f"{'accepted' if accepted else 'not better by more than noise'}"
    )
    return Verdict(
        finalists[best], accepted, gain, noise, evidence(best), text, [summary(timed, {best: "best"}) for timed in sessions]
    )


def summary(timed, names):
    """What is kept of a session: percentiles of the times of each part, and how they compare with the stored knobs'."""
    played = {
        role: names.get(role, role) for role in timed["seconds"] if role in ("stored", "again", "default") or role in names
    }
    return {
        "shape": timed["shape"],
        "work": timed["work"],
        "work_unit": timed["work_unit"],
        "peak": float(np.median(timed["peaks"])) if timed["peaks"] else None,
        "parts": {
            part: {
                "us": [1e6 * float(np.percentile(timed["seconds"][role], percent)) for percent in (10, 50, 90)],
                "to_stored": timings.ratio(timed, role, "stored")[1],
            }
            for role, part in played.items()
        },
    }
