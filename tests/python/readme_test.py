"""Runs the code blocks of the package's guide, one after the other in one program, as a reader would paste them.

    python readme_test.py README.md

A block after the line `<!-- needs: NAME … -->` is left out, and said so, where a module of these is missing.
"""

import importlib.util
import os
import re
import sys
import tempfile

BLOCK = re.compile(r"(?:<!-- needs: ([\w ]+) -->\n+)?```python\n(.*?)```", re.S)


def has_operators(library):
    """Whether the package was built with those for PyTorch, or JAX."""
    try:
        importlib.import_module(f"gyre.{library}")
    except ImportError:
        return False
    return True


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) >= 5 and len(blocks) == text.count("```python"), f"{len(blocks)} blocks were found"
    names = {"__name__": "readme"}
    os.chdir(tempfile.mkdtemp(prefix="gyre-readme-"))
    for block in blocks:
        needed, code = (block[1] or "").split(), block[2]
        line = text[: block.start(2)].count("\n")
        missing = [name for name in needed if importlib.util.find_spec(name) is None]
        for library in {"torch", "jax"} & set(needed) if not missing else ():
            if not has_operators(library):
                missing = [f"libgyre_{library}.so in this build"]
        if missing:
            print(f"left out: the block at line {line + 1}, there is no {', '.join(missing)}")
            continue
        exec(compile("\n" * line + code, sys.argv[1], "exec"), names)
        print(f"ran the block at line {line + 1}")


if __name__ == "__main__":
    main()
