"""What rows of a cleaned task see is looked for in cleaned tasks alone: attention/engines/tiles/marks.cpp.

    python cleaned_tasks_test.py RECIPES

No result tells: in other tasks the loop over all keys finds nothing. The generator's statement does.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RECIPES = pathlib.Path(sys.argv[1])


def statement_of(variant, target):
    """The lowered statement of a kernel of this build."""
    recipes = json.loads(RECIPES.read_text(encoding="utf-8"))["kernels"]
    recipe = next(r for r in recipes if (r["variant"], r["target"]) == (variant, target))
    words = [f"{name}={value}" for name, value in (recipe["parameters"] | recipe["knobs"]).items()]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([recipe["generator"], "-g", recipe["operation"], "-f", "kernel", "-n", "kernel", "-o", folder, "-e", "stmt",
                        f"target={recipe['halide_target']}", *words], check=True)
        return pathlib.Path(folder, "kernel.stmt").read_text(encoding="utf-8")


def enclosing(lines, index):
    """The heads of the blocks that a line of a statement is in, innermost first."""
    depth = len(lines[index]) - len(lines[index].lstrip())
    for line in reversed(lines[:index]):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent < depth:
            depth = indent
            yield line.strip()


class CleanedTasks(unittest.TestCase):
    def test_other_tasks_do_not_look_for_what_is_not_finite(self):
        lines = statement_of("plain_bf16_d64", "x86_64_amx").splitlines()
        loops = [i for i, line in enumerate(lines) if re.match(r"\s*for \([^,]*\.marked\$", line)]
        self.assertTrue(loops, "there is no loop over marked keys")
        for loop in loops:
            guards = [head for head in enclosing(lines, loop) if head.startswith("if (") and "cleaned[0]" in head]
            self.assertTrue(guards, lines[loop])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
