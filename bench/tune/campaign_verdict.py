"""What becomes of one kernel of a campaign: knobs are changed for a gain that a second session measures again."""

import acceptance
import provenance
from tuning import evidence_of, ranked

LEAST_GAIN = 0.03  # of the time: less is not worth another kernel


def settle(setup, study, runner, progress):
    """{"changed", "text", "entry": of the tuning file, or None to leave it, "stored": whether it has been written, …}."""
    first = acceptance.measure(setup, runner, ranked(study), progress)
    outcome = {
        "changed": False,
        "text": "the stored knobs stayed",
        "candidates": len(study.finished()),
        "ratios": [round(1 - first.gain, 3)] if first.knobs else [],
        "noise": round(first.noise, 4),
        "machine": provenance.machine(),
        "date": provenance.today(),
        "stored": False,
    }
    if not is_gain(first):
        return {**outcome, "entry": entry_of_stored(setup, study, first)}
    second = acceptance.measure(setup, runner, [(first.knobs, 1.0)], progress)
    outcome["ratios"].append(round(1 - second.gain, 3))
    if not is_gain(second):
        outcome["text"] = "the stored knobs stayed: the gain was not measured again"
        return {**outcome, "entry": entry_of_stored(setup, study, second)}
    evidence = {**evidence_of(setup, study, second, outcome["machine"]), "of_stored_time": outcome["ratios"]}
    return {**outcome, "changed": True, "text": "changed", "entry": {"knobs": first.knobs, "evidence": evidence}}


def is_gain(verdict):
    return verdict.accepted and verdict.gain >= LEAST_GAIN


def entry_of_stored(setup, study, verdict):
    """Stored knobs that stayed, with the measurement that says so; None where an entry has its evidence already."""
    own = setup.database.entry(setup.recipe.name) or {}
    if own.get("evidence"):
        return None
    evidence = evidence_of(setup, study, verdict, provenance.machine())
    evidence["median_us"] = evidence.pop("replaced_median_us")
    for of_candidate in ("p10_us", "p90_us"):
        del evidence[of_candidate]
    evidence["kept"] = True
    evidence["best_candidate_of_time"] = round(1 - verdict.gain, 3) if verdict.knobs else "none came near"
    return {"knobs": setup.database.knobs(setup.recipe) or setup.stored, "evidence": evidence}
