"""gyre tune campaign: what it works on and in which order, what it decides, and that it goes on after any end."""

import os
import random
import subprocess
import sys
import time

from fake_generator import FAULTS
from harness import KERNEL, SOURCES, TuneTest

sys.path.append(os.path.join(os.path.dirname(SOURCES), "compare"))

OTHER = "rotary_f32_interleaved"
CALL = "Llama 3.2 1B, 1 token on 32"
# What the runtime would say, were its kernels those of this test.
FAKE_GYRE = """#!{python}
import json, sys
dtype = sys.argv[sys.argv.index("--dtype") + 1]
kernel, microseconds = {{"f32": ("{first}", 5), "f16": ("{second}", 3), "bf16": ("{first}", 2)}}[dtype]
print(json.dumps({{"kernel": kernel, "min_us": microseconds}}))
"""


class Campaigns(TuneTest):
    def setUp(self):
        super().setUp()
        self.store_slow_knobs()
        names = {"first": f"{KERNEL}__{self.target}", "second": f"{OTHER}__{self.target}"}
        os.makedirs(self.path("build", "bin"))
        with open(self.path("build", "bin", "gyre"), "w", encoding="utf-8") as script:
            script.write(FAKE_GYRE.format(python=sys.executable, **names))
        os.chmod(self.path("build", "bin", "gyre"), 0o755)
        self.kernels = list(names.values())
        self.options = ["campaign", *self.common(), "--only", CALL]
        self.options += ["--minutes", 1, "--trial-seconds", 0.02, "--final-seconds", 0.2, "--limit-seconds", 14400]

    def journal(self):
        return self.read_json("build/tune/campaign/journal.json")

    def stored(self):
        return self.read_json(f"tuning/{self.target}.json")

    def report(self):
        with open(self.path("build", "tune", "campaign", "report.md"), encoding="utf-8") as file:
            return file.read()

    def rows(self):
        """The report's row of each kernel."""
        return {line.split("`")[1]: line for line in self.report().splitlines() if "`" in line}

    def test_the_order(self):
        said = self.succeed(*self.options, "--list")
        self.assertRegex(said, rf"(?s){self.target}: 2 kernels\n +70.0 %  {self.kernels[0]}  2 calls.* +30.0 %  {self.kernels[1]}  1 call")
        self.assertEqual(said.count("knobs: default"), 2)
        self.assertEqual(self.succeed(*self.options, "--list", "--heaviest", 1).count("__"), 1)
        self.assertFalse(os.path.exists(self.path("build", "tune", "campaign", "report.md")))

    def test_what_has_no_evidence(self):
        self.assertEqual(self.succeed(*self.options, "--list", "--unmeasured").count("__"), 2)
        content = self.stored()
        content["kernels"][KERNEL]["evidence"] = {"date": "2026-11-20"}
        self.write_json(f"tuning/{self.target}.json", content)
        said = self.succeed(*self.options, "--list", "--unmeasured")
        self.assertEqual([kernel in said for kernel in self.kernels], [False, True])
        self.assertIn("measured on 2026-11-20", self.succeed(*self.options, "--list"))
        none = "of the 1 heaviest kernels none is without evidence, of lighter ones 1"
        self.assertNotIn(none, said)
        self.assertIn(none, self.succeed(*self.options, "--list", "--unmeasured", "--heaviest", 1))
        self.succeed(*self.options, "--unmeasured")
        self.assertIn("evidence", self.stored()["kernels"][OTHER])
        self.succeed(*self.options, "--unmeasured")
        self.assertEqual([kernel in self.rows() for kernel in self.kernels], [False, True])

    def test_no_time_at_all(self):
        before = self.stored()
        self.assertIn("the budget is spent", self.succeed(*self.options, "--budget", 0))
        self.assertEqual((self.journal()["outcomes"], self.stored()), ({}, before))
        self.assertEqual([("not begun" in row) for row in self.rows().values()], [True, True])

    def test_from_one_end_to_the_other(self):
        said = self.succeed(*self.options)
        self.assertLess(said.index(KERNEL), said.index(OTHER))
        entries = self.stored()["kernels"]
        self.assertEqual(entries[KERNEL]["knobs"]["fault"], 0)
        evidence = entries[KERNEL]["evidence"]
        self.assertEqual(len(evidence["of_stored_time"]), 2)
        self.assertLess(max(evidence["of_stored_time"]), 0.97)
        for name in ("date", "machine", "shape", "candidates_tried", "median_us", "replaced_median_us", "noise_percent"):
            self.assertIn(name, evidence)
        self.assertTrue(entries[OTHER]["evidence"].get("kept") or entries[OTHER]["evidence"]["of_stored_time"])
        rows = self.rows()
        self.assertEqual(list(rows), self.kernels)
        self.assertRegex(rows[self.kernels[0]], r"changed \| 0\.\d+, 0\.\d+ \| .*fault=0")
        self.assertNotIn("default", self.succeed(*self.options, "--list"))
        before = self.stored(), self.journal()
        self.assertNotIn("trial", self.succeed(*self.options))
        self.assertEqual((self.stored(), self.journal()), before)
        self.assertIn("points; reference", self.succeed(*self.options, "--restart"))

    def test_killed_at_several_moments(self):
        command = self.words(*self.options)
        moments, kills = random.Random(2), 0
        for _ in range(5):
            process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            time.sleep(moments.uniform(0.5, 4))
            kills += process.poll() is None
            process.kill()
            process.communicate()
            self.assertEqual(self.stored()["target"], self.target)
        self.assertGreater(kills, 0)
        self.succeed(*self.options)
        outcomes = self.journal()["outcomes"]
        self.assertEqual(list(outcomes), self.kernels)
        self.assertTrue(all(outcome["stored"] for outcome in outcomes.values()))
        self.assertEqual(outcomes[self.kernels[0]]["candidates"], 4)
        self.assertEqual(self.stored()["kernels"][KERNEL], outcomes[self.kernels[0]]["entry"])

    def test_killed_between_the_journal_and_the_tuning_file(self):
        before = self.stored()
        self.succeed(*self.options)
        after, journal = self.stored(), self.journal()
        self.write_json(f"tuning/{self.target}.json", before)
        for outcome in journal["outcomes"].values():
            outcome["stored"] = False
        self.write_json("build/tune/campaign/journal.json", journal)
        self.assertNotIn("trial", self.succeed(*self.options, "--runner", "/bin/false"))
        self.assertEqual(self.stored(), after)

    def test_a_kernel_that_cannot_be_built(self):
        knobs = {KERNEL: {"knobs": {"fault": FAULTS.index("refuses")}}}
        self.write_json(f"tuning/{self.target}.json", {"target": self.target, "defaults": {}, "kernels": knobs})
        result = self.run_tune(*self.options)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1))
        self.assertIn(f"1 of 2 kernels failed, which the same command tries again: {self.kernels[0]}", result.stderr)
        rows = self.rows()
        self.assertIn("failed: the stored or default knobs cannot be built", rows[self.kernels[0]])
        self.assertIn("of 2 kernels are done", self.report())
        self.assertEqual(self.stored()["kernels"][KERNEL], knobs[KERNEL])
        self.store_slow_knobs_again()
        self.assertEqual(self.succeed(*self.options).count("points; reference"), 1)

    def store_slow_knobs_again(self):
        content = self.stored()
        content["kernels"][KERNEL] = {"knobs": {"fault": FAULTS.index("slow")}}
        self.write_json(f"tuning/{self.target}.json", content)

    def test_refused(self):
        self.refuse("--only nonsense", *self.options[:-8], "--only", "nonsense")
        self.refuse("--budget -1", "campaign", "--budget", -1)
        self.refuse("--heaviest 0", "campaign", "--heaviest", 0)
        self.refuse("--runner /nowhere", *self.options, "--runner", "/nowhere")

    def test_the_real_runtime_is_asked(self):
        real = ["campaign", "--build", self.build, "--studies", self.path("studies"), "--list", "--only", CALL, "BERT base, 128 tokens"]
        lines = self.succeed(*real).splitlines()
        kernels = [line for line in lines if "%" in line]
        self.assertAlmostEqual(sum(float(line.split("%")[0]) for line in kernels), 100, delta=0.1 * len(lines))
        self.assertTrue(all(line.split()[2].startswith("attention_") for line in kernels))
        begin = time.monotonic()
        self.assertEqual(self.succeed(*real).splitlines(), lines)
        self.assertLess(time.monotonic() - begin, 60)
