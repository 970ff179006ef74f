"""gyre linear-attention against the definition: causal, rotation, states, gradients, refusals."""

import numpy as np

import reference
from harness import GyreTest

TOLERANCE = 2e-5
COMMAND = ("linear-attention", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy")


def features(x):
    x = x.astype(np.float64)
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def defined(q, k, v, causal=False, rotary_dim=0):
    """[batch, heads, seqlen, dim]; as many heads of q as of k."""
    fq, fk = features(q), features(k)
    steps, inv_freq = np.arange(k.shape[2]), reference.geometric(rotary_dim)
    rq, rk = reference.rotate(fq, steps[-q.shape[2] :], inv_freq), reference.rotate(fk, steps, inv_freq)
    seen = np.tril(np.ones((q.shape[2], k.shape[2]))) if causal else 1.0
    weights = rq @ rk.swapaxes(-1, -2) * seen
    return weights @ v / (fq @ fk.swapaxes(-1, -2) * seen).sum(-1, keepdims=True)


class LinearAttention(GyreTest):
    def inputs(self, lq=150, lk=150, dim=16):
        arrays = self.normal(1, 2, lq, dim), self.normal(1, 2, lk, dim), self.normal(1, 2, lk, dim)
        for name, array in zip("qkv", arrays):
            self.save(name + ".npy", array)
        return arrays

    def test_causal_and_full(self):
        qkv = self.inputs()
        self.succeed(*COMMAND, "--causal")
        self.close(self.load("o.npy"), defined(*qkv, causal=True), TOLERANCE)
        for alignment in ("bottom_right", "top_left"):
            self.succeed(*COMMAND, "--causal", alignment)
            self.close(self.load("o.npy"), defined(*qkv, causal=True), TOLERANCE)
        self.refuse("--causal middle", *COMMAND, "--causal", "middle")
        # Fewer keys than queries: the last query does not see the last key.
        self.save("n.npy", np.array([9] * len(qkv[0])))
        self.refuse("--causal bottom_right --seqused-k", *COMMAND, "--causal", "bottom_right", "--seqused-k", "n.npy")
        for causal in (["--causal"], ["--causal", "top_left"]):
            self.succeed(*COMMAND, *causal, "--seqused-k", "n.npy")
            self.close(self.load("o.npy")[:, :, :9], defined(*qkv, causal=True)[:, :, :9], TOLERANCE)
        self.succeed(*COMMAND, "--threads", "2")
        self.close(self.load("o.npy"), defined(*qkv), TOLERANCE)

    def test_rotation(self):
        qkv = self.inputs()
        self.succeed(*COMMAND, "--causal", "--rotary-dim", "8")
        self.close(self.load("o.npy"), defined(*qkv, causal=True, rotary_dim=8), TOLERANCE)
        few = self.inputs(lq=20)  # they stand where the last keys do
        self.succeed(*COMMAND, "--rotary-dim", "16")
        self.close(self.load("o.npy"), defined(*few, rotary_dim=16), TOLERANCE)

    def test_a_sequence_in_two_pieces(self):
        q, k, v = self.inputs()
        expected = defined(q, k, v, causal=True, rotary_dim=16)
        state = ()
        for part in (slice(0, 70), slice(70, 150)):
            for name, array in zip("qkv", (q, k, v)):
                self.save(name + ".npy", array[:, :, part])
            self.save("p.npy", np.arange(part.start, part.stop))
            positions = ("--q-positions", "p.npy", "--k-positions", "p.npy")
            after = ("--kv-state-out", f"s{part.stop}.npy", "--k-state-out", f"z{part.stop}.npy")
            self.succeed(*COMMAND, "--causal", "--rotary-dim", "16", *positions, *state, *after)
            self.close(self.load("o.npy"), expected[:, :, part], TOLERANCE)
            state = ("--kv-state", after[1], "--k-state", after[3])
        self.close(self.load("z150.npy"), features(k).sum(2), TOLERANCE)

    def test_gradients(self):
        q, k, v = self.inputs(lq=12, lk=12, dim=4)
        weights = self.normal(1, 2, 12, 4)
        self.save("g.npy", weights)
        self.succeed(
            *COMMAND, "--causal", "--rotary-dim", "4", "--out-grad", "g.npy", "--q-grad", "dq.npy", "--k-grad", "dk.npy",
            "--v-grad", "dv.npy",
        )  # fmt: skip
        for index, name in enumerate(("dq.npy", "dk.npy", "dv.npy")):
            arrays = [x.astype(np.float64) for x in (q, k, v)]
            expected = np.zeros(arrays[index].shape)
            for place in np.ndindex(expected.shape):
                sides = []
                for step in (-1e-6, 1e-6):
                    moved = [x.copy() for x in arrays]
                    moved[index][place] += step
                    sides.append((defined(*moved, causal=True, rotary_dim=4) * weights).sum())
                expected[place] = (sides[1] - sides[0]) / 2e-6
            self.close(self.load(name), expected, TOLERANCE)

    def test_refusals(self):
        self.inputs(lq=5)
        self.refuse("--k k.npy 150", *COMMAND, "--causal")
        self.refuse("--theta --rotary-dim", *COMMAND, "--theta", "500")
        self.refuse("--k-state", *COMMAND, "--kv-state", "s.npy")
        self.refuse("--kv-state-out", *COMMAND, "--k-state-out", "s.npy")
        self.refuse("--k-state-out o.npy", *COMMAND, "--kv-state-out", "s.npy", "--k-state-out", "o.npy")
        self.refuse("--q-grad", *COMMAND, "--out-grad", "o.npy")
        self.save("s.npy", np.zeros((1, 2, 15, 16), np.float32))
        self.save("z.npy", np.zeros((1, 2, 16), np.float32))
        self.refuse("--kv-state s.npy", *COMMAND, "--kv-state", "s.npy", "--k-state", "z.npy")

    def test_bench(self):
        report = self.succeed_json(
            "bench", "linear-attention", "--shape", "h=2,lq=64,d=32", "--causal", "--threads", "1", "--repeat", "3"
        )
        self.assertEqual(report["operation"], "linear-attention")
        self.assertTrue(report["kernel"].startswith("linear_f32__"))
        flops = 2 * 2 * 2 * 64 * 32 * 32
        self.assertAlmostEqual(report["gflops"] * report["median_us"] * 1e3 / flops, 1, places=3)
