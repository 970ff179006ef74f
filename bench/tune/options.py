"""The command line. Every refusal is one line that names the option, what it was and what is expected."""

import argparse
import os
import re

from errors import UsageError
from option_values import knob, name, positive, whole
from shapes import shape

COMMANDS = ("report", "export", "import", "revert", "compare")
PATHS = ("build", "studies", "tuning", "runner", "out", "folder", "old", "new")  # children run in other folders


class Parser(argparse.ArgumentParser):
    def error(self, message):
        named = re.match(r"argument ([^:]+): (.*)", message)
        raise UsageError(f"{named[1]}: {named[2]}; see --help" if named else f"{message}; see --help")


def add_build(parser, build):
    parser.add_argument(
        "--build",
        default=build,
        metavar="DIR",
        help="the build tree, or a folder that gyre_add_kernels() made; default: the program's own",
    )


def add_studies(parser):
    parser.add_argument("--studies", default=None, metavar="DIR", help="where studies are kept; default: BUILD/tune")


def add_storage(parser):
    parser.add_argument(
        "--storage", metavar="URL", help="database of trials, shared by several machines; default: a file in the study"
    )


def add_runner(parser):
    parser.add_argument("--threads", type=whole(1, 4096), default=1)
    parser.add_argument("--limit-seconds", type=positive, default=60, metavar="N", help="for making or running a candidate, 60")
    parser.add_argument("--limit-memory", type=whole(64, 1 << 24), default=4096, metavar="MiB", help="likewise, 4096")
    parser.add_argument("--runner", metavar="PATH", help="gyre_tune_runner; default: the build's")


def add_shape(parser):
    parser.add_argument(
        "--shape", action="append", type=shape, metavar="b=1,h=8,lq=1024", help="what to time; several: their geometric mean"
    )


def add_comparison(parser):
    parser.add_argument("old", metavar="OLD.so", help="what cmake/go kernel made")
    parser.add_argument("new", metavar="NEW.so", help="what it made later")
    parser.add_argument("--kernel", required=True, type=name, metavar="NAME", help="say attention_plain_f32_d64")
    add_shape(parser)
    add_runner(parser)
    parser.add_argument("--seconds", type=positive, default=10, metavar="N", help="of timing, for each shape, 10")
    parser.add_argument("--no-verify", action="store_true", help="do not compare with the oracles before")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def add_study(parser):
    parser.add_argument("kernel", help="its name, say attention_plain_f32_d64, the beginning of one, or a pattern with *")
    parser.add_argument("--target", default="host", metavar="NAME", help="host (default): the best that this machine can run")
    add_shape(parser)
    add_runner(parser)
    parser.add_argument("--sampler", choices=("tpe", "random", "grid"), default="tpe")
    parser.add_argument("--seed", type=whole(0), default=1)
    parser.add_argument(
        "--knobs", nargs="+", type=knob, default=[], metavar="NAME=VALUE", help="begin there, not at the stored knobs"
    )
    parser.add_argument("--study", type=name, metavar="NAME", help="tell studies of one kernel apart; default: SAMPLER-SEED")
    parser.add_argument(
        "--tuning", metavar="DIR", help="where <target>.json is read and written; default: the sources' generators/tuning"
    )
    parser.add_argument("--no-write", action="store_true", help="leave <target>.json as it is")
    parser.add_argument("--force", action="store_true", help="also replace knobs that were found on more shapes")
    parser.add_argument(
        "--trial-seconds",
        type=positive,
        default=1,
        metavar="N",
        help="of the session that times a candidate, for each shape, 1",
    )
    parser.add_argument(
        "--final-seconds", type=positive, default=30, metavar="N", help="of the session that decides, for each shape, 30"
    )


def parse(words, build):
    """The options, with `command` among them: "search" or one of COMMANDS."""
    command = words[0] if words and words[0] in COMMANDS else "search"
    program = {"search": "gyre tune", "compare": "gyre compare"}.get(command, f"gyre tune {command}")
    parser = Parser(
        prog=program,
        allow_abbrev=False,
        description=DESCRIPTIONS[command],
        epilog=f"Example:\n  {EXAMPLES[command]}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_build(parser, build)
    if command != "compare":
        add_studies(parser)
    if command not in ("compare", "revert"):
        add_storage(parser)
    if command == "compare":
        add_comparison(parser)
    elif command == "revert":
        parser.add_argument("kernel", type=name, help="its whole name, say attention_plain_f32_d64")
        parser.add_argument("--target", type=name, metavar="NAME", help="needed if knobs of several were written")
        parser.add_argument("--force", action="store_true", help="also if the entry has changed since")
    elif command == "report":
        parser.add_argument("study", nargs="*", help="names of studies; default: all")
        parser.add_argument("--out", metavar="DIR", help="default: STUDIES/report")
    elif command == "import":
        parser.add_argument("folder", help="a bundle that a device has worked through")
        parser.add_argument("--tuning", metavar="DIR", help="as in gyre tune")
        parser.add_argument("--no-write", action="store_true")
        parser.add_argument("--force", action="store_true", help="as in gyre tune")
    else:
        add_study(parser)
        budget = parser.add_mutually_exclusive_group()
        budget.add_argument("--trials", type=whole(1), metavar="N", help="of the whole study")
        if command == "search":
            parser.add_argument("--device", choices=("cuda",), help="estimate the knobs of a kernel for CUDA by a model; measures nothing")
            parser.add_argument("--arch", choices=("sm_80", "sm_90"), default="sm_80", help="of --device: A100 (default) or H100")
            parser.add_argument("--list", action="store_true", help="say which kernels the name means, and do nothing")
            parser.add_argument("--json", action="store_true", help="print the studies as JSON at the end; what goes on is told on stderr")
            budget.add_argument("--minutes", type=positive, metavar="M", help="of the whole study on this machine; default: 15")
            parser.add_argument(
                "--autoscheduler",
                choices=("adams2019", "mullapudi2016", "li2018"),
                help="let one of Halide's autoschedulers make the schedule, and search its parameters",
            )
        else:
            parser.add_argument("--out", required=True, metavar="DIR", help="the bundle")
    options = parser.parse_args(words[1:] if command != "search" else words)
    options.command = command
    if command != "compare":
        options.studies = options.studies or os.path.join(options.build, "tune")
    for path in PATHS:
        if getattr(options, path, None):
            setattr(options, path, os.path.abspath(getattr(options, path)))
    return options


DESCRIPTIONS = {
    "search": "Searches the knobs of kernels; see also gyre tune report, export, import and revert, each with --help.",
    "revert": "Takes back the last knobs of a kernel that gyre tune has written.",
    "compare": "Times two builds of one kernel in turns, and says whether they differ by more than the noise.",
    "report": "Draws what studies found: one HTML page, and its pictures.",
    "export": "Makes candidates to be timed on a device that has no compiler.",
    "import": "Takes what a device measured into a study and the tuning database.",
}
EXAMPLES = {
    "search": "gyre tune attention_plain_f32_d64 --minutes 15",
    "revert": "gyre tune revert attention_plain_f32_d64",
    "compare": "gyre compare old.so new.so --kernel attention_plain_f32_d64",
    "report": "gyre tune report --out report",
    "export": "gyre tune export attention_plain_f32_d64 --trials 40 --out bundle",
    "import": "gyre tune import bundle",
}
