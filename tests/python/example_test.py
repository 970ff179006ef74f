"""Runs an example of tests/examples/python, which checks its own results.

    python example_test.py SCRIPT GENERATORS WORK_DIRECTORY NEEDED_MODULE …      skipped where a module is missing
"""

import functools
import importlib
import runpy
import sys

import gyre
from support import SKIPPED

script, generators, work, *needed = sys.argv[1:]
for name in needed:
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(SKIPPED)
if "torch" in sys.modules:
    sys.modules["torch"].set_num_threads(1)  # models as small as these only wait for more
# Generators that are compiled already, and no kernels of other runs.
gyre.build = functools.partial(gyre.build, folder=work, defines={"GYRE_GENERATORS": generators})
runpy.run_path(script, run_name="__main__")
