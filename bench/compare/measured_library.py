"""The library whose calls the programs of this folder time."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def add_library(parser):
    parser.add_argument("--library", default=str(ROOT / "build" / "lib" / "libgyre.so"))


def use_library(parser, library):
    """What is imported as gyre from now on is this clone's, with that library. Without the file the parser ends the program."""
    if not os.path.exists(library):
        parser.error(f"--library {library}: no such file; `cmake/go build` makes it")
    os.environ["GYRE_LIBRARY"] = os.path.abspath(library)
    sys.path.insert(0, str(ROOT / "runtime" / "python"))
