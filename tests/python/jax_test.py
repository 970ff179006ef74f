"""gyre.jax: attention and its gradients in compiled functions, beside JAX's own.

    python jax_test.py        skipped where there is no JAX, or the library was built without its operators
"""

import sys
import unittest

try:
    import jax
    import jax.numpy as jnp
    import numpy as np

    import gyre
    import gyre.jax
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def inputs(dtype=np.float32, lq=12, lk=12):
    random = np.random.default_rng(0)
    return [jnp.asarray(random.standard_normal(shape), dtype) for shape in ((2, lq, 4, 64), (2, lk, 2, 64), (2, lk, 2, 64))]


class Jax(unittest.TestCase):
    def test_results_are_jaxs(self):
        for dtype, allowed in ((jnp.float32, 1e-5), (jnp.float16, 4e-3), (jnp.bfloat16, 3e-2)):
            q, k, v = inputs(dtype)
            got = jax.jit(lambda q, k, v: gyre.jax.attention(q, k, v, causal=True))(q, k, v)
            right = jax.nn.dot_product_attention(*(x.astype(jnp.float32) for x in (q, k, v)), is_causal=True)
            self.assertEqual(got.dtype, q.dtype)
            self.assertLess(jnp.abs(got.astype(jnp.float32) - right).max(), allowed)

    def test_options_are_handed_on(self):
        q, k, v = inputs(lq=9)
        rope = gyre.Rope(theta=500.0, attention_factor=1.5)
        for options in ({"scale": 0.3}, {"causal": True, "alignment": "top_left"}, {"window": (3, 1)}, {"softcap": 2.0}, {"causal": True, "rope": rope},
                        {"rope": rope, "value_rope": gyre.Rope()}, {"rope": gyre.Rope(pairing="interleaved", rotary_dim=32)}):
            with self.subTest(str(options)):
                right = gyre.attention(*(np.asarray(x) for x in (q, k, v)), **options)
                np.testing.assert_allclose(gyre.jax.attention(q, k, v, **options), right, atol=1e-5)

    def test_mistakes(self):
        q, k, v = inputs()
        for error, said, options in ((TypeError, "window: got 3", {"window": 3}), (TypeError, "window: got 1.5", {"window": (1.5, 0)}), (TypeError, "causal: got 1", {"causal": 1}),
                                     (TypeError, "rope: got float", {"rope": 1e4}), (TypeError, "value_rope: got str", {"value_rope": "x"}),
                                     (ValueError, "scale: got 0", {"scale": 0.0}), (ValueError, "rope.theta: got 0.5", {"rope": gyre.Rope(theta=0.5)})):
            with self.assertRaisesRegex(error, said):
                gyre.jax.attention(q, k, v, **options)
        with self.assertRaisesRegex(TypeError, "k: got list"):
            gyre.jax.attention(q, [1.0], v)
        with self.assertRaisesRegex(Exception, "q: got i32, expected f32"):
            gyre.jax.attention(q.astype(int), k, v)
        for dtype in ("float8_e4m3fn", "complex64", "uint8"):
            with self.assertRaisesRegex(TypeError, f"^v: got dtype {dtype}, expected float32, float16 or bfloat16"):
                gyre.jax.attention(q, k, v.astype(dtype))

    def test_gradients(self):
        q, k, v = inputs()
        weight = jnp.asarray(np.random.default_rng(1).standard_normal((2, 12, 4, 64)), jnp.float32)

        def loss(function):
            return jax.jit(jax.grad(lambda q, k, v: (function(q, k, v) * weight).sum(), argnums=(0, 1, 2)))(q, k, v)

        for mine, right in zip(loss(lambda *x: gyre.jax.attention(*x, causal=True)),
                               loss(lambda *x: jax.nn.dot_product_attention(*x, is_causal=True))):
            np.testing.assert_allclose(mine, right, atol=3e-5)

    def test_gradients_of_narrow_keys(self):
        q, k, v = inputs()
        k, v = k.astype(jnp.bfloat16), v.astype(jnp.bfloat16)
        grads = jax.grad(lambda *x: gyre.jax.attention(*x, causal=True).sum(), argnums=(0, 1, 2))
        right = grads(q, k.astype(q.dtype), v.astype(q.dtype))
        for x, mine, expected in zip((q, k, v), grads(q, k, v), right):
            np.testing.assert_array_equal(mine, expected.astype(x.dtype))

    def test_gradients_with_roper(self):
        q, k, v = inputs()
        options = {"causal": True, "rope": gyre.Rope(), "value_rope": gyre.Rope(theta=100.0)}
        grads = jax.grad(lambda q, k, v: gyre.jax.attention(q, k, v, **options).sum(), argnums=(0, 1, 2))(q, k, v)
        arrays = [np.asarray(x) for x in (q, k, v)]
        out, lse = gyre.attention(*arrays, return_lse=True, **options)
        for mine, right in zip(grads, gyre.attention_backward(np.ones_like(out), *arrays, out, lse, **options)):
            np.testing.assert_allclose(mine, right, atol=1e-5)

    def test_what_is_not_differentiated_or_traced(self):
        x = jnp.ones((1, 4, 2, 8))
        with self.assertRaisesRegex(NotImplementedError, "gradients of attention's gradients"):
            jax.grad(lambda q: jax.grad(lambda q: (gyre.jax.attention(q, x, x) ** 2).sum())(q).sum())(x)
        for name, call in {"scale": lambda n: gyre.jax.attention(x, x, x, scale=n), "softcap": lambda n: gyre.jax.attention(x, x, x, softcap=n),
                           "window": lambda n: gyre.jax.attention(x, x, x, window=(1, n))}.items():
            with self.assertRaisesRegex(TypeError, f"^{name}: is traced, expected a constant"):
                jax.jit(call)(3)

    def test_mistakes_are_exceptions(self):
        q, k, v = inputs()
        with self.assertRaisesRegex(Exception, "k: got shape"):
            jax.block_until_ready(gyre.jax.attention(q, k[..., :32], v))
        with self.assertRaisesRegex(ValueError, "rank 3"):
            gyre.jax.attention(q[0], k, v)
        with self.assertRaisesRegex(ValueError, "rope: has sections"):
            gyre.jax.attention(q, k, v, rope=gyre.Rope(sections=(16, 16)))


if __name__ == "__main__":
    unittest.main()
