"""Who works on a trial: a process of this machine, so that what a killed one left behind is recognised."""

import os
import socket


def _started(pid):
    """When a process began, in ticks since the machine did; None: there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def _boot():
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def this_worker():
    return {"host": socket.gethostname(), "boot": _boot(), "pid": os.getpid(), "started": _started(os.getpid())}


def is_gone(worker):
    """True only for a worker of this machine that no longer runs; of other machines nothing is known."""
    here = this_worker()
    if worker["host"] != here["host"]:
        return False
    return worker["boot"] != here["boot"] or _started(worker["pid"]) != worker["started"]
