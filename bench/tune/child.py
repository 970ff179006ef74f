"""Runs a program that may crash, hang or ask for all memory."""

import ctypes
import math
import os
import resource
import signal
import subprocess
import tempfile
from dataclasses import dataclass

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1
LONGEST_TEXT = 2000  # characters that are kept of what a failing program said


@dataclass
class Ended:
    code: int  # exit code; negative: the signal that ended it
    timed_out: bool
    out: str
    err: str

    @property
    def ok(self):
        return self.code == 0 and not self.timed_out

    def text(self):
        """What it said last, and how it ended."""
        said = (self.err.strip() or self.out.strip())[-LONGEST_TEXT:]
        if self.timed_out:
            how = "ended after its time was up"
        elif self.code < 0:
            how = f"ended by {signal.Signals(-self.code).name}"
        else:
            how = f"exit code {self.code}"
        return f"{how}: {said}" if said else how


def run(words, seconds, mebibytes, processors=1, folder=None):
    """Runs a program to its end or until `seconds` have passed. It dies with this process, and Ctrl-C does not reach it."""
    parent = os.getpid()
    processor_seconds = math.ceil(seconds * processors)

    def prepare():
        os.setsid()
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (processor_seconds, processor_seconds + 1))

    with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder, preexec_fn=prepare)
        timed_out = False
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        out.seek(0), err.seek(0)
        return Ended(child.returncode, timed_out, out.read(), err.read())
