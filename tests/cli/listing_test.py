"""gyre info, gyre kernels and gyre bench."""

import os
from unittest import mock

from harness import GyreTest


class Listing(GyreTest):
    def test_info(self):
        info = self.succeed_json("info")
        self.assertIsInstance(info["cpu_features"], list)
        targets = {target["name"]: target for target in info["targets"]}
        chosen = targets[info["target"]]
        self.assertTrue(chosen["linked"] and chosen["runnable"] and not chosen["missing"])
        for target in info["targets"]:
            self.assertEqual(target["runnable"], not target["missing"])
        self.assertGreaterEqual(info["threads"], 1)
        self.assertEqual(info["gpu"], "none")
        self.assertEqual([rule["kernels"] for rule in info["dispatch"]][-12:],
                         ["paged", "plain_as_stored", "plain_formed", "plain", "sloped", "capped", "general_as_stored",
                          "dropout", "dropout_as_stored", "general", "score", "score_as_stored"])
        self.assertTrue(info["target_reason"])

    def test_info_in_words(self):
        text = self.succeed("info")
        for word in ("CPU features", "target", "chosen", "threads", "GPU"):
            self.assertIn(word, text)

    def test_rules_are_sentences_in_short_lines(self):
        text = self.succeed("info")
        told = text[text.index("dispatch"):].split("\n")
        self.assertLessEqual(max(map(len, told)), 110)
        for rule in self.succeed_json("info")["dispatch"]:
            at = told.index(f"    {rule['operation']}_{rule['kernels']}") + 1
            end = next((i for i in range(at, len(told)) if not told[i].startswith("        ")), len(told))
            self.assertEqual(" ".join(line.strip() for line in told[at:end]), rule["calls"])
            self.assertRegex(rule["calls"], "^(f16|f32|[A-Z])")
            self.assertLess(len(rule["calls"]), 500)

    def test_info_says_what_forced_a_target(self):
        for target in self.succeed_json("info")["targets"]:
            if target["linked"] and target["runnable"]:
                info = self.succeed_json("info", "--target", target["name"], "--threads", 3)
                self.assertEqual((info["target"], info["threads"]), (target["name"], 3))
                self.assertIn("--target", info["target_reason"])

    def test_kernels(self):
        kernels = self.succeed_json("kernels")["kernels"]
        self.assertTrue(kernels)
        for kernel in kernels:
            self.assertEqual(
                set(kernel), {"name", "operation", "variant", "target", "library", "runnable", "attributes", "evidence"}
            )
            self.assertEqual(kernel["name"], f"{kernel['operation']}_{kernel['variant']}__{kernel['target']}")
        text = self.succeed("kernels")
        self.assertTrue(all(kernel["variant"] in text for kernel in kernels))

    def test_version(self):
        self.assertRegex(self.succeed("--version"), r"^gyre \d+\.\d+\.\d+\n$")


class Tuner(GyreTest):
    def test_what_is_behind_the_command_is_not_read(self):
        """Names of gyre's own commands are the beginnings of kernels' names."""
        with open(self.path("python"), "w", encoding="utf-8") as script:
            script.write('#!/bin/sh\nshift 2\nprintf "%s\\n" "$@"\n')
        os.chmod(self.path("python"), 0o755)
        with mock.patch.dict(os.environ, GYRE_PYTHON=self.path("python")):
            for words in (["rotary", "--trials", "3"], ["attention", "bench"], ["--help"], ["tune", "--version", "--", "x"]):
                self.assertEqual(self.succeed("tune", *words).splitlines(), words)
                self.assertEqual(self.succeed("compare", *words).splitlines(), ["compare", *words])


class Bench(GyreTest):
    fields = {
        "operation",
        "kernel",
        "target",
        "shape",
        "threads",
        "median_us",
        "min_us",
        "p10_us",
        "p90_us",
        "gflops",
        "gbytes_per_s",
        "peak",
        "percent_of_peak",
    }

    def bench(self, *arguments):
        report = self.succeed_json("bench", *arguments, "--repeat", 3)
        self.assertLessEqual(self.fields, set(report))
        self.assertEqual(report["operation"], arguments[0])
        self.assertTrue(0 < report["min_us"] <= report["p10_us"] <= report["median_us"] <= report["p90_us"])
        self.assertEqual(report["runs"], 3)
        if report["peak"] is not None:
            self.assertGreater(report["peak"], 0)
            rate = report["gbytes_per_s" if report["peak_unit"] == "GB/s" else "gflops"]
            self.assertAlmostEqual(report["percent_of_peak"], 100 * rate / report["peak"], places=6)
        return report

    def test_rotary(self):
        report = self.bench("rotary", "--shape", "b=2,h=3,lq=50,d=64", "--threads", 1)
        self.assertEqual((report["peak_unit"], report["threads"]), ("GB/s", 1))
        self.assertAlmostEqual(report["gbytes_per_s"] * report["median_us"] * 1e3, 2 * 4 * 2 * 3 * 50 * 64, delta=1)
        self.bench("rotary", "--shape", "h=3,lq=50,d=64", "--interleaved", "--rotary-dim", 32, "--dtype", "f16")

    def test_sizes_that_are_not_said(self):
        report = self.bench("rotary", "--shape", "h=3,lq=5")
        self.assertEqual(report["shape"], {"b": 1, "h": 3, "hkv": 3, "lq": 5, "lk": 5, "d": 128, "dv": 128})

    def test_attention_counts_visible_pairs(self):
        shape = "b=1,h=2,hkv=1,lq=30,lk=40,d=32,dv=16"
        for options, pairs in (
            ([], 30 * 40),
            (["--causal", "bottom_right"], sum(range(11, 41))),
            (["--causal", "top_left"], sum(range(1, 31))),
            (["--window-left", 3, "--window-right", 0], 30 * 4),
        ):
            report = self.bench("attention", "--shape", shape, *options)
            self.assertAlmostEqual(report["gflops"] * report["median_us"] * 1e3, 2 * 2 * pairs * (32 + 16), delta=1)
        self.assertEqual(report["shape"], {"b": 1, "h": 2, "hkv": 1, "lq": 30, "lk": 40, "d": 32, "dv": 16})

    def test_peak_is_that_of_the_kernel_s_own_target(self):
        if os.uname().machine != "x86_64":
            self.skipTest("the names of the peaks are x86-64's")
        wanted = {"generic": "SSE mul + add", "avx2": "256-bit FMA", "avx512": "512-bit FMA"}
        for target in self.succeed_json("info")["targets"]:
            name = target["name"].rsplit("_", 1)[-1]
            if target["linked"] and target["runnable"] and name in wanted:
                report = self.bench("attention", "--shape", "h=1,lq=16,d=32", "--target", target["name"])
                self.assertEqual((report["target"], report["peak_name"]), (target["name"], wanted[name]))
            if target["linked"] and target["runnable"] and target["name"] == "x86_64_avx512_bf16":
                report = self.bench("attention", "--shape", "h=1,lq=128,d=64", "--target", target["name"], "--dtype", "bf16")
                self.assertEqual(report["peak_name"], "512-bit bf16 products")

    def test_words(self):
        text = self.succeed("bench", "rotary", "--shape", "h=1,lq=16,d=64", "--repeat", 2)
        self.assertIn("GB/s", text)
        self.assertIn("%", text)
