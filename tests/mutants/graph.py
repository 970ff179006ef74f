"""What a build of CMake and Ninja made of what. The build is only read: Ninja runs in a copy of its own files."""

import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

OWN = ("build.ninja", ".ninja_deps", "CMakeFiles/rules.ninja")


class Graph:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.home = pathlib.Path(self._cached("CMAKE_HOME_DIRECTORY"))
        for name in OWN:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(build / name, folder / name)
        entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        self.compilations = {str(pathlib.Path(build, entry["output"]).relative_to(build)): entry["command"] for entry in entries}
        self.inputs = self._read_inputs()
        self.users = self._read_users()

    def _cached(self, name):
        return re.search(rf"^{name}:\w+=(.*)$", (self.build / "CMakeCache.txt").read_text(encoding="utf-8"), re.M)[1]

    def _read_inputs(self):
        """The files that each file is made of."""
        inputs = {}
        for line in (self.folder / "build.ninja").read_text(encoding="utf-8").splitlines():
            if line.startswith("build "):
                outputs, _, rest = line[6:].partition(": ")
                for output in outputs.split(" | ")[0].split():
                    inputs[output] = re.split(r" \|\|? ", rest)[0].split()[1:]
        return inputs

    def _read_users(self):
        """The objects that read each source file."""
        users, own = {}, None
        for line in self._ninja("-t", "deps").splitlines():
            if line.startswith("    "):
                if own in self.compilations:
                    users.setdefault(os.path.normpath(self.build / line[4:]), set()).add(own)  # ccache makes paths relative
            elif line:
                own = line.split(":")[0]
        return users

    def _ninja(self, *words):
        return subprocess.run(["ninja", *words], cwd=self.folder, capture_output=True, text=True, check=True).stdout

    def objects_of(self, name):
        """What is compiled of a file of the sources, headers included."""
        return self.users.get(str(self.home / name), set())

    @functools.lru_cache(maxsize=None)
    def command(self, output):
        """The words of each of the commands that make a file, without those that make what it is made of."""
        line = self._ninja("-t", "commands", output).splitlines()[-1]
        words, commands = shlex.split(line), [[]]
        for word in words:
            if word in ("&&", "--", "--then"):
                commands.append([])
            else:
                commands[-1].append(word)
        return [command for command in commands if command not in ([], [":"])]

    def parts(self, words):
        """The objects of a program's link command, and those in its archives."""
        found = set()
        for word in words:
            if word.endswith(".o"):
                found.add(word)
            elif word.endswith(".a"):
                found.update(name for name in self.inputs.get(word, ()) if name.endswith(".o"))
        return found
