"""scaled_dot_product_attention, taken over, on the samples of PyTorch's own tests: results and gradients beside float64's.

    python opinfo_test.py        skipped where there is no PyTorch with its tests, or the library was built without its operators
"""

import sys
import unittest

try:
    import torch
    import torch.nn.functional as F
    from torch.testing._internal.common_methods_invocations import op_db

    import gyre.torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from torch_support import ROUNDING

(SDPA,) = (op for op in op_db if op.name == "nn.functional.scaled_dot_product_attention")


def allowances(q, k, v, scale, dtype):
    """How far the result and the gradients of q, k and v may be from float64's, where out's gradient is 1.

    Scores are off by float32's rounding of head_dim products, weights by as much of themselves; results are rounded to the type, and so are
    rows of gradients between passes. Each gradient is compared with the terms that it is a sum of, which may cancel.
    """
    q, k, v = (x.detach().double().abs() for x in (q, k, v))
    dim, largest = q.shape[-1], [x.max() if x.numel() else torch.tensor(0.0) for x in (q, k, v)]
    scale = dim**-0.5 if scale is None else abs(scale)
    score = dim * scale * largest[0] * largest[1]
    off = 8 * ROUNDING[dtype] + 16 * 2.0**-24 * (score + 1)
    queries, weight_grad = q.shape[-2] * max(1, q.shape[-3] // max(1, k.shape[-3])), 2 * v.shape[-1] * largest[2]
    return [off * size for size in (largest[2], scale * weight_grad * largest[1], queries * scale * weight_grad * largest[0], queries)]


def as_double(value):
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.detach().double().requires_grad_(value.requires_grad)
    return value


class OpInfo(unittest.TestCase):
    def tearDown(self):
        gyre.torch.disable_sdpa()

    def results(self, inputs, options):
        """The result, and gradients of what asks for them, with dropout left out: it is of random numbers."""
        out = F.scaled_dot_product_attention(*inputs, **{**options, "dropout_p": 0.0})
        asked = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
        return out, *(torch.autograd.grad(out.sum(), asked, allow_unused=True) if asked else ())

    def close(self, got, right, allowed):
        got, right = got.double(), right.double()
        self.assertEqual(got.shape, right.shape)
        self.assertTrue(torch.equal(got.isnan(), right.isnan()))
        self.assertLessEqual((got - right).nan_to_num().abs().max(), allowed)

    def test_samples(self):
        for dtype in ROUNDING:
            before = gyre.torch.sdpa_calls()
            for number, sample in enumerate(SDPA.sample_inputs("cpu", dtype, requires_grad=True)):
                with self.subTest(f"{dtype}, sample {number}: {[tuple(x.shape) for x in (sample.input, *sample.args)]}, {sample.kwargs}"):
                    inputs = (sample.input, *sample.args)
                    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
                        right = self.results([as_double(x) for x in inputs], {n: as_double(x) for n, x in sample.kwargs.items()})
                    gyre.torch.enable_sdpa()
                    got = self.results(inputs, sample.kwargs)
                    gyre.torch.disable_sdpa()
                    for mine, expected, allowed in zip(got, right, allowances(*inputs[:3], sample.kwargs.get("scale"), dtype)):
                        if expected is not None and expected.numel():
                            self.close(mine, expected, allowed)
            after = gyre.torch.sdpa_calls()
            self.assertGreater(after["forward"], before.get("forward", 0))
            self.assertGreater(after["backward"], before.get("backward", 0))


if __name__ == "__main__":
    unittest.main()
