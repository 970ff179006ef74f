"""What the program tells of itself: every command's help and its example, the manual page, and completion in bash."""

import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest
from unittest import mock

import numpy as np
from harness import GyreTest

COMPLETION = pathlib.Path(__file__).resolve().parents[2] / "runtime" / "cli" / "completion.bash"
HANDED_OVER = ("tune", "compare")  # read by Python programs, which tests/tune tests


class Help(GyreTest):
    def next_words(self, *words):
        return self.succeed("complete", *words).split()

    def commands(self, *words):
        """Every command, as a tuple of words; those that have commands come before these."""
        names = [word for word in self.next_words(*words) if not word.startswith("-")]
        return [found for name in names for found in ((*words, name), *self.commands(*words, name))]

    def documented(self):
        commands = [()] + [command for command in self.commands() if command[0] not in HANDED_OVER]
        self.assertGreater(len(commands), 10)
        return commands

    def example_of(self, command):
        text = self.succeed(*command, "--help")
        self.assertIn("Usage: gyre", text)
        example = re.search(r"^Example:\n  (gyre .*)$", text, re.M)
        self.assertTrue(example, text)
        return shlex.split(example[1])[1:]

    def test_every_example_runs(self):
        for name in "xqkv":
            self.save(f"{name}.npy", self.normal(1, 4, 20, 64))
        self.save("p.npy", np.full((1, 2, 5, 5), 0.2, np.float32))
        can_draw = importlib.util.find_spec("matplotlib") is not None
        for command in self.documented():
            with self.subTest(command=command), mock.patch.dict(os.environ, GYRE_PYTHON=sys.executable):
                words = self.example_of(command)
                self.assertEqual(tuple(words[: len(command)]), command)
                if words[0] == "plot" and not can_draw:
                    continue
                self.assertTrue(self.succeed(*words))
                if "--out" in words:
                    self.assertTrue(os.path.getsize(self.path(words[words.index("--out") + 1])))

    def test_manual_page_has_all_that_the_help_has(self):
        page = self.succeed("manual-page").replace("\\-", "-").replace("\\e", "\\")
        self.assertRegex(page, r'^\.TH GYRE 1 "" "gyre \d+\.\d+\.\d+" ')
        for command in self.documented():
            with self.subTest(command=command):
                start = ".SH OPTIONS\n" if not command else f".SS gyre {' '.join(command)}\n"
                self.assertEqual(page.count(start), 1)
                part = re.split(r"^\.S[SH] ", page.split(start)[1], maxsplit=1, flags=re.M)[0]
                options = [word for word in self.next_words(*command) if word.startswith("-")]
                self.assertIn("--help", options)
                for option in options:
                    self.assertIn(option + "\\fR", part)
                self.assertIn(shlex.join(self.example_of(command))[:20], part)
        for command in HANDED_OVER:
            self.assertIn(f".SS gyre {command}\n", page)

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_manual_page_is_what_man_can_show(self):
        shown = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-P-cbou"],
            input=self.succeed("manual-page"), capture_output=True, text=True, check=True,
        )
        self.assertEqual(shown.stderr, "")
        for heading in ("NAME", "SYNOPSIS", "OPTIONS", "COMMANDS"):
            self.assertRegex(shown.stdout, rf"(?m)^{heading}$")
        self.assertIn("gyre attention --q q.npy", shown.stdout)

    def test_words_that_may_follow(self):
        self.assertLessEqual({"info", "rotary", "bench", "--help", "--version"}, set(self.next_words()))
        self.assertFalse({"complete", "manual-page"} & set(self.next_words()))
        self.assertLessEqual({"rotary", "attention", "--help"}, set(self.next_words("bench")))
        self.assertIn("--offset", self.next_words("rotary", "--x", "x.npy"))
        self.assertEqual(self.next_words("rotary", "--dtype"), ["f32", "f16", "bf16"])
        self.assertEqual(self.next_words("rotary", "--x"), [])
        causal = self.next_words("attention", "--causal")
        self.assertEqual(causal[:2], ["bottom_right", "top_left"])
        self.assertIn("--window-left", causal)
        self.assertIn("--dtype", self.next_words("rotary", "--x", "bench"))  # a file of that name

    def test_hidden_commands_are_not_listed(self):
        for text in (self.succeed("--help"), self.run_gyre("nonsense").stderr):
            self.assertIn("rotary", text)
            self.assertNotIn("manual-page", text)

    def test_help_of_no_command(self):
        for words, said in ((("attention-backward",), "gyre: 'attention-backward': no such command"), (("bench", "softmax"), "gyre bench: 'softmax': no such command")):
            for asked in ((*words, "--help"), (*words, "-h"), ("--help", *words)):
                if asked[0] == "--help" and len(words) > 1:
                    continue
                with self.subTest(" ".join(asked)):
                    done = self.run_gyre(*asked)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertTrue(done.stderr.startswith(said), done.stderr)
        self.assertIn("Usage: gyre attention", self.succeed("attention", "--q", "nothing", "--help"))

    def completed(self, *words):
        script = """
            source "$1"
            shift
            COMP_WORDS=("$@")
            COMP_CWORD=$(($# - 1))
            _gyre
            printf '%s\\n' "${COMPREPLY[@]}"
        """
        line = ["bash", "-c", script, "bash", COMPLETION, self.program, *words]
        done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=self.directory)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(self.completed("ro"), ["rotary"])
        self.assertEqual(self.completed("bench", "att"), ["attention"])
        self.assertEqual(self.completed("bench", "attention", "--win"), ["--window-left", "--window-right"])
        self.assertEqual(self.completed("rotary", "--dtype", "f"), ["f32", "f16"])
        self.assertEqual(self.completed("rotary", "--x", ""), [])  # then bash completes files
        self.assertIn("info", self.completed(""))
