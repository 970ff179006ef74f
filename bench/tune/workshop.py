"""Makes candidates: the kernel's generator with other knobs, and its object in a shared library."""

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass

from child import run
from library_source import EXPORTED, library_source

SYMBOL_PREFIX = "gyrekernel_"
HOOKS = ("--redefine-sym", "halide_malloc=gyre_kernel_malloc", "--redefine-sym", "halide_free=gyre_kernel_free")


class NotBuilt(Exception):
    """The generator or the linker refused or failed."""

    def __init__(self, text, timed_out):
        super().__init__(text)
        self.timed_out = timed_out


@dataclass(frozen=True)
class Plan:
    """How the kernel's generator is called beside what its recipe says: further words, and what precedes the names of knobs."""

    words: tuple = ()
    prefix: str = ""


class Workshop:
    """Makes libraries of one kernel in `folder`. needs: recipes and knobs of kernels that calls use beside it."""

    def __init__(self, recipes, recipe, needs, folder, limits, plan=Plan()):
        self.recipes, self.recipe, self.limits, self.plan = recipes, recipe, limits, plan
        self.folder = os.path.join(folder, "libraries")
        self.needs = needs
        self.made_needs = []  # what _generate() has said of each, and its object
        os.makedirs(self.folder, exist_ok=True)
        with open(recipe.generator, "rb") as file:
            self.generator_digest = hashlib.sha256(file.read()).hexdigest()[:16]

    def library_path(self, knobs, copy=0):
        """Where the library of these knobs is or would be; copy: another one with the same kernel."""
        key = json.dumps(
            [
                EXPORTED,
                self.recipe.name,
                self.recipe.target,
                self.recipe.halide_target,
                self.generator_digest,
                self.plan.words,
                sorted(knobs.items()),
                copy,
            ]
        )
        return os.path.join(self.folder, "k" + hashlib.sha256(key.encode()).hexdigest()[:12] + ".so")

    def make(self, knobs, copy=0):
        """The path of the library with these knobs, made unless it is there. Raises NotBuilt."""
        path = self.library_path(knobs, copy)
        if os.path.exists(path):
            return path
        of = self.make(knobs) if copy else None
        with tempfile.TemporaryDirectory(prefix="making-", dir=self.folder) as scratch:
            made = os.path.join(scratch, os.path.basename(path))
            if copy:
                shutil.copyfile(of, made)
            else:
                kernels = [self._generate(self.recipe, knobs, scratch, self.plan), *self._needed(scratch)]
                self._link(made, kernels, scratch)
            os.replace(made, path)  # whole or not at all
        return path

    def _needed(self, scratch):
        """The kernels that calls use beside this one: the same in every library, so they are made once."""
        if not self.made_needs:
            made = []
            for recipe, known in self.needs:
                kernel = self._generate(recipe, known, scratch, Plan())
                with open(kernel[3], "rb") as file:
                    made.append((kernel, file.read()))
            self.made_needs = made
        placed = []
        for (recipe, symbol, attributes, path), content in self.made_needs:
            here = os.path.join(scratch, os.path.basename(path))
            with open(here, "wb") as file:
                file.write(content)
            placed.append((recipe, symbol, attributes, here))
        return placed

    def forget(self, path):
        """Removes a library that will not be loaded again."""
        if os.path.exists(path):
            os.remove(path)

    def clean(self):
        """Removes what an interrupted process left behind."""
        for entry in os.scandir(self.folder):
            if entry.name.startswith("making-"):
                shutil.rmtree(entry.path, ignore_errors=True)

    def _run(self, words):
        ended = run(words, self.limits.seconds, self.limits.mebibytes, folder=self.folder)
        if not ended.ok:
            raise NotBuilt(f"{os.path.basename(words[0])}: {ended.text()}", ended.timed_out)

    def _generate(self, recipe, knobs, scratch, plan):
        if recipe.registered:
            return self._generate_own(recipe, knobs, scratch, plan)
        symbol = f"{SYMBOL_PREFIX}{recipe.name}__{recipe.target}"
        object_file, facts = os.path.join(scratch, symbol + ".o"), os.path.join(scratch, symbol + ".inc")
        given = {**recipe.parameters, **{plan.prefix + name: value for name, value in knobs.items()}}
        self._run(
            [
                recipe.generator,
                "-g",
                recipe.operation,
                "-f",
                symbol,
                "-o",
                scratch,
                "-e",
                "object",
                *plan.words,
                f"target={recipe.halide_target}",
                *(f"{name}={value}" for name, value in given.items()),
                f"facts={facts}",
            ]
        )
        self._run([self.recipes.objcopy, *HOOKS, object_file])
        with open(facts, encoding="utf-8") as file:
            told = file.read().strip().strip('"')
        attributes = " ".join([*(f"{name}={value}" for name, value in recipe.parameters.items()), told])
        return recipe, symbol, attributes, object_file

    def _generate_own(self, recipe, knobs, scratch, plan):
        """A kernel of gyre_add_generator() tells no facts, and takes its memory from Halide's runtime."""
        symbol = f"{SYMBOL_PREFIX}{recipe.name}__{recipe.target}"
        object_file = os.path.join(scratch, symbol + ".o")
        given = {**recipe.parameters, **{plan.prefix + name: value for name, value in knobs.items()}}
        words = [recipe.generator, "-g", recipe.registered, "-f", symbol, "-o", scratch, "-e", "object", *plan.words]
        self._run([*words, f"target={recipe.halide_target}", *(f"{name}={value}" for name, value in given.items())])
        attributes = " ".join(["own=true", *(f"{name}={value}" for name, value in recipe.parameters.items())])
        return recipe, symbol, attributes, object_file

    def _link(self, made, kernels, scratch):
        """Kernels' symbols stay inside, so that copies of one can be loaded side by side; gyre_* come from the program."""
        source, script = os.path.join(scratch, "library.c"), os.path.join(scratch, "symbols.map")
        name = os.path.splitext(os.path.basename(made))[0]
        with open(source, "w", encoding="utf-8") as file:
            file.write(library_source(name, [kernel[:3] for kernel in kernels]))
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"{{ global: {EXPORTED}; local: *; }};\n")
        self._run(
            [
                self.recipes.compiler,
                "-shared",
                "-fPIC",
                "-O2",
                "-o",
                made,
                "-I",
                self.recipes.include,
                "-x",
                "c",
                source,
                "-x",
                "none",
                *(kernel[3] for kernel in kernels),
                f"-Wl,--version-script={script}",
                *([self.recipe.runtime] if self.recipe.runtime else ()),
                "-lm",
                "-ldl",
                "-lpthread",
            ]
        )
