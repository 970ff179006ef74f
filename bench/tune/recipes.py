"""How a build makes kernels, as CMake writes it: <build>/kernels/recipes.json for gyre's own, and for those of
gyre_add_kernels(LIBRARY …) in a project recipes.json in the folder LIBRARY of the project's build tree."""

import difflib
import fnmatch
import json
import os
from dataclasses import dataclass

from errors import refuse


SHOWN = 5  # names like one that is not there


@dataclass(frozen=True)
class Recipe:
    operation: str
    variant: str
    target: str
    generator: str
    halide_target: str
    parameters: dict
    knobs: dict  # as of the last configuration; the tuning database may have moved on
    knobs_of: str = ""  # the variant whose knobs it has, if they are not its own
    # A recipe of gyre_add_generator() also has the name that the generator is registered by, the file that declares its knobs, and
    # the object of Halide's runtime.
    registered: str = ""
    declaration: str = ""
    runtime: str = ""

    @property
    def name(self):
        return f"{self.operation}_{self.variant}" if self.variant else self.operation

    @property
    def dtype(self):
        """f32, f16 or bf16, as names have it."""
        return {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}.get(self.parameters.get("dtype"))

    def variables(self):
        """The numbers that conditions on knobs may speak of: numeric and boolean parameters, and the target's registers."""
        numbers = {"true": 1, "false": 0}
        variables = {"partial": 0, "warpgroups": 0}  # which most kernels of attention do not name
        for name, text in self.parameters.items():
            if text in numbers or text.lstrip("-").isdigit():
                variables[name] = numbers.get(text, int(text) if text not in numbers else 0)
        features = self.halide_target.split("-")
        wide = any(feature.startswith("avx512") for feature in features)
        variables["vector_width"] = 16 if wide else 8 if "avx2" in features or "avx" in features else 4
        variables["matrix_tiles"] = int("avx512_sapphirerapids" in features)
        variables["bf16_pairs"] = int("avx512_zen4" in features and not variables["matrix_tiles"] and self.dtype == "bf16")
        in_place = self.parameters.get("as_stored") == "true" and self.parameters.get("general") == "false"
        variables["pairs_in_place"] = int(in_place and variables["bf16_pairs"])
        variables["halves_in_place"] = int(in_place and self.dtype == "f16")
        variables["vector_registers"] = 32 if wide or features[:2] == ["arm", "64"] else 16
        return variables


def is_of_a_project(build):
    return not os.path.exists(os.path.join(build, "kernels", "recipes.json")) and os.path.exists(os.path.join(build, "recipes.json"))


def recipes_content(build):
    """What CMake wrote."""
    path = os.path.join(build, *(() if is_of_a_project(build) else ("kernels",)), "recipes.json")
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        return refuse(
            f"--build {build}", f"no recipes of kernels there ({error})", "a build tree of gyre, or a folder that gyre_add_kernels() made"
        )


class Recipes:
    def __init__(self, build):
        self.build = build
        self.of_a_project = is_of_a_project(build)
        content = recipes_content(build)
        self.compiler, self.objcopy, self.include = content["compiler"], content["objcopy"], content["include"]
        self.tuning, self.generators = content["tuning"], content["generators"]
        self.halide_libraries = content["halide_libraries"]
        self.kernels = [Recipe(**kernel) for kernel in content["kernels"]]

    def find(self, wanted, targets):
        """The kernels that a name, the beginning of one, or a pattern with * means; each on the first target that has it."""
        names = sorted({kernel.name for kernel in self.kernels if kernel.target in targets})
        if not names:
            known = ", ".join(sorted({kernel.target for kernel in self.kernels}))
            refuse("--target", f"'{' '.join(targets)}'", f"a target that the build has kernels of: {known}")
        chosen = [name for name in names if name == wanted]
        chosen = chosen or [
            name for name in names if name.startswith(wanted.rstrip("_") + "_") or fnmatch.fnmatch(name, wanted)
        ]
        if not chosen:
            near = ", ".join(difflib.get_close_matches(wanted, names, n=SHOWN, cutoff=0))
            refuse("kernel", f"'{wanted}'", f"one of {near} ({len(names)} kernels in all), its beginning, or a pattern with *")
        made_for = {(kernel.name, kernel.target) for kernel in self.kernels}
        return [self.get(name, next(target for target in targets if (name, target) in made_for)) for name in chosen]

    def get(self, name, target):
        for kernel in self.kernels:
            if (kernel.name, kernel.target) == (name, target):
                return kernel
        return refuse("kernel", f"'{name}' is not made for {target}", "a kernel of the build")

    def serving(self, name, target):
        """The kernel of that name on the target or, where that has none of its own, on the best that has: as at run time."""
        made = [kernel.target for kernel in self.kernels if kernel.name == name]
        return self.get(name, target if target in made or not made else made[0])
