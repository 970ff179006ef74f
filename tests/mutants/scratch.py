"""The copy of the sources that mutants are tried in. The sources themselves are only read."""

import pathlib
import shutil
import subprocess


class Mismatch(Exception):
    """A mutant that no longer applies."""


def sources_of(root):
    """The files of a clone that git does not ignore; without git, all that are not built."""
    try:
        told = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                              capture_output=True, check=True).stdout
        names = [name for name in told.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = []
    if not names:
        skipped = ("build", ".git", "__pycache__")
        names = [str(path.relative_to(root)) for path in root.rglob("*")
                 if not any(part.startswith(skipped) for part in path.relative_to(root).parts)]
    return sorted(name for name in names if (root / name).is_file())


def mutated(text, mutant):
    """The text of the mutant's file with the change in it."""
    count = text.count(mutant["from"])
    if count != 1:
        raise Mismatch(f"{mutant['name']}: its text occurs {count} times in {mutant['file']}, expected once: {mutant['from']!r}")
    if mutant["from"] == mutant["to"]:
        raise Mismatch(f"{mutant['name']}: changes nothing")
    return text.replace(mutant["from"], mutant["to"])


def check(root, mutant):
    path = root / mutant["file"]
    if not path.is_file():
        raise Mismatch(f"{mutant['name']}: there is no file {mutant['file']}")
    return mutated(path.read_text(encoding="utf-8"), mutant)


class Scratch:
    """At most one mutant is in it at a time. A file whose content stays keeps its time, so that builds stay up to date."""

    def __init__(self, root, folder):
        self.root = root
        self.folder = folder
        self.applied = None

    def synchronise(self):
        names = sources_of(self.root)
        for path in [path for path in self.folder.rglob("*") if path.is_file()]:
            if str(path.relative_to(self.folder)) not in set(names):
                path.unlink()
        for name in names:
            self._copy(name)

    def put(self, mutant):
        """The sources with this mutant; None: as they are."""
        before = self.applied
        if mutant:
            text = check(self.root, mutant)
            (self.folder / mutant["file"]).write_text(text, encoding="utf-8")
            self.applied = mutant["file"]
        if before and (not mutant or before != mutant["file"]):
            self._copy(before)
        if not mutant:
            self.applied = None

    def _copy(self, name):
        origin, copy = self.root / name, self.folder / name
        if copy.is_file() and copy.read_bytes() == origin.read_bytes():
            return
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(origin, copy)
        shutil.copymode(origin, copy)
