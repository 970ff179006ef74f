"""What gyre tune has written into tuning databases, so that `gyre tune revert` can take it back."""

import json
import os

from errors import RunError, refuse
from progress import Progress
from tuning_file import TuningFile
from whole_file import write_whole


class History:
    """A list beside the studies, oldest first: {"kernel", "target", "folder", "before", "after"}; before is null for none."""

    def __init__(self, studies):
        self.path = os.path.join(studies, "history.json")
        self.entries = []
        if os.path.exists(self.path):
            try:
                with open(self.path, encoding="utf-8") as file:
                    self.entries = json.load(file)
            except (OSError, ValueError) as error:
                raise RunError(f"{self.path}: cannot be read: {error}") from None

    def add(self, **entry):
        self.entries.append(entry)
        self.write()

    def write(self):
        write_whole(self.path, json.dumps(self.entries, indent=1))


def revert(options):
    """Puts back what the last write for this kernel replaced."""
    history = History(options.studies)
    found = [
        entry for entry in history.entries if entry["kernel"] == options.kernel and options.target in (None, entry["target"])
    ]
    if not found:
        known = sorted({f"{entry['kernel']} --target {entry['target']}" for entry in history.entries})
        refuse("kernel", f"'{options.kernel}': nothing was written for it", f"one of {', '.join(known)}" if known else "a kernel that gyre tune has written knobs of")
    targets = sorted({entry["target"] for entry in found})
    if len(targets) > 1:
        refuse("--target", "missing", f"one of {', '.join(targets)}")
    entry = found[-1]
    database = TuningFile(entry["folder"], entry["target"])
    if database.entry(entry["kernel"]) != entry["after"] and not options.force:
        refuse(database.path, f"the entry of {entry['kernel']} has changed since", "as it was written, or --force")
    database.replace(entry["kernel"], entry["before"])
    history.entries.remove(entry)
    history.write()
    before = entry["before"]
    knobs = " ".join(f"{name}={value}" for name, value in before["knobs"].items()) if before else "no entry of its own"
    Progress().line(f"{database.path}: {entry['kernel']} has again {knobs}; the next build makes the kernel so")
