"""Mutants of generators beside a whole build: the generator with the mutant in it makes the few kernels that the mutant names."""

import fnmatch
import pathlib
import re
import shlex

UNOPTIMISED = ("-O0", "-fno-inline")  # calls stay calls, which the mutant's object can take
DEPENDENCIES = {"-MF": 2, "-MT": 2, "-MMD": 1}  # words of the compiler that write beside the build's own files


def without_dependencies(words):
    kept, skip = [], 0
    for word in words:
        skip = skip or DEPENDENCIES.get(word, 0)
        if not skip:
            kept.append(word)
        skip = max(skip - 1, 0)
    return kept


class Generated:
    def __init__(self, beside):
        self.beside, self.graph = beside, beside.graph
        self.folder = beside.folder / "generated"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.units = {f"gyre_generators/{path.stem}.o": set(re.findall(r'#include "([^"]*)"', path.read_text(encoding="utf-8")))
                      for path in (beside.tree / "gyre_generators").glob("*.cpp")}
        self.cache = {}
        self.places = {}  # folders of the build's kernels

    def units_of(self, mutant):
        return [unit for unit, files in self.units.items() if str(self.graph.home / mutant["file"]) in files]

    def once(self, key, make):
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]

    def compiler(self, unit):
        return without_dependencies(next(words for words in self.graph.command(unit) if "-c" in words))

    def compiled(self, unit, source, name, optimised):
        words = self.compiler(unit)
        if not optimised:
            words = [word for word in words if word != "-O1"] + list(UNOPTIMISED)
        if source != self.original(unit):
            words = [self.beside.moved(word) for word in words]
        words[words.index("-c") + 1] = str(source)
        path = self.folder / name
        words[words.index("-o") + 1] = str(path)
        return path if self.beside.run(words) else None

    def original(self, unit):
        return (self.beside.tree / unit).with_suffix(".cpp")

    def replacements(self, mutant, unit):
        """Objects instead of a unit's: the mutant's file alone, before the others, which call it. What registers generators, and what
        needs what precedes it, is compiled whole."""
        source = self.beside.source("beside") / mutant["file"]
        registers = "_REGISTER_" in source.read_text(encoding="utf-8")
        alone = None if registers else self.once(("alone", mutant["name"]), lambda: self.compiled(unit, source, "alone.o", True))
        if not alone:
            text = self.beside.moved(self.original(unit).read_text(encoding="utf-8"))
            whole = self.folder / pathlib.Path(unit).with_suffix(".cpp").name
            whole.write_text(text, encoding="utf-8")
            return [self.once((unit, mutant["name"]), lambda: self.compiled(unit, whole, "whole.o", False))]
        return [alone, self.once(unit, lambda: self.compiled(unit, self.original(unit), pathlib.Path(unit).name, False))]

    def linked(self, words, mutant):
        """The words of a link command with the mutant in them; None: it does not build."""
        replaced = []
        for word in words:
            unit = word.removeprefix(f"{self.beside.tree}/")
            objects = self.replacements(mutant, unit) if unit in self.units_of(mutant) else [word]
            if None in objects:
                return None
            replaced += map(str, objects)
        return replaced

    def generator(self, name, mutant):
        words = self.linked(without_dependencies(next(words for words in self.graph.command(name) if "-o" in words)), mutant)
        path = self.folder / pathlib.Path(name).name
        if words:
            words[words.index("-o") + 1] = str(path)
        libraries = str(pathlib.Path(next(word for word in words or [""] if word.endswith("libHalide.so") or not word)).parent)
        return path if words and self.beside.run([*words, "-Wl,--allow-multiple-definition", f"-Wl,-rpath,{libraries}"]) else None

    def kernel(self, output, mutant):
        """The object of a kernel; None if the generator fails."""
        commands = self.graph.command(output)[1:]
        commands = commands[next(i for i, words in enumerate(commands) if words[0].endswith(".generator")):]
        name = commands[0][0].removeprefix(f"{self.beside.tree}/")
        generator = self.once((name, mutant["name"]), lambda: self.generator(name, mutant))
        if not generator:
            return None
        place = str((self.beside.tree / output).parent)
        self.places[pathlib.Path(output).stem] = pathlib.Path(place)
        for words in commands:
            words = [word.replace(place, str(self.folder)) for word in words]
            if not self.beside.run([str(generator), *words[1:]] if words[0].endswith(".generator") else words):
                return None
        return self.folder / pathlib.Path(output).name

    def lists(self, made, parts):
        """Lists of kernels, compiled with what kernels say of themselves where that is not what it was."""
        texts, objects = {}, []
        for facts in (path.with_suffix(".inc") for path in made):
            was = self.places[facts.stem] / facts.name
            if facts.is_file() and facts.read_bytes() != was.read_bytes():
                for name in self.graph.users.get(str(was), set()) & parts:
                    source = self.graph.inputs[name][0]
                    texts[name] = (texts.get(name) or pathlib.Path(source).read_text(encoding="utf-8")).replace(str(was), str(facts))
        for name, text in texts.items():
            source = self.folder / pathlib.Path(self.graph.inputs[name][0]).name
            source.write_text(text, encoding="utf-8")
            words = shlex.split(self.graph.compilations[name])
            words[words.index("-c") + 1], words[words.index("-o") + 1] = str(source), str(source.with_suffix(".o"))
            objects.append(source.with_suffix(".o") if self.beside.run(words) else None)
        return objects

    def emulated(self, units, kernels):
        """The driver's objects in which these kernels' device code for the emulated device is, each compiled with the new one."""
        replaced = {}
        for unit in units:
            words = without_dependencies(shlex.split(self.graph.compilations[unit]))
            place = words.index("-c") + 1
            was = text = pathlib.Path(words[place]).read_text(encoding="utf-8")
            for path in kernels:
                text = re.sub(rf'"[^"]*/{re.escape(path.stem)}[.](cpp|cu)"', f'"{path}"', text)
            if text == was:
                continue
            source = self.folder / f"{pathlib.Path(unit).stem}.emulated.cpp"
            source.write_text(text, encoding="utf-8")
            words[place], words[words.index("-o") + 1] = str(source), str(source.with_suffix(".o"))
            replaced[unit] = source.with_suffix(".o") if self.beside.run(words) else None
        return replaced

    def driver(self, path, kernels):
        """Links the driver of the emulated device with these kernels instead of the build's. True if that works."""
        place = self.beside.folder / "driver" / pathlib.Path(path).name
        place.unlink(missing_ok=True)
        if not kernels:
            return True
        words = next(words for words in self.graph.command(path) if "-o" in words)
        replaced = self.emulated([word for word in words if word in self.graph.compilations],
                                 [kernel.with_suffix(".cu") for kernel in kernels])
        if not replaced or None in replaced.values():
            return False
        words = [str(replaced.get(word, word)) for word in words]
        words[words.index("-o") + 1] = str(place)
        place.parent.mkdir(exist_ok=True)
        return self.beside.run(words)

    def objects(self, mutant, kind, words, replaced):
        """Further objects of a test's program. Units of generators in the program itself are replaced."""
        for unit in self.units_of(mutant):
            if unit in words:
                objects = self.replacements(mutant, unit)
                replaced[unit] = objects[-1]
                if None in objects:
                    return None
                words.insert(words.index(unit), str(objects[0]))
        if "kernels" not in kind or not self.units_of(mutant):
            return []
        wanted = [f"*/shipped/gyrekernel_gyre_{name}__{kind['kernels']}.o" for name in mutant["kernels"]]
        names = [name for name in self.graph.inputs if any(fnmatch.fnmatch(name, pattern) for pattern in wanted)]
        made = [self.once((name, mutant["name"]), lambda name=name: self.kernel(name, mutant)) for name in names]
        if None in made or not made or ("driver" in kind and not self.driver(kind["driver"], made)):
            return None
        return made + self.lists(made, self.graph.parts(words))
