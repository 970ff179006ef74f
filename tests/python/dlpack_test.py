"""Arrays of other libraries, by __dlpack__ alone: no copy, strides kept, refusals of what cannot be read.

    python dlpack_test.py
"""

import gc
import types
import unittest
import weakref

import gyre
import numpy as np
from support import BF16, random


class Foreign:
    """An array of some other library, of which nothing is known but the protocol."""

    def __init__(self, array, device=(1, 0), versions=True):
        self.array, self.device, self.versions = array, device, versions
        self.shape, self.dtype = array.shape, array.dtype

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if options and not self.versions:
            raise TypeError("__dlpack__() takes no keyword arguments")
        return self.array.__dlpack__(**options)


class Standard(Foreign):
    """An array of a library that follows the array API standard: results become its arrays."""

    def __array_namespace__(self, **options):
        return types.SimpleNamespace(asarray=Standard)


class Dlpack(unittest.TestCase):
    def test_both_versions_and_any_strides(self):
        q = random(2, 6, 3, 64)
        expected = gyre.attention(q, q, q)
        for versions in (True, False):
            np.testing.assert_array_equal(gyre.attention(*[Foreign(q, versions=versions)] * 3), expected)
        turned = np.asfortranarray(q.transpose(3, 0, 2, 1)).transpose(1, 3, 2, 0)[:, ::-1]
        np.testing.assert_array_equal(gyre.attention(Foreign(turned), Foreign(q), Foreign(q)),
                                      gyre.attention(turned.copy(), q, q))

    def test_every_type(self):
        q = random(1, 4, 2, 64)
        for dtype in (np.float16, np.float32):
            x = q.astype(dtype)
            np.testing.assert_array_equal(gyre.attention(Foreign(x), Foreign(x), Foreign(x)), gyre.attention(x, x, x))
        table = np.cos(np.ones((4, 32)))  # float64
        right = gyre.rotary(q, gyre.Rope(cos=table, sin=table))
        np.testing.assert_array_equal(gyre.rotary(q, gyre.Rope(cos=Foreign(table), sin=Foreign(table))), right)
        for dtype in (np.int32, np.int64):
            positions = np.arange(4, dtype=dtype) * 3
            np.testing.assert_array_equal(gyre.rotary(q, gyre.Rope(), positions=Foreign(positions)), gyre.rotary(q, gyre.Rope(), positions=positions))
        mask = np.tri(4, dtype=bool)
        np.testing.assert_array_equal(gyre.attention(q, q, q, mask=Foreign(mask)), gyre.attention(q, q, q, mask=mask))

    def test_results_are_written_to_the_owners_memory(self):
        q, out = random(1, 5, 2, 64), np.zeros((1, 5, 2, 64), np.float32)
        given = Foreign(out)
        self.assertIs(gyre.attention(q, q, q, out=given), given)
        np.testing.assert_array_equal(out, gyre.attention(q, q, q))

    def test_results_are_of_the_arguments_library_unless_they_are_given(self):
        numbers, packed = random(1, 5, 2, 64), random(5, 2, 64)
        x, rope = Standard(numbers), gyre.Rope()
        state = gyre.linear_attention(x, x, x, return_state=True)[1]
        out, lse = gyre.attention(x, x, x, return_lse=True)
        whole = gyre.attention(packed, packed, packed, cu_seqlens_q=[0, 5], cu_seqlens_k=[0, 5], layout="thd", return_lse=True)
        parts = [np.stack([part] * 2) for part in whole]
        made = {"rotary": [gyre.rotary(x, rope)], "rotary_qk": gyre.rotary_qk(x, x, rope), "attention": [gyre.attention(x, x, x), out, lse],
                "merge_states": gyre.merge_states(*map(Standard, parts), layout="thd"),
                "attention_backward": gyre.attention_backward(x, x, x, x, out, lse), "linear_attention": [gyre.linear_attention(x, x, x), *state],
                "linear_attention_backward": gyre.linear_attention_backward(x, x, x, x)}
        for name, results in made.items():
            with self.subTest(name):
                self.assertEqual([type(result) for result in results], [Standard] * len(results))
        given = [np.zeros_like(numbers) for _ in range(3)]
        for got, out in ((gyre.rotary(x, rope, out=given[0]), given[0]), (gyre.attention(x, x, x, out=given[1]), given[1]),
                         (gyre.linear_attention(x, x, x, out=given[2]), given[2]), (gyre.rotary_qk(x, x, rope, out=(given[0], given[1]))[1], given[1])):
            self.assertIs(got, out)

    def test_memory_lives_as_long_as_a_rope_that_has_it(self):
        angle = np.arange(4)[:, None] * np.ones(32)
        table = np.cos(angle).astype(np.float32)
        foreign = Foreign(table)
        watched = weakref.ref(foreign)
        rope = gyre.Rope(cos=foreign, sin=np.sin(angle).astype(np.float32))
        del foreign, table
        gc.collect()
        self.assertIsNotNone(watched())
        x = random(1, 4, 2, 64)
        np.testing.assert_allclose(gyre.rotary(x, rope), gyre.rotary(x, gyre.Rope(inv_freq=np.ones(32))), atol=2e-5)
        del rope
        gc.collect()
        self.assertIsNone(watched())

    def test_nothing_is_leaked(self):
        q = random(1, 5, 2, 64)
        watched = weakref.ref(q)
        gyre.attention(Foreign(q), q, q)
        with self.assertRaises(ValueError):
            gyre.attention(Foreign(q), q[:, :3], q)
        del q
        gc.collect()
        self.assertIsNone(watched())

    def test_refusals(self):
        q = random(1, 5, 2, 64)
        for foreign, error, said in [
            (Foreign(q, device=(2, 0)), ValueError, "q: is on a device of DLPack's type 2"),
            (Foreign(q.astype(np.complex64)), TypeError, "q: got DLPack's type code 5"),
            (Foreign(q.astype(np.int8)), TypeError, "q: got DLPack's type code 0 of 8 bits"),
        ]:
            with self.assertRaisesRegex(error, said):
                gyre.attention(foreign, q, q)

        class Deleted(Foreign):
            def __dlpack__(self, **options):
                raise RuntimeError("Array has been deleted.")

        class Odd(Foreign):
            def __dlpack__(self, **options):
                return 3

        for kind, error, said in [(Deleted, ValueError, "q: its owner .* deleted"), (Odd, TypeError, "q: __dlpack__.. gave int")]:
            with self.assertRaisesRegex(error, said):
                gyre.attention(kind(q), q, q)

    def test_read_only(self):
        fixed = random(1, 5, 2, 64)
        fixed.flags.writeable = False
        try:
            fixed.__dlpack__(max_version=(1, 0))
        except (TypeError, BufferError):
            self.skipTest("this NumPy does not hand out read-only arrays")
        np.testing.assert_array_equal(gyre.attention(*[Foreign(fixed)] * 3), gyre.attention(fixed, fixed, fixed))
        with self.assertRaisesRegex(ValueError, "out: is read-only"):
            gyre.attention(fixed, fixed, fixed, out=Foreign(fixed))

    @unittest.skipUnless(BF16, "there is no ml_dtypes")
    def test_bfloat16_of_numpy(self):
        q = random(1, 5, 2, 64, dtype=BF16)
        self.assertEqual(gyre.attention(q, q, q).dtype, BF16)


if __name__ == "__main__":
    unittest.main()
