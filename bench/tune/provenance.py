"""Where and with what something was measured."""

import datetime
import hashlib
import os
import platform
import re
import subprocess


def machine():
    """ "Intel(R) Xeon(R) Processor, 2 cores"."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            named = re.search(r"^(?:model name|Hardware)\s*:\s*(.+)$", file.read(), re.MULTILINE)
        model = named[1] if named else model
    except OSError:
        pass
    return f"{model}, {len(os.sched_getaffinity(0))} cores"


def commit(folder):
    """The version of the sources, with a + if they have been changed since; "unknown" outside a repository."""

    def git(*words):
        return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", folder)
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def sources_digest(*folders):
    """A digest of what kernels are made from. It is the same on every machine that has the same sources."""
    digest = hashlib.sha256()
    for folder in folders:
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if name.endswith((".h", ".cpp", ".json")):
                with open(os.path.join(folder, name), "rb") as file:
                    digest.update(name.encode() + b"\0" + file.read() + b"\0")
    return digest.hexdigest()[:16]


def digest(*texts):
    """Eight letters and digits that stand for the texts."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:8]


def halide_version(libraries):
    """The version of the package that the build's Halide lies in."""
    packaged = os.path.join(libraries, "cmake", "Halide", "HalideConfigVersion.cmake")
    try:
        with open(packaged, encoding="utf-8") as file:
            return re.search(r'PACKAGE_VERSION "([^"]+)"', file.read())[1]
    except (OSError, TypeError):
        return "unknown"


def today():
    return datetime.date.today().isoformat()
