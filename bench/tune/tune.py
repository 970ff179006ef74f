"""gyre tune: searches the knobs of kernels on this machine. The program gyre runs this file; bench/tune/README.md tells more."""

import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from errors import RunError, UsageError

INTERRUPTED = 130
REQUIREMENTS = "optuna==5.0.0 matplotlib numpy"


def import_packages():
    try:
        import matplotlib  # noqa: F401
        import numpy  # noqa: F401
        import optuna  # noqa: F401
    except ImportError as error:
        raise RunError(
            f"{sys.executable} has no {error.name}: install what gyre tune needs with `{sys.executable} -m pip install "
            f"{REQUIREMENTS}`, or name another Python in GYRE_PYTHON, or use `cmake/go tune`"
        ) from None


def main(words):
    import_packages()
    import options as command_line

    build = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))  # <build>/share/gyre/tune
    options = command_line.parse(words, build)
    if options.command == "search":
        from tuning import tune as command
    elif options.command == "export":
        from bundle import export as command
    elif options.command == "import":
        from device_results import import_bundle as command
    else:
        from report import report as command
    command(options)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UsageError as error:
        print(f"gyre tune: {error}", file=sys.stderr)
        sys.exit(2)
    except RunError as error:
        print(f"gyre tune: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("gyre tune: interrupted; the same command goes on from here", file=sys.stderr)
        sys.exit(INTERRUPTED)
