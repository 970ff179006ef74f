"""Mutants beside a whole build: what depends on the mutated file is compiled alone and linked before the rest of a program."""

import filecmp
import hashlib
import pathlib
import re
import shlex
import subprocess
import sys

from generated import Generated
from graph import Graph
from scratch import sources_of
from suites import Suites

FIRST = "-Wl,--allow-multiple-definition"  # the first of two definitions counts


def last_outputs(words, path):
    """The command with another output."""
    words = list(words)
    words[words.index("-o") + 1] = str(path)
    return words


class Beside(Suites):
    """The tests of a whole build's programs."""

    def __init__(self, work, jobs, file, tree, root):
        super().__init__(work, jobs, file)
        (work / "beside").mkdir(parents=True, exist_ok=True)
        self.tree, self.folder = tree, work / "beside"
        self.graph = Graph(tree, self.folder / "ninja")
        self.generated = Generated(self)
        self.mutant, self.made, self.compiled = None, {}, {}
        folders = "|".join(sorted({re.escape(name.split("/")[0]) for name in sources_of(root)}))
        self.own_paths = re.compile(rf"{re.escape(str(self.graph.home))}/(?=(?:{folders})\b)")
        self.changed = [name for name in sources_of(root) if (self.graph.home / name).is_file()
                        and not filecmp.cmp(root / name, self.graph.home / name, shallow=False)]

    def build_of(self, test):
        return "beside"

    def missing(self, test):
        return super().missing(test) + ([] if self.has_program(test) else ["a program of a whole build"])

    def has_program(self, test):
        """Builds of fewer targets have no program of some tests."""
        told = self.kind(test).get("program")
        return told is not None and self.spelled(test, told["path"]) in self.graph.inputs

    def missing_for(self, mutant):
        """Generators' mutants name the kernels that show them; none is made otherwise. The other sources are those of the build. One that
        no program has an object of would survive without having been tried."""
        if not mutant["file"].startswith("generators/"):
            objects = self.graph.objects_of(mutant["file"])
            tried = any(objects & self.graph.parts(self.link(test)) for test in mutant["tests"] if self.has_program(test))
            return [] if tried else ["a program with an object of the file"]
        changed = any(name.startswith("generators/") for name in self.changed)
        shown = all(self.shows(test, mutant) for test in mutant["tests"])
        return ([] if shown else ["kernels with the mutant"]) + (["a build of these generators"] if changed else [])

    def shows(self, test, mutant):
        """True if the mutant gets into what the test runs: kernels that it names, or objects of generators in the program."""
        if not self.has_program(test) or "kernels" in self.kind(test):
            return "kernels" in mutant
        return any(unit in self.link(test) for unit in self.generated.units_of(mutant))

    def link(self, test):
        """The words that link the test's program."""
        told = self.kind(test)["program"]
        words = next(words for words in self.graph.command(self.spelled(test, told["path"])) if "-o" in words)
        return [word for word in words if word not in told.get("without", [])]

    def spelled(self, test, text):
        name = test.split(":", 1)[1]
        return (text.replace("{}", name).replace("{source}", str(self.source("beside"))).replace("{build}", str(self.tree))
                .replace("{beside}", str(self.folder))
                .replace("{python}", sys.executable))

    def environment(self, test):
        return {**self.kind(test).get("environment", {}), **self.kind(test).get("program", {}).get("environment", {})}

    def words(self, test, key):
        if key != "command":
            return super().words(test, key)
        at = next(i for i, word in enumerate(self.kind(test)["command"]) if word.startswith("{build}/"))
        words = super().words(test, key)
        words[at] = str(self.linked(test))
        return words

    def program(self, test):
        return self.spelled(test, self.kind(test)["program"]["path"])

    def linked(self, test):
        return self.folder / "programs" / self.program(test).replace("/", "+")

    def moved(self, text):
        """Paths of the sources become those of the copy; what was built stays where it is, also in other folders among the sources."""
        return self.own_paths.sub(lambda path: f"{self.source('beside')}/", text)

    def run(self, words, cwd=None):
        with self.log("beside", "build").open("a", encoding="utf-8") as output:
            output.write(shlex.join(map(str, words)) + "\n")
            output.flush()
            return subprocess.run(words, stdout=output, stderr=subprocess.STDOUT, cwd=cwd or self.tree, check=False).returncode == 0

    def compile(self, name, own):
        """The object of these sources; `own`: which the mutant is in."""
        key = (name, self.mutant["name"] if own else None)
        if key not in self.compiled:
            digest = hashlib.sha256(name.encode()).hexdigest()[:8]
            path = self.folder / ("mutated" if own else "objects") / f"{digest}+{pathlib.Path(name).name}"
            path.parent.mkdir(parents=True, exist_ok=True)
            words = last_outputs(shlex.split(self.moved(self.graph.compilations[name])), path)
            self.compiled[key] = path if self.run(words) else None
        return self.compiled[key]

    def make(self, test):
        """Links the test's program anew, with the mutant's objects and those of sources that have changed since the build."""
        words = self.link(test)
        parts = self.graph.parts(words)
        replaced = {name: self.compile(name, False) for file in self.changed for name in self.graph.objects_of(file) & parts}
        kernels = []
        if "driver" in self.kind(test):
            self.generated.driver(self.kind(test)["driver"], [])  # of another mutant
        if self.mutant:
            own = self.graph.objects_of(self.mutant["file"]) & parts
            replaced.update({name: self.compile(name, True) for name in own})
            kernels = self.generated.objects(self.mutant, self.kind(test), words, replaced)
        if kernels is None or None in [*kernels, *replaced.values()]:
            return False
        beside = [str(path) for name, path in replaced.items() if name not in words] + [str(path) for path in kernels]
        words = [str(replaced.get(word, word)) for word in last_outputs(words, self.linked(test))]
        self.linked(test).parent.mkdir(parents=True, exist_ok=True)
        return self.run([words[0], *beside, *words[1:], FIRST])
