"""Tensors of PyTorch by their own attributes: the views that DLPack gives, and its refusals.

    python torch_tensors_test.py        skipped where there is no PyTorch
"""

import sys
import unittest

from gyre import _arrays
from gyre._torch_tensors import plain
from support import SKIPPED

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)


def seen(view):
    """Strides along one element mean nothing."""
    return view.data, view.dtype, view.shape, [stride for stride, extent in zip(view.strides, view.shape) if extent > 1]


class TorchTensors(unittest.TestCase):
    def test_views_are_those_of_dlpack(self):
        x = torch.randn(2, 3, 4, 8)
        views = {"whole": x, "part": x[1:, :, 1:3, 2:7], "turned": x.transpose(1, 2), "repeated": x[:1].expand(5, -1, -1, -1),
                 "steps": x[..., ::2], "detached": x.clone().requires_grad_().detach(), "one": x[:, :1]}
        for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64, torch.bool):
            views[str(dtype)] = torch.zeros(3, 4, dtype=dtype)
        for name, tensor in views.items():
            with self.subTest(name):
                self.assertIsNotNone(plain(tensor))
                self.assertEqual(seen(_arrays.view(tensor, "x")), seen(_arrays._view_dlpack(tensor, "x", False)))

    def test_others_are_left_to_dlpack(self):
        class Own(torch.Tensor):
            pass

        x = torch.randn(3, 4)
        others = {"gradients": x.clone().requires_grad_(), "result": x.clone().requires_grad_() * 2, "subclass": x.as_subclass(Own),
                  "sparse": x.to_sparse(), "negated": torch._neg_view(x), "complex": torch.zeros(2, dtype=torch.complex64),
                  "no memory": torch.empty(2, device="meta"), "NumPy's": x.numpy(), "none": None}
        for name, other in others.items():
            with self.subTest(name):
                self.assertIsNone(plain(other))
        for name in ("gradients", "result", "sparse", "negated", "no memory"):
            with self.subTest(name), self.assertRaises(ValueError):
                _arrays.view(others[name], "x")

    def test_tensors_of_transformations_are_refused(self):
        def look(row):
            self.assertIsNone(plain(row))
            with self.assertRaises(ValueError):
                _arrays.view(row, "x")
            return row

        torch.vmap(look)(torch.randn(3, 4))
        torch.func.grad(lambda x: look(x).sum())(torch.randn(3))

    def test_storage_that_was_made_smaller(self):
        x = torch.randn(4, 8)
        x.untyped_storage().resize_(16)
        with self.assertRaisesRegex(ValueError, "x: reaches over its storage of 16 bytes"):
            _arrays.view(x, "x")


if __name__ == "__main__":
    unittest.main()
