"""Makes one kernel of a build, and nothing else: a library that gyre compare and gyre tune's runner load.

    python kernel.py BUILD NAME [--target host] [--out FILE] [knob=value …]

The knobs that are not given are those in generators/tuning. The library also holds the kernels that calls use beside this one.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the sources may be read-only
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bench", "tune"))

from errors import RunError, UsageError, refuse
from recipes import Recipes
from runner import Limits
from space import declaration_path, knob_range, read_declaration
from workshop import NotBuilt, Workshop

HANGING = Limits(seconds=3600, mebibytes=65536)


def known_targets(build):
    """The rows of cmake/GyreTargets.cmake, best first: (name, features, the target that serves for what it has no kernels of)."""
    with open(os.path.join(build, "runtime", "gyre_targets.inc"), encoding="utf-8") as file:
        rows = re.findall(r'{"(\w+)", "([^"]*)", "(\w*)", GYRE_CPU}', file.read())
    return [(name, set(features.split()), rest) for name, features, rest in rows]


def serving(build, target):
    """The target itself, or for `host` the best that this machine can run; then those that serve for what it does not have."""
    rows = known_targets(build)
    names = [name for name, _, _ in rows]
    if target == "host":
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = set(re.search(r"^(?:flags|Features)\s*:(.*)$", file.read(), re.M)[1].split())
        target = next(name for name, features, _ in rows if features <= flags)
    elif target not in names:
        refuse("--target", f"'{target}'", f"host or one of {', '.join(names)}")
    rest = {name: then for name, _, then in rows}
    chain = [target]
    while rest[chain[-1]]:
        chain.append(rest[chain[-1]])
    return chain


def stored_knobs(recipe):
    return {name: int(value) for name, value in recipe.knobs.items()}


def chosen_knobs(recipes, recipe, words):
    """The stored knobs, and those of the command line."""
    declared = declaration_path(recipes.generators, recipe.operation)
    valid = read_declaration(declared)["knobs"] if os.path.exists(declared) else {}
    knobs = stored_knobs(recipe)
    for word in words:
        name, separator, value = word.partition("=")
        if not separator or not re.fullmatch(r"\d+", value):
            refuse("knob", f"'{word}'", "name=value, a whole number")
        if name not in valid:
            refuse("knob", f"'{name}'", f"one of {', '.join(valid) or 'none: this kernel has no knobs'}")
        least, most = knob_range(valid[name])
        if not least <= int(value) <= most:
            refuse("knob", f"'{word}'", f"{least} to {most}")
        knobs[name] = int(value)
    return knobs


def needed(recipes, recipe):
    """Recipes and knobs of the kernels that calls use beside this one."""
    declared = declaration_path(recipes.generators, recipe.operation)
    if not os.path.exists(declared):
        return []
    declaration = read_declaration(declared)
    if recipe.parameters.get("partial") == "true":
        declaration = {**declaration, **declaration["partial"]}
    found = [recipes.serving(name.format(dtype=recipe.dtype), recipe.target) for name in declaration.get("needs", ())]
    return [(each, stored_knobs(each)) for each in found]


def ninja(build, *outputs):
    done = subprocess.run(["ninja", "-C", build, *outputs], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise RunError(f"ninja failed:\n{done.stdout}")


def make(options):
    begin = time.monotonic()
    options.build = os.path.abspath(options.build)
    ninja(options.build, "build.ninja")  # configures anew after a tuning file has changed
    recipes = Recipes(options.build)
    found = recipes.find(options.kernel, serving(options.build, options.target))
    if len(found) > 1:
        refuse("kernel", f"'{options.kernel}' means {len(found)} kernels", f"one of {', '.join(each.name for each in found)}")
    recipe = found[0]
    knobs, needs = chosen_knobs(recipes, recipe, options.knobs), needed(recipes, recipe)
    programs = sorted({each.generator for each in [recipe, *(need for need, _ in needs)]})
    inside = [program for program in programs if os.path.dirname(program) == os.path.join(options.build, "gyre_generators")]
    if inside:  # Ninja without names would make everything
        ninja(options.build, *(os.path.relpath(program, options.build) for program in inside))
    built = time.monotonic()
    out = options.out or os.path.join(options.build, "kernel", f"{recipe.name}.so")
    os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
    workshop = Workshop(recipes, recipe, needs, os.path.join(options.build, "kernel"), HANGING)
    shutil.copyfile(workshop.make(knobs), out)
    spelled = " ".join(f"{name}={value}" for name, value in knobs.items())
    print(f"{recipe.name}__{recipe.target} {spelled}")
    print(f"{out}: generator {built - begin:.1f} s, kernel {time.monotonic() - built:.1f} s")


def main():
    parser = argparse.ArgumentParser(prog="cmake/go kernel", usage="cmake/go kernel NAME [--target host] [--out FILE] [knob=value …]", allow_abbrev=False)
    parser.add_argument("build")
    parser.add_argument("kernel", metavar="NAME")
    parser.add_argument("knobs", nargs="*", default=[])
    parser.add_argument("--target", default="host")
    parser.add_argument("--out")
    try:
        make(parser.parse_intermixed_args())
    except (RunError, UsageError, NotBuilt, OSError) as error:
        sys.exit(f"cmake/go kernel: {error}")


if __name__ == "__main__":
    main()
