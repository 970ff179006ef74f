"""Contexts, threads, and what gyre.info() tells.

    python context_test.py
"""

import copy
import gc
import pickle
import subprocess
import sys
import threading
import unittest

import gyre
import numpy as np
from support import random


class Contexts(unittest.TestCase):
    def test_options(self):
        context = gyre.Context(threads=1)
        self.assertEqual((context.threads, context.selected_kernel), (1, ""))
        self.assertEqual(gyre.Context().threads, gyre.Context(threads=0).threads)
        q = random(1, 40, 2, 64)
        gyre.attention(q, q, q, context=context)
        self.assertIn("attention_", context.selected_kernel)
        self.assertTrue(context.selected_kernel.endswith(context.target) or context.target in str(gyre.info()["targets"]))

    def test_a_context_has_no_copies(self):
        """A copy would give back memory that the first one still uses."""
        context = gyre.Context(threads=1)
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "context: cannot be copied or stored"):
                copied(context)
        self.assertEqual(repr(context), f"gyre.Context(threads=1, target={context.target!r})")

    def test_calls_while_the_interpreter_ends(self):
        for ending in ("class Late:\n    def __del__(self): print(call().shape, context.threads)\nlate = Late()",
                       "def forever():\n    while True: call()\nfor _ in range(3): threading.Thread(target=forever, daemon=True).start()"):
            program = ("import threading, gyre, numpy as np\nq, context = np.ones((1, 200, 4, 64), np.float32), gyre.Context(threads=2)\n"
                       "def call(): return gyre.attention(q, q, q, context=context)\ncall()\n" + ending)
            with self.subTest(ending):
                for _ in range(5):
                    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    self.assertEqual(result.stdout, "(1, 200, 4, 64) 2\n" if "Late" in ending else "")

    def test_every_target_that_runs_here(self):
        q = random(1, 40, 2, 64)
        for target in gyre.info()["targets"]:
            if target["linked"] and target["runnable"] and target["name"] != "cuda":
                context = gyre.Context(target=target["name"])
                self.assertEqual(context.target, target["name"])
                np.testing.assert_allclose(gyre.attention(q, q, q, context=context), gyre.attention(q, q, q), atol=1e-5)

    def test_many_threads_with_and_without_contexts(self):
        q = random(2, 60, 4, 64)
        expected = gyre.attention(q, q, q, causal=True, rope=gyre.Rope())
        wrong = []

        def work(context):
            for _ in range(50):
                got = gyre.attention(q, q, q, causal=True, rope=gyre.Rope(), context=context)
                if not np.array_equal(got, expected):
                    wrong.append(1)

        shared = gyre.Context()
        workers = [threading.Thread(target=work, args=(c,)) for c in (None, None, None, shared, shared, gyre.Context(1))]
        for each in workers:
            each.start()
        del shared
        gc.collect()
        for each in workers:
            each.join()
        self.assertEqual(wrong, [])

    def test_messages_are_the_callers(self):
        q, said = random(1, 4, 2, 64), []

        def work(name):
            for _ in range(200):
                try:
                    gyre.attention(q, q, q, **{name: -1.0})
                except ValueError as error:
                    said.append((name, str(error)))

        workers = [threading.Thread(target=work, args=(name,)) for name in ("softcap", "dropout")]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        self.assertEqual(len(said), 400)
        self.assertTrue(all(text.startswith(name) for name, text in said))

    def test_info(self):
        info = gyre.info()
        self.assertEqual(info["version"], gyre.__version__)
        self.assertIn(info["target"], [t["name"] for t in info["targets"] if t["linked"] and t["runnable"]])
        self.assertGreater(info["kernels"]["attention"], 0)
        self.assertGreaterEqual(info["threads"], 1)


if __name__ == "__main__":
    unittest.main()
