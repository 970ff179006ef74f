"""A library has code for CUDA devices if it was built with CUDA, and none of it otherwise.

    python device_test.py LIBRARY on|off
"""

import pathlib
import sys
import unittest

LIBRARY, CUDA = pathlib.Path(sys.argv[1]), sys.argv[2]
MARKS = (b"N4gyre4cuda", b"libcuda.so.1")


class Device(unittest.TestCase):
    def test_code(self):
        self.assertIn(CUDA, ("on", "off"))
        code = LIBRARY.read_bytes()
        self.assertIn(b"gyre_attention", code)
        self.assertEqual([mark in code for mark in MARKS], [CUDA == "on"] * len(MARKS))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
