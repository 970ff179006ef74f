"""gyre attention with RoPE, and with RoPER: rotated values, undone on the output."""

import numpy as np

import reference
from attention_case import TOLERANCE
from harness import GyreTest


def rotation(inv_freq, interleaved=False, factor=1.0):
    def rotate(x, positions, reverse=False):
        return reference.rotate(x, positions, inv_freq, interleaved, reverse=reverse, factor=factor)

    return rotate


class AttentionRotation(GyreTest):
    def inputs(self, batch=1, heads=4, kv_heads=2, lq=13, lk=37, dim=32, v_dim=32):
        return (
            self.normal(batch, heads, lq, dim),
            self.normal(batch, kv_heads, lk, dim),
            self.normal(batch, kv_heads, lk, v_dim),
        )

    def attend(self, qkv, *options):
        for name, array in zip("qkv", qkv):
            self.save(name + ".npy", array)
        self.succeed("attention", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy", *options)
        return self.load("o.npy")

    def check(self, qkv, options, **settings):
        self.close(self.attend(qkv, *options), reference.attention(*qkv, **settings)[0], TOLERANCE)

    def test_rope(self):
        self.check(self.inputs(), ["--rotary-dim", 32], rope=rotation(reference.geometric(32)))
        self.check(
            self.inputs(),
            ["--rotary-dim", 16, "--interleaved", "--theta", 500],
            rope=rotation(reference.geometric(16, 500), True),
        )

    def test_roper(self):
        self.check(self.inputs(), ["--rotary-v-dim", 32], value_rope=rotation(reference.geometric(32)))
        self.check(
            self.inputs(v_dim=48),
            ["--rotary-v-dim", 24, "--interleaved"],
            value_rope=rotation(reference.geometric(24), True),
        )

    def test_rope_and_roper_together(self):
        self.check(
            self.inputs(lq=37),
            ["--rotary-dim", 16, "--rotary-v-dim", 32, "--causal", "bottom_right"],
            rope=rotation(reference.geometric(16)),
            value_rope=rotation(reference.geometric(32)),
            seen=reference.visible(37, 37, "bottom_right"),
        )

    def test_queries_before_the_first_key(self):
        rope = rotation(reference.geometric(32))
        self.check(self.inputs(lq=13, lk=5), ["--rotary-dim", 32, "--rotary-v-dim", 32], rope=rope, value_rope=rope)

    def test_zero_is_off(self):
        self.check(self.inputs(), ["--rotary-dim", 0, "--rotary-v-dim", 0, "--theta", 10000])

    def test_positions(self):
        q_positions, k_positions = self.random.integers(0, 10000, (2, 13)), self.random.integers(0, 10000, 37)
        self.save("qp.npy", q_positions), self.save("kp.npy", k_positions.astype(np.int32))
        self.check(
            self.inputs(batch=2),
            ["--rotary-dim", 32, "--rotary-v-dim", 16, "--q-positions", "qp.npy", "--k-positions", "kp.npy"],
            rope=rotation(reference.geometric(32)),
            value_rope=rotation(reference.geometric(16)),
            q_positions=q_positions[:, None],
            k_positions=k_positions,
        )

    def test_a_common_shift_of_positions_changes_nothing(self):
        qkv = self.inputs(lq=37)
        rotated = ["--rotary-dim", 32, "--rotary-v-dim", 32]
        self.save("p.npy", np.arange(37) + 1000)
        shifted = self.attend(qkv, *rotated, "--q-positions", "p.npy", "--k-positions", "p.npy")
        self.close(shifted, self.attend(qkv, *rotated).astype(np.float64), 3e-4)

    def test_bshd(self):
        qkv = self.inputs(batch=2)
        out = self.attend(
            [each.swapaxes(1, 2) for each in qkv], "--layout", "bshd", "--rotary-dim", 32, "--rotary-v-dim", 32
        )
        rope = rotation(reference.geometric(32))
        expected = reference.attention(*qkv, rope=rope, value_rope=rope)[0]
        self.close(out, expected.swapaxes(1, 2), TOLERANCE)

    def test_packed_sequences_begin_at_position_zero(self):
        begins = np.array([0, 6, 15], np.int32)
        q, k, v = self.normal(15, 2, 16), self.normal(15, 2, 16), self.normal(15, 2, 16)
        self.save("c.npy", begins)
        out = self.attend(
            (q, k, v), "--cu-seqlens-q", "c.npy", "--cu-seqlens-k", "c.npy", "--rotary-dim", 16, "--rotary-v-dim", 16
        )
        rope = rotation(reference.geometric(16))
        for begin, end in zip(begins[:-1], begins[1:]):
            each = (x[begin:end].swapaxes(0, 1)[None] for x in (q, k, v))
            expected = reference.attention(*each, rope=rope, value_rope=rope)[0]
            self.close(out[begin:end], expected[0].swapaxes(0, 1), TOLERANCE)

    def test_rule_from_json(self):
        rule = '{"rope_type": "linear", "factor": 2, "rope_theta": 5000}'
        self.check(
            self.inputs(),
            ["--rotary-dim", 32, "--rotary-v-dim", 16, "--rope", rule],
            rope=rotation(reference.geometric(32, 5000) / 2),
            value_rope=rotation(reference.geometric(16, 5000) / 2),
        )

    def test_attention_factor_scales_queries_and_keys_but_not_values(self):
        rule = (
            '{"rope_type": "yarn", "factor": 1, "attention_factor": 1.25, ' '"original_max_position_embeddings": 4096}'
        )
        self.check(
            self.inputs(),
            ["--rotary-dim", 32, "--rotary-v-dim", 32, "--rope", rule],
            rope=rotation(reference.geometric(32), factor=1.25),
            value_rope=rotation(reference.geometric(32)),
        )
