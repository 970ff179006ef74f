"""Runs gyre attention on arrays, and compares what it gives with the definition."""

import numpy as np

import reference
from harness import GyreTest

TOLERANCE = 3e-5


class AttentionCase(GyreTest):
    def inputs(self, batch=1, heads=2, kv_heads=None, lq=13, lk=37, dim=32, v_dim=None):
        kv_heads = kv_heads or heads
        return (
            self.normal(batch, heads, lq, dim),
            self.normal(batch, kv_heads, lk, dim),
            self.normal(batch, kv_heads, lk, v_dim or dim),
        )

    def attend(self, q, k, v, *options):
        for name, array in (("q", q), ("k", k), ("v", v)):
            self.save(name + ".npy", array)
        self.succeed(
            "attention", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy", "--lse", "l.npy", *options
        )
        return self.load("o.npy"), self.load("l.npy")

    def check(self, qkv, options, **settings):
        out, lse = self.attend(*qkv, *options)
        expected, expected_lse = reference.attention(*qkv, **settings)
        self.assertEqual((out.dtype, lse.dtype), (np.float32, np.float32))
        self.close(out, expected, TOLERANCE)
        self.close(lse, expected_lse, TOLERANCE)
