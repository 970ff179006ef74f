"""gyre plot: its numbers against NumPy, and what it needs to draw."""

import importlib.util
import os
import sys
import unittest
from unittest import mock

import numpy as np
from harness import GyreTest


def angles(length, pairs, theta=10000.0):
    return np.arange(length)[:, None] * theta ** (-np.arange(pairs) / pairs)


class Plot(GyreTest):
    def close_angles(self, actual, expected):
        """Angles that differ by whole turns are the same."""
        self.close(np.abs(np.exp(1j * actual) - np.exp(1j * expected)), np.zeros(expected.shape), 2e-6)

    def test_angles(self):
        for options in ((), ("--interleaved",)):
            self.succeed("plot", "angles", "--data", "a.npy", "--head-dim", 64, "--length", 300, *options)
            self.assertEqual(self.load("a.npy").dtype, np.float64)
            self.close_angles(self.load("a.npy"), angles(300, 32))
            self.assertTrue(np.all((self.load("a.npy") >= 0) & (self.load("a.npy") <= 2 * np.pi)))

    def test_angles_of_a_rule(self):
        rope = '{"rope_type": "linear", "factor": 4, "rope_theta": 5e5, "head_dim": 64, "partial_rotary_factor": 0.5}'
        report = self.succeed_json("plot", "angles", "--data", "a.npy", "--rope", rope)
        self.assertEqual(report["rotary_dim"], 32)
        self.close_angles(self.load("a.npy"), angles(report["length"], 16, 5e5) / 4)

    def test_decay(self):
        report = self.succeed_json("plot", "decay", "--data", "d.npy", "--head-dim", 128, "--length", 500)
        self.assertTrue(report["kernel"].startswith("rotary_"))
        units = np.exp(1j * angles(500, 64))
        dot_product = units.real.sum(axis=1)
        partial_sums = np.abs(np.cumsum(units, axis=1)).mean(axis=1)
        self.close(self.load("d.npy"), np.stack([dot_product / dot_product[0], partial_sums / partial_sums[0]]), 1e-6)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "this Python has no matplotlib")
    def test_pictures(self):
        with mock.patch.dict(os.environ, GYRE_PYTHON=sys.executable):
            for plot in ("angles", "decay"):
                self.succeed("plot", plot, "--out", "p.png", "--length", 32)
                with open(self.path("p.png"), "rb") as picture:
                    self.assertEqual(picture.read(8), b"\x89PNG\r\n\x1a\n")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "this Python has no matplotlib")
    def test_attention(self):
        random = np.random.default_rng(1)
        with mock.patch.dict(os.environ, GYRE_PYTHON=sys.executable):
            for shape in ((2, 3, 9, 7), (3, 9, 7), (9, 7)):
                maps = random.random(shape).astype(np.float32)
                self.save("p.npy", maps / maps.sum(axis=-1, keepdims=True))
                report = self.succeed_json("plot", "attention", "--probabilities", "p.npy", "--out", "p.png", "--rows", "layer")
                self.assertEqual(report["shape"], [1] * (4 - len(shape)) + list(shape))
                with open(self.path("p.png"), "rb") as picture:
                    self.assertEqual(picture.read(8), b"\x89PNG\r\n\x1a\n")

    def test_what_gyre_attention_saves(self):
        for name in "qkv":
            self.save(name + ".npy", self.normal(1, 2, 9, 8))
        self.succeed(
            "attention", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy", "--probabilities", "p.npy"
        )
        with mock.patch.dict(os.environ, GYRE_PYTHON=sys.executable):
            report = self.succeed_json("plot", "attention", "--probabilities", "p.npy", "--out", "p.png")
        self.assertEqual(report["shape"], [1, 2, 9, 9])

    def test_attention_refused(self):
        self.save("p.npy", np.full((2, 5, 5), 0.2, np.float32))
        self.refuse("--out", "plot", "attention", "--probabilities", "p.npy")
        self.refuse("--probabilities", "plot", "attention", "--out", "p.png")
        self.refuse("--out nowhere", "plot", "attention", "--probabilities", "p.npy", "--out", "nowhere/p.png")
        for bad in (np.full((5, 5), -0.1), np.full((5, 5), np.nan), np.full((5, 5), 1.5), np.zeros((5, 5), np.int32),
                    np.zeros(5), np.zeros((1, 1, 1, 5, 5)), np.zeros((0, 5, 5)), np.zeros((65, 2, 2))):
            self.save("bad.npy", bad)
            self.refuse("--probabilities bad.npy", "plot", "attention", "--probabilities", "bad.npy", "--out", "p.png")

    def fail_to_draw(self, python, *naming):
        """Exit code 1 and one line that holds these words; no picture."""
        with mock.patch.dict(os.environ, GYRE_PYTHON=python):
            result = self.run_gyre("plot", "angles", "--out", "p.png", "--length", 32)
        self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (1, "", 1), result.stderr)
        for word in naming:
            self.assertIn(word, result.stderr)
        self.assertFalse(os.path.exists(self.path("p.png")))

    def python_that_exits(self, name, exit_code):
        with open(self.path(name), "w", encoding="utf-8") as script:
            script.write(f"#!/bin/sh\nexit {exit_code}\n")
        os.chmod(self.path(name), 0o755)
        return self.path(name)

    def test_what_is_missing_is_named(self):
        self.fail_to_draw("/nowhere/python", "/nowhere/python", "matplotlib", "--data")
        self.fail_to_draw(self.python_that_exits("without", 3), "has no matplotlib", "pip install matplotlib")
        self.fail_to_draw(self.python_that_exits("broken", 9), "angles.py", "exit code 9")

    def test_refused(self):
        for plot in ("angles", "decay"):
            self.refuse("--out --data", "plot", plot)
            self.refuse("--out nowhere", "plot", plot, "--out", "nowhere/p.png")
            self.refuse("--data nowhere", "plot", plot, "--data", "nowhere/a.npy")
            self.refuse("--head-dim 7", "plot", plot, "--data", "a.npy", "--head-dim", 7)
            self.refuse("--length 1", "plot", plot, "--data", "a.npy", "--length", 1)
            self.refuse("--target abacus", "plot", plot, "--data", "a.npy", "--target", "abacus")
        self.refuse("plot angles decay", "plot")
