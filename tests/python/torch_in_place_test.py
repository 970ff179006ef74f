"""gyre.torch: what writes into tensors of the caller, as operators and as functions.

    python torch_in_place_test.py        skipped where there is no PyTorch, or the library was built without its operators
"""

import unittest

from torch_support import random  # skips the test where there is no gyre.torch

import gyre
import gyre.torch
import torch

ROPE = gyre.Rope()
FREQUENCIES = torch.ones(32, dtype=torch.float64)
X = random(1, 2, 9, 64)
_ops = torch.ops.gyre
# Each writes into the last tensors that it is given: one or two of X's shape.
WRITERS = {
    "attention": (1, lambda out: gyre.torch.attention(X, X, X, out=out)),
    "attention with lse": (1, lambda out: gyre.torch.attention(X, X, X, out=out, return_lse=True)),
    "cache_append": (2, lambda k, v: gyre.torch.cache_append(X, X, k, v, rope=ROPE)),
    "attention_out": (1, lambda out: _ops.attention_out(X, X, X, out, None)),
    "attention_out by names": (1, lambda out: _ops.attention_out(q=X, k=X, v=X, out=out, lse=None)),
    "the operator cache_append": (2, lambda k, v: _ops.cache_append(X, X, k, v)),
    "rotary_out": (1, lambda out: _ops.rotary_out(X, out, FREQUENCIES)),
    "rotary_qk_out": (2, lambda q, k: _ops.rotary_qk_out(X, X, q, k, FREQUENCIES)),
}


class InPlace(unittest.TestCase):
    def each(self):
        for name, (count, write) in WRITERS.items():
            for i in range(count):
                with self.subTest(name, tensor=i):
                    yield count, i, write

    def test_a_backward_pass_raises_if_what_it_saved_was_written_since(self):
        weight = torch.ones((), requires_grad=True)
        for count, i, write in self.each():
            tensors = [torch.zeros_like(X) for _ in range(count)]
            result = (weight * tensors[i]).sum()
            result.backward(retain_graph=True)
            write(*tensors)
            self.assertTrue(tensors[i].any())
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                result.backward()

    def test_each_writing_is_counted_and_no_refusal(self):
        for name, (count, write) in WRITERS.items():
            for no_grad in False, True:
                with self.subTest(name, no_grad=no_grad), torch.set_grad_enabled(not no_grad):
                    tensors = [torch.zeros_like(X) for _ in range(count)]
                    versions = [tensor._version for tensor in tensors]
                    write(*tensors)
                    self.assertTrue(all(now._version > before for now, before in zip(tensors, versions)))
                    versions = [tensor._version for tensor in tensors]
                    with self.assertRaises(RuntimeError):
                        write(*[tensor[:, :1] for tensor in tensors])
                    self.assertEqual([tensor._version for tensor in tensors], versions)
        lse = torch.zeros(1, 2, 9)
        _ops.attention_out(X, X, X, torch.empty_like(X), lse)
        self.assertEqual(lse._version, 1)

    def test_tensors_of_inference_have_no_count(self):
        for count, i, write in self.each():
            with torch.inference_mode():
                tensors = [torch.zeros_like(X) for _ in range(count)]
                write(*tensors)
            write(*tensors)
            self.assertTrue(tensors[i].any())

    def test_views_that_negate_are_read_and_not_written(self):
        for count, i, write in self.each():
            tensors = [torch.zeros_like(X) for _ in range(count)]
            tensors[i] = torch._neg_view(tensors[i])
            with self.assertRaisesRegex(ValueError, "is a view that negates, expected memory to write to"):
                write(*tensors)
            self.assertFalse(any(tensor.any() for tensor in tensors))
        negated, out, expected = torch._neg_view(X), torch.empty_like(X), torch.empty_like(X)
        for write in (lambda x, out: _ops.attention_out(x, k=x, v=X, out=out, lse=None), lambda x, out: gyre.torch.attention(x, X, X, out=out),
                      lambda x, out: gyre.torch.cache_append(x, X, out, torch.empty_like(X)), lambda x, out: _ops.rotary_out(x, out, FREQUENCIES)):
            write(negated, out)
            write(-X, expected)
            self.assertTrue(torch.equal(out, expected))

    def test_compiled(self):
        @torch.compile(fullgraph=True, backend="aot_eager")
        def append(x, k_cache, v_cache):
            gyre.torch.cache_append(x, x, k_cache, v_cache)
            return gyre.torch.attention(x, k_cache, v_cache)

        caches = [torch.zeros_like(X) for _ in range(2)]
        versions = [cache._version for cache in caches]
        with torch.no_grad():
            out = append(X, *caches)
        self.assertTrue(torch.equal(caches[0], X) and torch.equal(caches[1], X))
        self.assertTrue(torch.equal(out, gyre.torch.attention(X, X, X)))
        self.assertTrue(all(now._version > before for now, before in zip(caches, versions)))


if __name__ == "__main__":
    unittest.main()
