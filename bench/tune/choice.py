"""Which kernels a name means, and which of them may be tuned and written."""

import os

from errors import UsageError, refuse
from programs import runnable_targets
from space import declaration_path
from tuning_file import TuningFile


def targets_of(options):
    """The target that was asked for; for host, those that this machine can run, best first."""
    return runnable_targets(options.build) if options.target == "host" else [options.target]


WORKLOADS = ("angles", "attention", "rotary")  # operations that gyre_tune_runner can verify and time: runner/operations.cpp


def check_tunable(recipes, recipe):
    """Refuses a kernel that has no knobs, or another's."""
    if not os.path.exists(space_path(recipes, recipe)):
        refuse("kernel", f"'{recipe.name}' has no knobs", "a kernel whose operation has a search space")
    if recipe.operation not in WORKLOADS and not recipe.registered:
        refuse("kernel", f"'{recipe.name}': gyre_tune_runner cannot time {recipe.operation}", f"one of {', '.join(WORKLOADS)}")
    if "score" in recipe.parameters:
        refuse("kernel", f"'{recipe.name}' computes a score function that no oracle knows", "a kernel without one")
    if recipe.knobs_of:
        other = f"{recipe.operation}_{recipe.knobs_of}"
        refuse("kernel", f"'{recipe.name}' has the knobs of {other}", other)


def space_path(recipes, recipe):
    return recipe.declaration or declaration_path(recipes.generators, recipe.operation)


def chosen(options, recipes):
    """The recipes that the name means, and why others that it means are left out: of several, those that cannot be tuned."""
    found = recipes.find(options.kernel, targets_of(options))
    if len(found) == 1:
        check_tunable(recipes, found[0])
        return found, []
    tunable, left_out = [], []
    for recipe in found:
        try:
            check_tunable(recipes, recipe)
            tunable.append(recipe)
        except UsageError as error:
            left_out.append(str(error))
    if not tunable:
        refuse("kernel", f"'{options.kernel}' means {len(found)} kernels without knobs of their own", "one that has")
    return tunable, left_out


def check_writable(options, recipes, recipe):
    """Refuses to begin what would end in knobs that nobody wants written there."""
    if options.no_write or getattr(options, "autoscheduler", None):
        return
    if recipes.of_a_project and not options.tuning:
        refuse(
            "--tuning",
            "missing for kernels of a project",
            "a folder of the project, whose <target>.json is then given to it as TUNING; or --no-write",
        )
    before, now = TuningFile(options.tuning or recipes.tuning, recipe.target).shapes(recipe), len(options.shape or [{}])
    if len(before) > now and not options.force:
        refuse(
            "--shape",
            f"{now} of them, but the stored knobs of {recipe.name} were found on {len(before)}: {' and '.join(before)}",
            "as many, or --force to replace those knobs, or --no-write",
        )
