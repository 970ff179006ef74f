"""Programs of the archive, each with a limit of its own."""

import os
import subprocess


def run(command, seconds):
    """Its exit status, and what it says on both streams; None and why it did not end, after so many seconds."""
    try:
        done = subprocess.run(command, env={**os.environ, "GYRE_TEST_ONLY_DEVICES": "1"}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=seconds, errors="replace", check=False)
    except subprocess.TimeoutExpired as late:
        return None, f"no end after {seconds} s: {(late.stdout or b'')[-1000:]}"
    return done.returncode, done.stdout
