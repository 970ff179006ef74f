"""Tensors whose types, shapes or values do not go together."""

import numpy as np

from harness import GyreTest


class RefusedTensors(GyreTest):
    def rotary(self, naming, x, *options):
        self.save("x.npy", x)
        with self.subTest(naming=naming, options=options):
            self.refuse(naming, "rotary", "--x", "x.npy", "--out", "y.npy", *options)

    def attention(self, naming, *options, **changed):
        tensors = {name: self.normal(2, 4, 6, 8) for name in "qkv"}
        tensors.update(changed)
        for name, tensor in tensors.items():
            self.save(name + ".npy", tensor)
        with self.subTest(naming=naming, options=options):
            self.refuse(naming, "attention", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy", *options)

    def option(self, name, array):
        """The option --name with a file of this array."""
        return "--" + name, self.save(name + ".npy", np.asarray(array))

    def test_types(self):
        self.rotary("--x x.npy int32", np.ones((1, 1, 2, 8), np.int32))
        self.rotary("--x x.npy bool", np.ones((1, 1, 2, 8), bool))
        x = self.normal(1, 1, 2, 8)
        self.rotary("--positions positions.npy f32", x, *self.option("positions", np.arange(2, dtype=np.float32)))
        self.rotary("--inv-freq inv-freq.npy int64", x, *self.option("inv-freq", np.ones(4, np.int64)))
        self.attention("--k k.npy int64", k=np.ones((2, 4, 6, 8), np.int64))
        self.attention("--mask mask.npy f32", *self.option("mask", np.ones((6, 6), np.float32)))
        self.attention("--bias bias.npy bool", *self.option("bias", np.ones((6, 6), bool)))
        self.attention("--seqused-k seqused-k.npy f64", *self.option("seqused-k", [1.0, 2.0]))
        self.attention("--seqused-k 4294967296", *self.option("seqused-k", [1, 1 << 32]))
        self.attention("--sinks sinks.npy int64", *self.option("sinks", [1, 2, 3, 4]))
        self.attention("f16", k=self.normal(2, 4, 6, 8, dtype=np.float16))

    def test_dimensions(self):
        self.rotary("--x x.npy 4", self.normal(2, 8))
        self.rotary("--x x.npy 4", self.normal(1, 1, 1, 2, 8))
        self.rotary("--x x.npy", np.float32(3))
        self.attention("--q q.npy 4", q=self.normal(6, 8))
        self.attention("--k k.npy 4", k=self.normal(4, 6, 8))
        self.attention("--v v.npy 4", v=self.normal(1, 2, 4, 6, 8))
        self.attention("--bias bias.npy", *self.option("bias", self.normal(1, 2, 4, 6, 6)))
        self.attention("--q q.npy 3", *self.option("cu-seqlens-q", [0, 6]), *self.option("cu-seqlens-k", [0, 6]))

    def test_rotary_shapes(self):
        x = self.normal(2, 1, 5, 8)
        self.rotary("--x", self.normal(1, 1, 5, 7))
        self.rotary("--positions positions.npy", x, *self.option("positions", np.arange(4)))
        self.rotary("--positions positions.npy", x, *self.option("positions", np.zeros((3, 5), int)))
        self.rotary("--inv-freq inv-freq.npy 3", x, *self.option("inv-freq", np.ones(3)))
        self.rotary("--inv-freq inv-freq.npy", x, *self.option("inv-freq", np.ones((1, 4))))
        table, narrow = np.ones((5, 4)), np.ones((5, 3))
        self.rotary("--cos cos.npy", x, *self.option("cos", narrow), *self.option("sin", table))
        self.rotary("--sin sin.npy", x, *self.option("cos", table), *self.option("sin", narrow))
        self.rotary(
            "--cos cos.npy", x, *self.option("cos", np.ones((3, 5, 4))), *self.option("sin", np.ones((3, 5, 4)))
        )

    def test_rotary_positions(self):
        x = self.normal(1, 1, 5, 8)
        for wrong in (-1, 1 << 31, -(1 << 40)):
            self.rotary("--positions positions.npy", x, *self.option("positions", [0, 1, wrong, 3, 4]))
        table = np.ones((5, 4))
        self.rotary(
            "", x, *self.option("positions", [0, 1, 5, 3, 4]), *self.option("cos", table), *self.option("sin", table)
        )
        self.rotary("", x, "--offset", 1, *self.option("cos", table), *self.option("sin", table))

    def test_attention_shapes(self):
        self.attention("--k", k=self.normal(2, 4, 6, 16))
        self.attention("--k", k=self.normal(2, 3, 6, 8), v=self.normal(2, 3, 6, 8))
        self.attention("--k", k=self.normal(3, 4, 6, 8), v=self.normal(3, 4, 6, 8))
        self.attention("--v", v=self.normal(2, 4, 7, 8))
        self.attention("--v", v=self.normal(2, 2, 6, 8))
        self.attention("--sinks sinks.npy", *self.option("sinks", self.normal(3)))
        self.attention("--alibi alibi.npy", *self.option("alibi", self.normal(4, 1)))
        self.attention("--bias bias.npy", *self.option("bias", self.normal(5, 6)))
        self.attention("--mask mask.npy", *self.option("mask", np.ones((3, 1, 6, 6), bool)))
        self.attention("--seqused-k seqused-k.npy", *self.option("seqused-k", [6]))

    def test_attention_values(self):
        for lengths in ([-1, 3], [3, 7]):
            self.attention("--seqused-k seqused-k.npy", *self.option("seqused-k", lengths))
        rotated = ["--rotary-dim", 8]
        self.attention("--q-positions q-positions.npy", *rotated, *self.option("q-positions", [-1, 0, 1, 2, 3, 4]))
        self.attention("--k-positions k-positions.npy", *rotated, *self.option("k-positions", np.arange(7)))

    def test_packed_sequences(self):
        packed = {name: self.normal(6, 2, 8) for name in "qkv"}
        right = [0, 2, 6]
        for wrong in ([1, 2, 6], [0, 2, 5], [0, 2, 7], [0, 7, 6], [0, -1, 6], [[0, 2, 6]]):
            self.attention(
                "--cu-seqlens-q", *self.option("cu-seqlens-q", wrong), *self.option("cu-seqlens-k", right), **packed
            )
        for wrong in ([0, 6], [0]):
            self.attention(
                "--cu-seqlens", *self.option("cu-seqlens-q", right), *self.option("cu-seqlens-k", wrong), **packed
            )

    def test_types_that_attention_has_no_kernel_for(self):
        linked = [
            kernel["variant"]
            for kernel in self.succeed_json("kernels")["kernels"]
            if kernel["operation"] == "attention"
        ]
        for dtype in ("f16", "bf16"):
            if not any(dtype in variant.split("_") for variant in linked):
                self.attention("--q q.npy " + dtype, "--dtype", dtype)
