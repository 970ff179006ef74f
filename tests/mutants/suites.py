"""Tests that mutants are tried with: in which build each is, what it needs built, and how it is run."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

MEMORY = 16 << 30  # bytes of addresses of a test: an index that is off may ask for any number
NOTHING_RAN = re.compile(r"test cases: +0 |Ran 0 tests")
EMULATED = re.compile(r"emulated CUDA:")  # what a kernel on the emulated device must not do


def has(need):
    """Whether this machine has a tool, or one of several, or a feature of its processor."""
    if need.startswith("cpu:"):
        return need[4:] in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    return any(shutil.which(name) for name in need.split("|"))


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Suites:
    """Each build has a folder of its own, with the copy of the sources that it is of."""

    def __init__(self, work, jobs, file):
        told = json.loads(file.read_text(encoding="utf-8"))
        self.builds, self.kinds = told["builds"], told["suites"]
        self.work, self.jobs = work, jobs

    def kind(self, test):
        return self.kinds[test.split(":", 1)[0]]

    def build_of(self, test):
        return self.kind(test)["build"]

    def missing(self, test):
        kind = self.kind(test)
        needs = self.builds[kind["build"]].get("needs", []) + kind.get("needs", [])
        return [need for need in needs if not has(need)]

    def missing_for(self, mutant):
        """What this mutant lacks beside what its tests do."""
        return []

    def environment(self, test):
        return self.kind(test).get("environment", {})

    def source(self, build):
        return self.work / build / "source"

    def log(self, build, name):
        path = self.work / build / "log" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def spelled(self, test, text):
        folder = self.work / self.build_of(test)
        return (text.replace("{}", test.split(":", 1)[1]).replace("{source}", str(folder / "source"))
                .replace("{build}", str(folder / "build")).replace("{python}", sys.executable))

    def words(self, test, key):
        return [self.spelled(test, word) for word in self.kind(test)[key]]

    def make(self, test):
        """True if what the test runs could be built."""
        build = self.build_of(test)
        folder = self.work / build / "build"
        told = self.builds[build]
        command = ["cmake", "--fresh", "-S", str(self.source(build) / told.get("folder", ".")), "-B", str(folder), "-G", "Ninja"]
        options = {"Python3_EXECUTABLE": sys.executable, **told["options"]}
        command += [f"-D{name}={self.spelled(test, value)}" for name, value in options.items()]
        configured = self.work / build / "configured"
        if not configured.is_file() or configured.read_text(encoding="utf-8") != repr(command):
            if not self._logged(build, "configure", command):
                sys.exit(f"mutants: {build} cannot be configured: {self.log(build, 'configure')}")
            configured.write_text(repr(command), encoding="utf-8")
        return self._logged(build, "build", ["ninja", "-C", folder, "-j", str(self.jobs), *self.words(test, "targets")])

    def passes(self, test, limit=None):
        """Whether the test passes, in how many seconds, and why not. A test that takes longer than the limit hangs."""
        environment = {**os.environ, **{name: self.spelled(test, value) for name, value in self.environment(test).items()}}
        log = self.log(self.build_of(test), "test")
        begin = time.monotonic()
        with log.open("w", encoding="utf-8") as output:
            process = subprocess.Popen(self.words(test, "command"), stdout=output, stderr=subprocess.STDOUT, env=environment,
                                       cwd=self.work / self.build_of(test), start_new_session=True,
                                       preexec_fn=None if self.kind(test).get("sanitized") else limit_memory)
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return False, time.monotonic() - begin, "hangs"
        seconds = time.monotonic() - begin
        text = log.read_text(encoding="utf-8", errors="replace")
        if process.returncode:
            return False, seconds, f"exit status {process.returncode}"
        reported = EMULATED.search(text)
        if reported:
            return False, seconds, reported.group()
        if NOTHING_RAN.search(text):
            sys.exit(f"mutants: {test} runs no test")
        return True, seconds, ""

    def _logged(self, build, name, command):
        with self.log(build, name).open("w", encoding="utf-8") as output:
            return subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode == 0
