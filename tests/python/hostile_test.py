"""Arrays that nobody would make by intent: whatever they say of themselves is refused by name or computed as it stands, and nothing crashes.

    python hostile_test.py
"""

import ctypes
import unittest

import gyre
import numpy as np
from gyre import _dlpack
from support import random

REFUSED = (ValueError, TypeError, NotImplementedError)
SHAPE = (1, 4, 2, 64)
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Liar:
    """Hands out a DLTensor with these fields; what is not given is right."""

    def __init__(self, **fields):
        self.memory = np.ones(SHAPE, np.float32)
        self.shape, self.dtype = SHAPE, self.memory.dtype
        told = {"data": self.memory.ctypes.data, "device_type": 1, "ndim": 4, "code": 2, "bits": 32, "lanes": 1, "shape": SHAPE,
                "strides": (512, 128, 64, 1)} | fields
        told = {name: (ctypes.c_int64 * 4)(*value) if isinstance(value, tuple) else value for name, value in told.items() if value is not None}
        self.managed = _dlpack.Managed(tensor=_dlpack.DLTensor(**told))

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self):
        return _capsule(ctypes.addressof(self.managed), b"dltensor", None)


def drawn_array(rng):
    """A view of any shape, strides and type into memory of its own: NumPy sees to it that no element lies outside."""
    dtype = np.dtype(rng.choice(["f4", "f4", "f4", "f2", "f8", "i4", "i8", "?", "u1", ">f4", "c8"]))
    rank = int(rng.choice([4, 4, 4, 4, 3, 2, 0, 5]))
    shape = [int(rng.choice([0, 1, 1, 2, 3, 4, 5])) for _ in range(rank)]
    if shape:
        shape[-1] = int(rng.choice([0, 1, 2, 16, 64, 64, 64, 72]))
    strides, reach = [0] * rank, dtype.itemsize
    for i in reversed(range(rank)):
        strides[i] = int(rng.choice([reach, reach, reach, 0, -reach, reach + dtype.itemsize, reach + 1, -dtype.itemsize]))
        reach = max(reach, abs(strides[i]) * max(shape[i], 1))
    before = sum(-s * max(n - 1, 0) for s, n in zip(strides, shape) if s < 0)
    spanned = sum(abs(s) * max(n - 1, 0) for s, n in zip(strides, shape))
    memory = np.zeros(spanned + 2 * dtype.itemsize + 1, np.uint8)
    array = np.ndarray(shape, dtype, memory, before + int(rng.choice([0, 0, 0, dtype.itemsize, 1])), strides)
    array.flags.writeable = bool(rng.random() < 0.9)
    return array


class Hostile(unittest.TestCase):
    def test_tensors_that_lie(self):
        right = random(*SHAPE)
        np.testing.assert_array_equal(gyre.attention(right, right, Liar()), gyre.attention(right, right, np.ones(SHAPE, np.float32)))
        for fields in ({"ndim": 2**31 - 1}, {"ndim": -1}, {"ndim": 9}, {"shape": (1, 4, 2, -64)}, {"shape": (2**62, 2**62, 4, 64)},
                       {"shape": (1, 2**62, 2, 64)}, {"strides": (2**62, 2**62, 2**62, 1)}, {"strides": (512, -(2**63), 64, 1)},
                       {"strides": (512, 128, 64, 2**40)}, {"data": None}, {"shape": None}, {"byte_offset": 2**64 - 1}, {"byte_offset": 1},
                       {"lanes": 4}, {"lanes": 0}, {"bits": 64}, {"code": 200}):
            with self.subTest(str(fields)):
                for place in range(3):
                    given = [right, right, right]
                    given[place] = Liar(**fields)
                    with self.assertRaisesRegex(REFUSED, "^[qkv]: "):
                        gyre.attention(*given)

    def test_subclasses_that_lie(self):
        right = random(*SHAPE)
        for lie in ({"strides": (10**6, 10**6, 10**6, 4)}, {"itemsize": 1}, {"__array_interface__": {"data": (4096, False)}},
                    {"shape": (1, 10**6, 2, 64)}, {"flags": None}):
            with self.subTest(str(lie)):
                liar = right.view(type("Subclass", (np.ndarray,), lie))
                if "shape" in lie:  # that of the result, too
                    self.assertRaises(REFUSED, gyre.attention, liar, right, right)
                else:
                    np.testing.assert_array_equal(gyre.attention(liar, right, right), gyre.attention(right, right, right))

    def test_views_of_any_kind(self):
        """In every place of a call. Where a call is taken, its result is that of copies, which are as NumPy makes them."""
        rng = np.random.default_rng(28)
        taken = 0
        for _ in range(1000):
            arrays = [random(*SHAPE), random(*SHAPE), random(*SHAPE), np.zeros(SHAPE, np.float32)]
            for place in range(4):
                if rng.random() < 0.4:
                    arrays[place] = drawn_array(rng)
            *given, out = arrays
            try:
                got = gyre.attention(*given, out=out if rng.random() < 0.5 else None)
            except REFUSED as error:
                self.assertRegex(str(error), "^(q|k|v|out): ")
                continue
            taken += 1
            np.testing.assert_array_equal(got, gyre.attention(*(array.copy() for array in given)))
        self.assertGreater(taken, 100)


if __name__ == "__main__":
    unittest.main()
