"""A few trials of the build's own kernels, one of each kind, with the search spaces that the project ships."""

import os
import re

from harness import HANGING_SECONDS, TuneTest, recipes_of

SHAPES = {"attention": "h=2,hkv=1,lq=70,lk=90,causal=1", "split": "h=4,hkv=1,lq=2,lk=1500,causal=1", "rotary": "h=2,lq=50,d=64", "angles": "h=1,lq=50,d=64"}


class Tunable(TuneTest):
    def test_without_knobs(self):
        result = self.run_tune("merge_f32_f32", "--build", self.build, "--studies", self.path("studies"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("merge_f32_f32", result.stderr)
        self.assertIn("no knobs", result.stderr)

    def test_with_the_knobs_of_another(self):
        asked, suffix = set(), re.compile("_(f32|f16|bf16)_d(max)?[0-9]+$")
        for kernel in recipes_of(self.build)["kernels"]:
            family = suffix.sub("", kernel["variant"])
            if "knobs_of" not in kernel or kernel["operation"] not in SHAPES or (family, kernel["target"]) in asked:
                continue
            asked.add((family, kernel["target"]))
            name, other = (f"{kernel['operation']}_{kernel[variant]}" for variant in ("variant", "knobs_of"))
            words = [name, "--target", kernel["target"], "--build", self.build, "--studies", self.path("studies")]
            words += ["--trials", 1, "--trial-seconds", 0.05, "--final-seconds", 0.1, "--no-write"]  # if it is not refused
            with self.subTest(name, target=kernel["target"]):
                result = self.run_tune(*words)
                self.assertEqual(result.returncode, 2)
                self.assertIn(f"'{name}' has the knobs of {other}", result.stderr)
        if any(kernel["operation"] == "operands" for kernel in recipes_of(self.build)["kernels"]):
            self.assertIn("plain_formed", {family for family, _ in asked})  # whose calls the kernel of their knobs serves where they are short


class Kernels(TuneTest):
    def kinds(self):
        """The first kernel of each operation, family and kind of target."""
        found = {}
        for kernel in recipes_of(self.build)["kernels"]:
            tiles, parameters = "sapphirerapids" in kernel["halide_target"], kernel["parameters"]
            if "knobs_of" not in kernel and "score" not in parameters and kernel["operation"] in SHAPES:  # merging has no knobs
                converts = parameters.get("from_dtype", parameters.get("dtype")) != parameters.get("dtype")
                kind = (kernel["operation"], parameters.get("general"), parameters.get("partial"), converts, tiles)
                found.setdefault(kind, kernel)
        return found.values()

    def test_each_kind(self):
        runner = os.path.join(os.path.dirname(self.program), "gyre_tune_runner")
        for kernel in self.kinds():
            name = f"{kernel['operation']}_{kernel['variant']}"
            words = [
                name,
                "--target",
                kernel["target"],
                "--build",
                self.build,
                "--runner",
                runner,
                "--studies",
                self.path("studies"),
            ]
            shape = SHAPES["split" if "partial" in kernel["parameters"] else kernel["operation"]]
            words += ["--shape", shape, "--trial-seconds", 0.05, "--final-seconds", 0.1, "--no-write"]
            words += ["--limit-seconds", HANGING_SECONDS]
            with self.subTest(name, target=kernel["target"]):
                result = self.run_tune(*words, "--trials", 2)
                if "this machine cannot run" in result.stdout + result.stderr:
                    continue
                self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
                lines = [line for line in result.stdout.splitlines() if line.startswith("trial")]
                self.assertEqual(len(lines), 2)
                for line in lines:  # what became of it stands third; a time does, if it could be made and was right
                    self.assertRegex(line.split()[2], r"^\d+\.\d+$", result.stdout)

    def test_an_autoscheduler(self):
        kernel = next(
            kernel
            for kernel in recipes_of(self.build)["kernels"]
            if kernel["operation"] == "rotary" and "f32" in kernel["variant"]
        )
        runner = os.path.join(os.path.dirname(self.program), "gyre_tune_runner")
        words = [f"rotary_{kernel['variant']}", "--target", kernel["target"], "--build", self.build, "--runner", runner]
        words += [
            "--studies",
            self.path("studies"),
            "--shape",
            "h=8,lq=64,d=128",
            "--trial-seconds",
            0.05,
            "--final-seconds",
            0.1,
            "--limit-seconds",
            HANGING_SECONDS,
        ]
        result = self.run_tune(*words, "--trials", 2, "--autoscheduler", "mullapudi2016")
        lines = [line for line in result.stdout.splitlines() if line.startswith("trial")]
        self.assertEqual(len(lines), 2, result.stdout + result.stderr)  # whatever became of them
        self.assertNotIn("written", result.stdout)
