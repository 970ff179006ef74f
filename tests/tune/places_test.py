"""Where builds lie: relative names, the folder of gyre_add_kernels() in a project, a Python without packages."""

import os
import shutil
import sys

from fake_generator import FAULTS
from harness import KERNEL, QUICK, TuneTest


class Places(TuneTest):
    def without(self, *names):
        """common() less some options."""
        words = self.common()
        for name in names:
            at = words.index(name)
            del words[at : at + 2]
        return words

    def test_a_relative_build(self):
        words = [KERNEL, *self.without("--build"), "--build", "build", *QUICK, "--trials", 1, "--no-write"]
        self.assertIn("points; reference", self.succeed(*words))
        self.succeed("report", "--build", "build", "--out", "pictures")
        self.assertTrue(os.path.exists(self.path("pictures", "report.html")))

    def project(self):
        """What gyre_add_kernels(my_kernels …) leaves in a project's build tree; its knobs are not in gyre's database."""
        self.store_slow_knobs()
        os.remove(self.path("tuning", self.target + ".json"))
        os.makedirs(self.path("project"))
        shutil.move(self.path("build", "kernels"), self.path("project", "my_kernels"))
        name = "project/my_kernels/recipes.json"
        content = self.read_json(name)
        for kernel in content["kernels"]:
            if f"{kernel['operation']}_{kernel['variant']}" == KERNEL:
                kernel["knobs"] = {"fault": str(FAULTS.index("slow"))}
        self.write_json(name, content)
        words = self.without("--build", "--runner")  # the program's own
        return [KERNEL, *words, "--build", "project/my_kernels", *QUICK, "--sampler", "grid"]

    def test_kernels_of_a_project(self):
        words = self.project()
        self.refuse("--tuning TUNING --no-write", *words, "--trials", 1)
        said = self.succeed(*words, "--trials", 4, "--tuning", "my_tuning")
        self.assertIn(f"reference fault={FAULTS.index('slow')}", said)
        self.assertIn("gyre_add_kernels() as TUNING", said)
        self.assertEqual(self.read_json(f"my_tuning/{self.target}.json")["kernels"][KERNEL]["knobs"]["fault"], 0)
        self.assertEqual(os.listdir(self.path("tuning")), [])

    def test_kernels_of_a_project_without_writing(self):
        self.succeed(*self.project(), "--trials", 1, "--no-write", "--target", "host")

    def test_a_python_without_packages_helps(self):
        with open(self.path("bare"), "w", encoding="utf-8") as script:
            script.write(f"#!/bin/sh\nexec '{sys.executable}' -I -S \"$@\"\n")
        os.chmod(self.path("bare"), 0o755)
        self.environment["GYRE_PYTHON"] = self.path("bare")
        for words in ([], ["report"], ["export"], ["import"], ["revert"], ["compare"]):
            self.assertIn("--build", self.succeed(*words, "--help"))
        self.refuse("matplotlib numpy pip install", "report", code=1)
        self.refuse("nothing was written", "revert", KERNEL, "--build", self.path("build"))
