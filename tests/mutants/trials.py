"""Tries mutants with the tests that should notice them."""

import time

from results import ROOT
from scratch import Scratch


class Trials:
    """Mutants of one build, in its copy of the sources."""

    def __init__(self, build, suites):
        self.build, self.suites = build, suites
        self.scratch = Scratch(ROOT, suites.source(build))
        self.seconds = {}  # of each test that passes without a mutant
        self.broken = {}  # tests that do not

    def prepare(self, tests):
        """A test that fails on the sources as they are can tell nothing."""
        self.scratch.synchronise()
        self.suites.mutant = None
        for test in sorted(tests):
            built = self.suites.make(test)
            passes, seconds, why = self.suites.passes(test) if built else (False, 0, "does not build")
            if passes:
                self.seconds[test] = seconds
            else:
                self.broken[test] = why
                print(f"{test} without a mutant: {why}", flush=True)

    def run(self, mutant):
        """The status, and what tells more."""
        for test in mutant["tests"]:
            if test in self.broken:
                return "not run", {"why": f"{test} without a mutant: {self.broken[test]}"}
        self.scratch.put(mutant)
        self.suites.mutant = mutant
        begin = time.monotonic()
        for test in sorted(mutant["tests"], key=self.seconds.get):
            if not self.suites.make(test):
                return "does not build", {"seconds": round(time.monotonic() - begin, 1)}
            passes, _, why = self.suites.passes(test, 120 + 10 * self.seconds[test])
            if not passes:
                return "killed", {"by": test, "why": why, "seconds": round(time.monotonic() - begin, 1)}
        return "survived", {"seconds": round(time.monotonic() - begin, 1)}
