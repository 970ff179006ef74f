"""Runs gyre_tune_runner and tells how that went."""

import json
import signal
from dataclasses import dataclass, field

from child import Ended, run


@dataclass
class Report:
    """What the runner said. outcome: "done", "wrong", "failed", "crashed", "timed out" or "no memory"."""

    outcome: str
    text: str = ""
    timed: list = field(default_factory=list)  # one entry a shape
    cases: int = 0  # that were verified


def read_events(text):
    events = []
    for line in text.splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            continue  # what a candidate may have printed, or the half of a line that a crash left
    return [event for event in events if isinstance(event, dict) and "event" in event]


def judge(ended):
    events = read_events(ended.out)
    report = Report(
        "done",
        timed=[event for event in events if event["event"] == "timed"],
        cases=sum(event["cases"] for event in events if event["event"] == "verified"),
    )
    last = events[-1] if events else {"event": "stage", "text": "starting"}
    if ended.timed_out or -ended.code in (signal.SIGALRM, signal.SIGXCPU):
        report.outcome, report.text = "timed out", f"while {last.get('text', last['event'])}"
    elif ended.code == 0:
        return report
    elif last["event"] == "wrong":
        report.outcome, report.text = "wrong", last["text"]
    elif last["event"] == "failed":
        report.outcome = "no memory" if last["text"] == "out of memory" else "failed"
        report.text = last["text"]
    else:
        report.outcome, report.text = "crashed", f"while {last.get('text', last['event'])}: {ended.text()}"
    return report


def judge_text(text):
    """Judges what a device kept: the runner's output, and behind it {"event": "ended", "code": …} by its script."""
    events = read_events(text)
    code = events[-1]["code"] if events and events[-1]["event"] == "ended" else 0
    if code > 128:  # as a shell says that a signal ended a program
        code = 128 - code
    said = "\n".join(line for line in text.splitlines() if '"ended"' not in line)
    return judge(Ended(code, False, said, ""))


@dataclass(frozen=True)
class Limits:
    seconds: float = 60
    mebibytes: int = 4096


class Runner:
    def __init__(self, path, kernel, threads, limits):
        self.path, self.kernel, self.threads, self.limits = path, kernel, threads, limits

    def words(self, libraries, *options):
        """libraries: {role: path} in the order of their turns."""
        words = [self.path, "--kernel", self.kernel, "--threads", str(self.threads)]
        for role, path in libraries.items():
            words += ["--library", f"{role}={path}"]
        return [*words, *map(str, options)]

    def run(self, libraries, *options, seconds=0):
        """seconds: that the session itself is meant to last, beside the limit."""
        return judge(run(self.words(libraries, *options), self.limits.seconds + seconds, self.limits.mebibytes, self.threads))
