"""Options that gyre tune must not accept, and what it needs to run at all."""

import os
import shlex
import sys

import options
from harness import KERNEL, TuneTest


class Options(TuneTest):
    def test_examples(self):
        for command, line in options.EXAMPLES.items():
            with self.subTest(line=line):
                words = shlex.split(line.removeprefix("gyre ").removeprefix("tune "))
                self.assertEqual(options.parse(words, "build").command, command)
                shown = self.succeed(*words[: command != "search"], "--help")
                self.assertIn(f"Example:\n  {line}\n", shown)

    def test_refused(self):
        common = self.common()
        for naming, *words in (
            ("kernel",),
            ("kernel nonsense", "nonsense"),
            ("--target abacus", KERNEL, "--target", "abacus"),
            ("--trials 0", KERNEL, "--trials", 0),
            ("--trials many", KERNEL, "--trials", "many"),
            ("--minutes -3", KERNEL, "--minutes", -3),
            ("--minutes --trials", KERNEL, "--trials", 3, "--minutes", 3),
            ("--threads 0", KERNEL, "--threads", 0),
            ("--sampler best", KERNEL, "--sampler", "best"),
            ("--seed -1", KERNEL, "--seed", -1),
            ("--shape x=3", KERNEL, "--shape", "x=3"),
            ("--shape h=0", KERNEL, "--shape", "h=0"),
            ("--shape h=1,h=1", KERNEL, "--shape", "h=1,h=1"),
            ("--shape hkv", KERNEL, "--shape", "h=3,hkv=2"),
            ("--knobs colour lanes", KERNEL, "--knobs", "colour=3"),
            ("--knobs lanes=wide", KERNEL, "--knobs", "lanes=wide"),
            ("--knobs lanes=4096 expected to", KERNEL, "--knobs", "lanes=4096"),
            ("--study a/b", KERNEL, "--study", "a/b"),
            ("--limit-memory", KERNEL, "--limit-memory", 1),
            ("--autoscheduler magic", KERNEL, "--autoscheduler", "magic"),
            ("--storage nonsense", KERNEL, "--trials", 1, "--storage", "nonsense"),
            ("--nonsense", KERNEL, "--nonsense"),
            ("--runner /nowhere", KERNEL, "--runner", "/nowhere"),
        ):
            with self.subTest(words=words):
                self.refuse(naming, *words[:1], *common, *words[1:])
        self.refuse("--build nowhere", KERNEL, "--build", "nowhere")

    def test_constraints_hold_for_the_start(self):
        self.change_space(constraints=["lanes != 8"])
        self.refuse("--knobs lanes=8 lanes != 8", KERNEL, *self.common(), "--trials", 1, "--knobs", "lanes=8")

    def test_conditions_that_are_not_in_the_language(self):
        self.change_space(constraints=["__import__('os').system('true') == 0"])
        self.refuse("rotary_knobs.json not allowed", KERNEL, *self.common(), "--trials", 1, code=1)

    def test_help(self):
        for words in (["--help"], ["report", "--help"], ["export", "--help"], ["import", "--help"]):
            self.assertIn("--build", self.succeed(*words))

    def test_a_python_without_optuna(self):
        with open(self.path("bare"), "w", encoding="utf-8") as script:
            script.write(f"#!/bin/sh\nexec '{sys.executable}' -I -S \"$@\"\n")
        os.chmod(self.path("bare"), 0o755)
        self.environment["GYRE_PYTHON"] = self.path("bare")
        self.refuse("pip install optuna GYRE_PYTHON", KERNEL, code=1)

    def test_without_python(self):
        self.environment["GYRE_PYTHON"] = "/nowhere/python"
        result = self.run_tune(KERNEL)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1))
        self.assertIn("/nowhere/python", result.stderr)
