"""gyre tune campaign: tunes every kernel that calls of models reach, the one with the largest share of their time first.

Each kernel has a study of its own, as `gyre tune KERNEL` makes it. The journal says what is done, so that the same command goes on
after any end; the report is written anew after every kernel.
"""

import os
import time
from functools import partial

from campaign_calls import asked, reached
from campaign_journal import Journal
from campaign_report import ratios_of, write_report
from campaign_study import Place, like_it, setup_of
from campaign_verdict import settle
from errors import RunError, UsageError, refuse
from model_calls import CALLS
from programs import find_gyre, find_runner, runnable_targets
from progress import Progress, Whole
from recipes import Recipes
from study import locked
from tuning import look_for_better, store
from tuning_file import TuningFile

BUSY = "another campaign is at work there; name another folder with --studies"
DEFAULT = "default"  # as `gyre kernels` says of knobs without evidence


def campaign(options):
    folder = os.path.join(options.studies, "campaign")
    os.makedirs(folder, exist_ok=True)
    with locked(folder, True, BUSY):
        Campaign(options, folder).run()


class Campaign:
    def __init__(self, options, folder):
        self.options, self.progress, self.recipes = options, Progress(), Recipes(options.build)
        self.journal = Journal(folder, options.restart)
        self.report = options.report or os.path.join(folder, "report.md")
        self.plans = {target: self.plan(target) for target in options.target or runnable_targets(options.build)[:1]}

    def plan(self, target):
        """The target's kernels, heaviest first."""
        program = find_gyre(self.options.build)
        calls = [call for call in CALLS if any(part in call.name for part in self.options.only)]
        if not calls:
            refuse(f"--only {' '.join(self.options.only)}", "no call has that in its name", f"a part of one, say '{CALLS[0].name}'")
        self.progress.line(f"{target}: which kernels serve {len(calls)} calls")
        stamp = [os.stat(program).st_mtime_ns, *(call.name for call in calls)]
        ask = partial(reached, calls, self.owner, partial(asked, program, target), self.progress)
        rows = self.journal.kernels(target, stamp, ask)
        heaviest = rows[: self.options.heaviest]
        found = [row for row in heaviest if self.is_asked(row["kernel"])]
        lighter = sum(self.is_asked(row["kernel"]) for row in rows[len(heaviest) :])
        if lighter and not found:
            self.progress.line(f"{target}: of the {len(heaviest)} heaviest kernels none is without evidence, of lighter ones {lighter}")
        return found

    def is_asked(self, kernel):
        """What this campaign has measured stays in its report."""
        return not self.options.unmeasured or self.origin(kernel) == DEFAULT or kernel in self.journal.outcomes

    def owner(self, kernel):
        """The kernel whose knobs it has."""
        recipe = self.recipes.get(*kernel.rsplit("__", 1))
        return f"{recipe.operation}_{recipe.knobs_of}__{recipe.target}" if recipe.knobs_of else kernel

    def run(self):
        if self.options.list:
            self.show()
            return
        find_runner(self.options)  # what would fail for each kernel fails once
        write_report(self.report, self.journal, self.plans)
        self.work()
        self.progress.line(f"written: {self.report}")
        places = self.places()
        failed = [place.kernel for place in places if "failed" in self.journal.outcomes.get(place.kernel, {})]
        if failed:
            raise RunError(f"{len(failed)} of {len(places)} kernels failed, which the same command tries again: {', '.join(failed)}")

    def places(self):
        """Every kernel once, where it stands first: targets share kernels."""
        found = {row["kernel"]: Place(row["kernel"], row["shapes"]) for kernels in reversed(self.plans.values()) for row in kernels}
        order = dict.fromkeys(row["kernel"] for kernels in self.plans.values() for row in kernels)
        return [found[kernel] for kernel in order]

    def show(self):
        for target, kernels in self.plans.items():
            self.progress.line(f"{target}: {len(kernels)} kernels")
            for row in kernels:
                calls = f"{len(row['calls'])} call{'s' if len(row['calls']) > 1 else ''}"
                self.progress.line(f"{100 * row['share']:5.1f} %  {row['kernel']}  {calls}  knobs: {self.origin(row['kernel'])}")

    def origin(self, kernel):
        """Where the kernel's knobs come from, as of the tuning file."""
        name, target = kernel.rsplit("__", 1)
        entry = TuningFile(self.options.tuning or self.recipes.tuning, target).entry(name) or {}
        return f"measured on {entry['evidence'].get('date')}" if entry.get("evidence") else DEFAULT

    def work(self):
        begin, places = time.monotonic(), self.places()
        for number, place in enumerate(places):
            if self.journal.is_done(place.kernel):
                continue
            if self.options.budget is not None and time.monotonic() - begin >= 60 * self.options.budget:
                self.progress.line("the budget is spent; the same command goes on")
                return
            self.progress.whole = Whole(number, len(places), 60 * self.options.minutes)
            try:
                self.tune(place)
            except (RunError, UsageError) as error:
                self.progress.line(f"{place.kernel}: {error}")
                self.journal.record(place.kernel, {"failed": str(error)})
            write_report(self.report, self.journal, self.plans)

    def tune(self, place):
        """Searches, decides, and only then writes: whatever ends this process, the next start finds how far it came."""
        setup = setup_of(place, self.options, self.recipes)
        outcome = self.journal.outcomes.get(place.kernel, {"failed": "not begun"})
        if "failed" in outcome:
            runner, study = setup.make_runner(), setup.open()
            with locked(setup.folder, study.own):
                look_for_better(setup, study, runner, self.progress, like_it(setup))
                outcome = settle(setup, study, runner, self.progress)
            self.journal.record(place.kernel, outcome)
            self.progress.line(f"{place.kernel}: {outcome['text']}; of their time: {ratios_of(outcome)}")
        if outcome["entry"]:
            store(setup, outcome["entry"]["knobs"], outcome["entry"]["evidence"], self.progress)
        self.journal.record(place.kernel, {**outcome, "stored": True})
