"""The command lines of the guides: cmake/go and gyre have these commands and options, and the tuner can read its words.

    python commands_test.py /path/to/gyre
"""

import pathlib
import re
import shlex
import subprocess
import sys
import unittest

from guides import ROOT, markdown_files, shell_lines

sys.path.insert(0, str(ROOT / "bench" / "tune"))
import options as tuner
from errors import UsageError

HANDED_OVER = ("tune", "compare")


class Commands(unittest.TestCase):
    program = None

    def setUp(self):
        texts = [file.read_text(encoding="utf-8") for file in markdown_files() if file.parent.name != ".github"]
        self.lines = {line for text in texts for line in shell_lines(text)}

    def lines_of(self, *programs):
        found = []
        for line in sorted(self.lines):
            for program in programs:
                if line.startswith(program + " "):
                    found.append(shlex.split(line.removeprefix(program).replace("…", "")))
        self.assertGreater(len(found), 4)
        return found

    def known(self, *command):
        return subprocess.run([self.program, "complete", *command], capture_output=True, text=True, check=True).stdout.split()

    def fault_of_tuner(self, words):
        """What the tuner says of the words behind gyre tune, or None. A line may end before what it needs, as in "gyre tune"."""
        if len(words) < 2:
            return None
        try:
            tuner.parse(words, "build")
        except UsageError as error:
            return None if "required" in str(error) else str(error)
        return None

    def fault(self, words):
        """What is wrong with the words behind gyre, or None."""
        if words[0] in HANDED_OVER:
            return self.fault_of_tuner(words[1:] if words[0] == "tune" else words)
        command = []
        while len(command) < len(words) and not words[len(command)].startswith("-"):
            if command and words[len(command)] == words[len(command)].upper():
                break  # a word by its place, such as NAME
            if words[len(command)] not in self.known(*command):
                return f"no command {words[len(command)]}"
            command.append(words[len(command)])
        unknown = [word for word in words if word.startswith("--") and word not in self.known(*command)]
        return f"no option {unknown[0]}" if unknown else None

    def test_gyre(self):
        faults = {shlex.join(words): self.fault(words) for words in self.lines_of("gyre", "build/bin/gyre")}
        self.assertEqual({line: fault for line, fault in faults.items() if fault}, {})

    def test_faults_are_found(self):
        self.assertEqual(self.fault(["nonsense"]), "no command nonsense")
        self.assertEqual(self.fault(["rotary", "--y", "y.npy"]), "no option --y")
        self.assertIn("--sampler", self.fault(["tune", "rotary_f32_half", "--sampler", "best"]))
        self.assertIsNone(self.fault(["bench", "rotary", "--shape", "h=1,lq=2"]))

    def test_go(self):
        usage = subprocess.run([ROOT / "cmake" / "go", "help"], capture_output=True, text=True, check=True).stdout
        known = set(re.findall(r"^ *cmake/go ([\w-]+)", usage, re.M)) | {"help"}
        for words in self.lines_of("cmake/go"):
            with self.subTest(words=words):
                if words[0] not in ("COMMAND",):
                    self.assertIn(words[0], known)
                if words[0] in HANDED_OVER:
                    self.assertIsNone(self.fault(words))

    def test_halide_goes_into_an_environment(self):
        """Debian and others refuse what would go into the system's Python."""
        found = [text for file in markdown_files() for text in [file.read_text(encoding="utf-8")] if "pip install halide" in text]
        self.assertGreater(len(found), 4)
        for text in found:
            self.assertEqual(text.count("pip install halide"), text.count("-m venv ~/halide && . ~/halide/bin/activate && pip install halide"))

    def test_paths_are_there(self):
        """Files of the project that commands name."""
        named = re.compile(r"(?<![\w./~$-])((?:bench|cmake|generators|include|runtime|tests)/[\w./*-]+)")
        paths = {path.rstrip("./") for line in self.lines for path in named.findall(line) if " " in line}
        self.assertGreater(len(paths), 3)
        self.assertEqual(sorted(path for path in paths if not any(ROOT.glob(path))), [])


if __name__ == "__main__":
    Commands.program = str(pathlib.Path(sys.argv.pop()).resolve())
    unittest.main()
