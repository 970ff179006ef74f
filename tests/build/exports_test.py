"""Generators export no function: one that Halide has as well, such as a template of the standard library, would run in its place.

    python exports_test.py NM FOLDER    # FOLDER: of the programs
"""

import pathlib
import subprocess
import sys

NM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
FUNCTIONS = {"T", "W"}

programs = sorted(FOLDER.glob("*.generator"))
assert programs, f"there are no generators in {FOLDER}"
exported = []
for program in programs:
    symbols = subprocess.run([NM, "-D", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    exported += [f"{program.name}: {line}" for line in symbols.splitlines() if line.split()[-2] in FUNCTIONS]
assert not exported, "\n".join(exported)
