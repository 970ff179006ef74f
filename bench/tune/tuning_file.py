"""The tuning database, generators/tuning/<target>.json: knobs with their evidence, written in place, in its own style."""

import json
import os
import textwrap

from errors import RunError
from whole_file import write_whole

WIDTH = 120  # of the lines that knobs and evidence are filled to


class TuningFile:
    def __init__(self, folder, target):
        self.path = os.path.join(folder, target + ".json")
        self.content = {"target": target, "defaults": {}, "kernels": {}}
        if os.path.exists(self.path):
            try:
                with open(self.path, encoding="utf-8") as file:
                    self.content = json.load(file)
            except (OSError, ValueError) as error:
                raise RunError(f"{self.path}: cannot be read: {error}") from None

    def knobs(self, recipe):
        """The kernel's own, else its family's, else its operation's, else none."""
        family = f"{recipe.operation}_{recipe.variant.split('_')[0]}"
        for table, key in (("kernels", recipe.name), ("defaults", family), ("defaults", recipe.operation)):
            entry = self.content.get(table, {}).get(key)
            if entry is not None:
                return dict(entry["knobs"])
        return {}

    def entry(self, name):
        """The kernel's own, or None."""
        return self.content.get("kernels", {}).get(name)

    def shapes(self, recipe):
        """On which its own knobs were found."""
        text = ((self.entry(recipe.name) or {}).get("evidence") or {}).get("shape", "")
        return text.split(" and ") if isinstance(text, str) and text else []

    def store(self, recipe, knobs, evidence):
        self.replace(recipe.name, {"knobs": knobs, "evidence": evidence})

    def replace(self, name, entry):
        """Replaces a kernel's entry; None: removes it. The file is whole at every moment."""
        kernels = dict(self.content.get("kernels", {}))
        kernels[name] = entry
        self.content["kernels"] = {key: value for key, value in sorted(kernels.items()) if value is not None}
        write_whole(self.path, formatted(self.content))


def formatted(value, depth=0):
    """Objects of numbers and words as filled lines, all others with a line an entry; a line ends the outermost."""
    inner, outer = "  " * (depth + 1), "  " * depth
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if not value:
        return "{}"
    entries = [f"{json.dumps(key)}: {formatted(each, depth + 1)}" for key, each in value.items()]
    if depth and not any(isinstance(each, dict) for each in value.values()):
        # Blanks inside an entry may not end a line: filled as other characters, and put back.
        joined = " ".join(entry.replace(" ", "\0") + "," for entry in entries)[:-1]
        lines = textwrap.wrap(joined, WIDTH - len(inner), break_long_words=False, break_on_hyphens=False)
        body = "\n".join(inner + line.replace("\0", " ") for line in lines)
    else:
        body = ",\n".join(inner + entry for entry in entries)
    return f"{{\n{body}\n{outer}}}" + ("" if depth else "\n")
