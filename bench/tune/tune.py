"""gyre tune: searches the knobs of kernels on this machine. The program gyre runs this file; bench/tune/README.md tells more."""

import importlib.util
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import options as command_line
from errors import RunError, UsageError

INTERRUPTED = 130
VERSIONS = {"optuna": "optuna==5.0.0"}

NEEDED = {  # by a command; reading its options needs none
    "search": ("numpy", "optuna"),
    "campaign": ("numpy", "optuna"),
    "export": ("numpy", "optuna"),
    "import": ("numpy", "optuna"),
    "report": ("numpy", "optuna", "matplotlib"),
    "compare": ("numpy",),
    "revert": (),
}


def check_packages(command):
    wanted = " ".join(VERSIONS.get(package, package) for package in NEEDED[command])
    for package in NEEDED[command]:
        if importlib.util.find_spec(package) is None:
            raise RunError(
                f"{sys.executable} has no {package}. Make a Python that has it, `python3 -m venv ~/gyre-python && "
                f"~/gyre-python/bin/pip install {wanted}`, and name it, GYRE_PYTHON=~/gyre-python/bin/python; or use "
                f"`cmake/go {'compare' if command == 'compare' else 'tune'}`"
            )


def main(words):
    build = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))  # <build>/share/gyre/tune
    options = command_line.parse(words, build)
    check_packages(options.command)
    if options.command == "search" and options.device:
        from estimate import estimate as command
    elif options.command == "search":
        from tuning import tune as command
    elif options.command == "campaign":
        from campaign import campaign as command
    elif options.command == "export":
        from bundle import export as command
    elif options.command == "import":
        from device_results import import_bundle as command
    elif options.command == "compare":
        from compare import compare as command
    elif options.command == "revert":
        from history import revert as command
    else:
        from report import report as command
    command(options)


if __name__ == "__main__":
    name = "gyre compare" if sys.argv[1:2] == ["compare"] else "gyre tune"
    try:
        sys.exit(main(sys.argv[1:]))
    except UsageError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(2)
    except RunError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print(f"{name}: interrupted" + ("" if name == "gyre compare" else "; the same command goes on from here"), file=sys.stderr)
        sys.exit(INTERRUPTED)
