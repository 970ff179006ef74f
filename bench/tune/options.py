"""The command line. Every refusal is one line that names the option, what it was and what is expected."""

import argparse
import os
import re

from errors import UsageError
from option_groups import add_build, add_campaign, add_comparison, add_storage, add_studies, add_study
from option_values import name, positive, whole

COMMANDS = ("campaign", "report", "export", "import", "revert", "compare")
PATHS = ("build", "studies", "tuning", "runner", "out", "folder", "old", "new", "report")  # children run in other folders


class Parser(argparse.ArgumentParser):
    def error(self, message):
        named = re.match(r"argument ([^:]+): (.*)", message)
        raise UsageError(f"{named[1]}: {named[2]}; see --help" if named else f"{message}; see --help")


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
    if command not in ("campaign", "compare", "revert"):
        add_storage(parser)
    if command == "compare":
        add_comparison(parser)
    elif command == "campaign":
        add_campaign(parser)
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
    "search": "Searches the knobs of kernels; see also gyre tune campaign, report, export, import and revert, each with --help.",
    "campaign": "Tunes every kernel that calls of models reach, in the order of its share of their time; started again, it goes on.",
    "revert": "Takes back the last knobs of a kernel that gyre tune has written.",
    "compare": "Times two builds of one kernel in turns, and says whether they differ by more than the noise.",
    "report": "Draws what studies found: one HTML page, and its pictures.",
    "export": "Makes candidates to be timed on a device that has no compiler.",
    "import": "Takes what a device measured into a study and the tuning database.",
}
EXAMPLES = {
    "search": "gyre tune attention_plain_f32_d64 --minutes 15",
    "campaign": "gyre tune campaign --budget 480",
    "revert": "gyre tune revert attention_plain_f32_d64",
    "compare": "gyre compare old.so new.so --kernel attention_plain_f32_d64",
    "report": "gyre tune report --out report",
    "export": "gyre tune export attention_plain_f32_d64 --trials 40 --out bundle",
    "import": "gyre tune import bundle",
}
