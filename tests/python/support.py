"""What the tests of the Python package share: random arrays, and how far results may be from float64's."""

import pathlib
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "cli")]
import reference  # noqa: E402  the float64 definitions, written for the program's tests

try:
    import ml_dtypes

    BF16 = np.dtype(ml_dtypes.bfloat16)
except ImportError:
    BF16 = None

ROUNDING = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
SKIPPED = 77  # what a test program returns for ctest to count it as skipped


def dtypes():
    return [np.dtype(np.float32), np.dtype(np.float16)] + ([BF16] if BF16 else [])


def random(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def heads_first(x):
    """bshd as float64 [batch, heads, seqlen, dim]."""
    return np.asarray(x).astype(np.float64).swapaxes(1, 2)


def allowance(q, k, v, out, rotated=False, scale=None):
    """How far each element of attention may be from float64's, in heads_first() order.

    A score is off by float32's rounding of head_dim products, and by two roundings to the arrays' type where kernels keep rotated
    rows in it; weights by twice the largest such error and a rounding to the type; the sum by float32's of its terms.
    """
    u, single = ROUNDING[np.asarray(q).dtype.name], 2.0**-24
    q, k, v, out = (np.abs(heads_first(x)) for x in (q, k, v, out))
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat(group, axis=1), v.repeat(group, axis=1)
    products = (q.shape[3] ** -0.5 if scale is None else scale) * (q @ k.swapaxes(2, 3)).max(axis=3, keepdims=True)
    scores = ((q.shape[3] + 16) * single + (2 * u if rotated else 0) + 4 * single) * (2 if rotated else 1) * products
    weights = 2 * scores + 2 * u + (k.shape[2] + 32) * single
    return weights * (2 if rotated else 1) * v.max(axis=2, keepdims=True) + u * out + 1e-30


def assert_close(test, got, expected, allowed):
    """Element by element; what is no number must be none on both sides."""
    got, expected = np.asarray(got).astype(np.float64), np.asarray(expected, np.float64)
    test.assertEqual(got.shape, expected.shape)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    beyond = np.abs(got - expected) > allowed
    test.assertFalse(beyond.any(), f"{beyond.sum()} of {beyond.size} are off, the first by "
                                   f"{np.abs(got - expected)[beyond][:1]} of {np.broadcast_to(allowed, got.shape)[beyond][:1]}")
