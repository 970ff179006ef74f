"""Stage: which device, driver and clocks."""

import shutil
import subprocess

from driver import COMPUTE_MAJOR, COMPUTE_MINOR, L2_BYTES, MULTIPROCESSORS

QUERY = "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.draw,temperature.gpu,memory.total"


def clock():
    """Of the multiprocessors now, in MHz; None where nobody tells."""
    if not shutil.which("nvidia-smi"):
        return None
    told = subprocess.run(["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv,noheader,nounits"], capture_output=True, text=True,
                          timeout=60, check=False)
    return told.stdout.strip()


def run(driver, _, say):
    found = {"device": driver.name(), "driver_api": driver.version(), "multiprocessors": driver.attribute(MULTIPROCESSORS),
             "compute": f"{driver.attribute(COMPUTE_MAJOR)}.{driver.attribute(COMPUTE_MINOR)}", "l2_bytes": driver.attribute(L2_BYTES)}
    if shutil.which("nvidia-smi"):
        told = subprocess.run(["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader"], capture_output=True, text=True,
                              timeout=60, check=False)
        found["nvidia_smi"] = dict(zip(QUERY.split(","), told.stdout.strip().split(", ")))
    say({"ok": True, **found})
