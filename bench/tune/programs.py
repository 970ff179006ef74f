"""Where the programs and files beside the tuner are: in a build tree, and in a folder into which gyre was installed, alike."""

import json
import os
import subprocess

from errors import UsageError, refuse
from recipes import Recipes

HERE = os.path.dirname(os.path.abspath(__file__))
HOME = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))  # <home>/share/gyre/tune


def find_runner(options):
    """The path of gyre_tune_runner."""
    if options.runner:
        candidates = [options.runner]
    else:
        candidates = [os.path.join(folder, "bin", "gyre_tune_runner") for folder in (options.build, HOME)]
    for path in candidates:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.abspath(path)
    return refuse(f"--runner {candidates[-1]}", "cannot be run", "the program gyre_tune_runner, which `cmake/go tune` builds")


def places_of_gyre(build):
    """Where the program gyre may be, the build's own first."""
    return [os.path.join(folder, "bin", "gyre") for folder in (build, HOME)]


def runnable_targets(build):
    """Targets that this machine can run, best first."""
    failures = []
    for program in places_of_gyre(build):
        try:
            told = json.loads(subprocess.run([program, "info", "--json"], capture_output=True, text=True, check=True).stdout)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            failures.append(str(error))
            continue
        return [target["name"] for target in told["targets"] if target["runnable"]]
    return refuse("--target host", f"no program tells ({failures[0]})", "a build with its program, or a target's name")


def find_gyre(build):
    """The path of the program gyre."""
    for program in places_of_gyre(build):
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    return refuse(f"--build {build}", f"no {program} there", "a build with its program")


def generators_folder(build):
    """The folder of the generators, with their search spaces."""
    try:
        return Recipes(build).generators
    except UsageError:
        return os.path.join(HOME, "share", "gyre", "generators")
