"""Runs gyre in a temporary directory, and says what a good refusal looks like."""

import json
import os
import subprocess
import tempfile
import unittest

import numpy as np


class GyreTest(unittest.TestCase):
    program = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="gyre-cli-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.random = np.random.default_rng(sum(map(ord, self.id())))

    def path(self, name):
        return os.path.join(self.directory, name)

    def save(self, name, array):
        np.save(self.path(name), array)
        return name

    def load(self, name):
        return np.load(self.path(name))

    def normal(self, *shape, dtype=np.float32):
        return self.random.standard_normal(shape).astype(dtype)

    def run_gyre(self, *arguments):
        return subprocess.run(
            [self.program, *map(str, arguments)], cwd=self.directory, capture_output=True, text=True
        )

    def succeed(self, *arguments):
        result = self.run_gyre(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def succeed_json(self, *arguments):
        return json.loads(self.succeed(*arguments, "--json"))

    def refuse(self, naming, *arguments):
        """Exit code 2, one line on stderr that holds every word of `naming`, nothing on stdout, no new file."""
        before = sorted(os.listdir(self.directory))
        result = self.run_gyre(*arguments)
        message = f"{' '.join(map(str, arguments))}\n{result.stdout}{result.stderr}"
        self.assertEqual(result.returncode, 2, message)
        self.assertEqual(result.stdout, "", message)
        self.assertEqual(result.stderr.count("\n"), 1, message)
        self.assertTrue(result.stderr.endswith("\n"), message)
        for word in naming.split():
            self.assertIn(word, result.stderr, message)
        self.assertEqual(sorted(os.listdir(self.directory)), before, message)

    def close(self, actual, expected, tolerance):
        self.assertEqual(actual.shape, expected.shape)
        np.testing.assert_allclose(actual.astype(np.float64), expected, rtol=tolerance, atol=tolerance)
