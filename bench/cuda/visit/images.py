"""Stage: every image is loaded by the driver, which tells registers, local memory, shared memory and blocks of a multiprocessor."""

import json
import os

from driver import DriverError


def run(driver, options, say):
    with open(os.path.join(options.images, "launches.json"), encoding="utf-8") as file:
        launches = json.load(file)  # entry: [threads, dynamic shared bytes], as the rehearsal launched it
    for name in sorted(os.listdir(options.images)):
        if not name.endswith(".fatbin"):
            continue
        entry = f"{name[:-len('.fatbin')]}_0"
        try:
            with open(os.path.join(options.images, name), "rb") as file:
                module = driver.load(file.read())
            known = entry in launches
            threads, shared = launches.get(entry, [32, 0])
            facts = driver.function_facts(module, entry, threads, shared)
            say({"kernel": entry, "ok": True, "launch_known": known, **facts})
        except DriverError as error:
            say({"kernel": entry, "ok": False, "error": str(error)})
