"""Mistakes raise ValueError or TypeError that names the argument; nothing is written, and nothing crashes.

    python mistakes_test.py
"""

import subprocess
import sys
import unittest

import gyre
import numpy as np
from support import BF16, random

Q = random(1, 4, 2, 64)


class Mistakes(unittest.TestCase):
    def refuse(self, error, said, function, *args, **options):
        with self.assertRaisesRegex(error, said):
            function(*args, **options)

    def test_no_arrays(self):
        for bad in (None, 3, "q", [[1.0]], object(), np.float32(3)):
            self.refuse(TypeError, "q: got", gyre.attention, bad, Q, Q)
        self.refuse(TypeError, "x: got", gyre.rotary, None, gyre.Rope())

    def test_types(self):
        for dtype in ("float64", "int32", "int8", "complex64", ">f4", "S4", "O"):
            self.refuse(TypeError, "^q: got", gyre.attention, Q.astype(dtype), Q, Q)
        self.refuse(TypeError, "^v: got f32, expected f16", gyre.attention, Q, Q.astype(np.float16), Q)
        self.refuse(TypeError, "^k: got f32, expected f16", gyre.attention, Q.astype(np.float16), Q, Q)
        self.refuse(TypeError, "mask: got f32, expected bool", gyre.attention, Q, Q, Q, mask=np.ones((4, 4), np.float32))
        self.refuse(TypeError, "^mask: got dtype uint8, expected bool$", gyre.attention, Q, Q, Q, mask=np.ones((4, 4), np.uint8))
        self.refuse(TypeError, "^k: got f16, expected f32", gyre.attention_backward, Q, Q, Q.astype(np.float16), Q, Q, np.zeros((1, 2, 4), np.float32))
        self.refuse(TypeError, "seqused_k: got i64", gyre.attention, Q, Q, Q, seqused_k=np.array([4]))
        self.refuse(TypeError, "masked array", gyre.attention, np.ma.masked_array(Q), Q, Q)

    def test_shapes(self):
        self.refuse(ValueError, "^k: got shape", gyre.attention, Q, Q[..., :32], Q)
        self.refuse(ValueError, "^q: got rank 3", gyre.attention, Q[0], Q, Q)
        self.refuse(ValueError, "^bias: got rank 5", gyre.attention, Q, Q, Q, bias=np.zeros((1, 1, 1, 4, 4), np.float32))
        self.refuse(ValueError, "^q: got rank 0", gyre.attention, np.array(1, np.float32), Q, Q)
        self.refuse(ValueError, "out: got shape", gyre.attention, Q, Q, Q, out=np.zeros((1, 3, 2, 64), np.float32))

    def test_memory(self):
        self.refuse(ValueError, "out: strides make elements share memory", gyre.attention, Q, Q, Q,
                    out=np.lib.stride_tricks.as_strided(Q.copy(), Q.shape, (0, 0, 0, 4)))
        self.refuse(ValueError, "out: overlaps k", gyre.attention, Q.copy(), Q, Q, out=Q)
        bytes_ = np.zeros(Q.nbytes + 1, np.int8)
        askew = np.ndarray(Q.shape, np.float32, bytes_, offset=1)
        self.refuse(ValueError, "q: data at .* is not aligned", gyre.attention, askew, Q, Q)
        record = np.zeros((1, 4, 2, 64), [("x", np.float32), ("y", np.int8)])
        self.refuse(ValueError, "q: got strides of .* bytes", gyre.attention, record["x"], Q, Q)

    def test_read_only_memory(self):
        kept = Q.copy()
        kept.flags.writeable = False
        for name, call in {"q_out": lambda: gyre.rotary_qk(Q, Q, gyre.Rope(), out=(kept, Q.copy())),
                           "k_out": lambda: gyre.rotary_qk(Q, Q, gyre.Rope(), out=(Q.copy(), kept)),
                           "k_cache": lambda: gyre.cache_append(Q, Q, kept, Q.copy())}.items():
            self.refuse(ValueError, f"^{name}: is read-only", call)
        for function, *arguments in (gyre.attention, Q, Q, Q), (gyre.linear_attention, Q, Q, Q), (gyre.rotary, Q, gyre.Rope()):
            self.refuse(ValueError, "^out: is read-only", function, *arguments, out=kept)
        np.testing.assert_array_equal(gyre.attention(kept, kept, kept), gyre.attention(Q, Q, Q))
        out, lse = (np.stack([x] * 2) for x in gyre.attention(Q[0], Q[0], Q[0], cu_seqlens_q=[0, 4], cu_seqlens_k=[0, 4], layout="thd", return_lse=True))
        for array in (out, lse):
            array.flags.writeable = False
        self.assertEqual(gyre.merge_states(out, lse, layout="thd")[0].shape, Q[0].shape)

    def test_strides(self):
        backwards = Q[:, ::-1, ::-1]
        np.testing.assert_array_equal(gyre.attention(backwards, backwards, backwards),
                                      gyre.attention(*[backwards.copy()] * 3))
        self.refuse(ValueError, r"^q: got strides .*expected the last to be 1, as in numpy.ascontiguousarray\(q\)", gyre.attention, Q[..., ::-1], Q, Q)
        repeated = np.broadcast_to(Q[:, :, :1], Q.shape)
        np.testing.assert_array_equal(gyre.attention(Q, repeated, repeated), gyre.attention(Q, repeated.copy(), repeated.copy()))

    def test_rotations(self):
        self.refuse(ValueError, "inv_freq: got no frequencies", gyre.Rope, inv_freq=[])
        for config in (None, "config.json", [1]):
            self.refuse(TypeError, "^config: got", gyre.Rope.from_config, config)
        for head in ({"hidden_size": "512", "num_attention_heads": 8}, {"head_dim": 64, "rope_theta": "x"}):
            self.refuse(TypeError, "^(hidden_size|rope_theta): got", gyre.Rope.from_config, head)
        self.refuse(ValueError, "rope_theta: got 0", gyre.Rope.from_config, {"head_dim": 64, "rope_theta": 0})

    def test_merged_types(self):
        parts, lse = np.stack([Q, Q]), np.zeros((2, 1, 2, 4), np.float32)
        for dtype in ("int8", "nothing", np.float16):
            self.refuse(ValueError, "out_dtype: got", gyre.merge_states, parts, lse, out_dtype=dtype)
        if BF16:  # NumPy knows the word once ml_dtypes is imported, which a program need not do
            script = ("import gyre, numpy as n; print(gyre.merge_states(n.ones((2, 1, 4, 2, 64), 'f4'), n.zeros((2, 1, 2, 4), 'f4'), "
                      "out_dtype='bfloat16')[0].dtype)")
            self.assertEqual(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip(), "bfloat16")

    def test_numbers(self):
        for options, error, said in [
            ({"scale": "1"}, TypeError, "scale"), ({"scale": 0}, ValueError, "scale: got 0"),
            ({"scale": float("nan")}, ValueError, "scale: got -?nan"), ({"scale": 10**400}, ValueError, "scale: got inf"),
            ({"softcap": -1}, ValueError, "softcap"), ({"causal": 1}, TypeError, "causal: got 1"), ({"return_lse": 1}, TypeError, "^return_lse: got 1"),
            ({"window": 3}, TypeError, "window"), ({"window": (1, -5)}, ValueError, "window_right: got -5"),
            ({"window": (2**70, 1)}, ValueError, "window: got"), ({"layout": "sbhd"}, ValueError, "layout: got 'sbhd', expected"),
            ({"alignment": 0}, ValueError, "alignment"), ({"dropout": 1.0}, ValueError, "dropout"),
            ({"dropout_seed": -1}, ValueError, f"dropout_seed: got -1, expected 0 .. {2**64 - 1}"),
            ({"dropout_seed": 2**64}, ValueError, f"dropout_seed: got {2**64}, expected 0 .. {2**64 - 1}"),
            ({"dropout_offset": 2**32}, ValueError, f"dropout_offset: got {2**32}, expected 0 .. {2**32 - 1}"),
            ({"window": (-(2**63) - 1, 1)}, ValueError, f"window: got {-(2**63) - 1}, expected {-(2**63)} .. {2**63 - 1}"), ({"score": 3}, TypeError, "score"),
            ({"score": "a\0b"}, ValueError, "score"), ({"score": "nothing"}, NotImplementedError, "score"),
            ({"score_inputs": {"x": Q}}, ValueError, "score_inputs"),
            ({"mask": np.tri(4, dtype=bool), "prepared_mask": np.zeros(9, np.float32)}, ValueError, "^prepared_mask: got float32"), ({"rope": 10000.0}, TypeError, "rope: got float"),
            ({"keys_rotated": True}, ValueError, "keys_rotated"), ({"context": 3}, TypeError, "context: got int"),
            ({"seqused_k": [5]}, ValueError, r"seqused_k\[0\]: got 5"), ({"seqused_k": [2**40]}, ValueError, "32 bits"),
            ({"seqused_k": [0.5]}, TypeError, "expected integers"), ({"cu_seqlens_q": [0, 4]}, ValueError, "cu_seqlens_q"),
            ({"value_order": "columns"}, ValueError, "value_order"), ({"scale": 1e-50}, ValueError, "scale: got 1e-50, which is 0 in float32"),
            ({"softcap": 1e-50}, ValueError, "softcap: got 1e-50"), ({"score_inputs": [1]}, TypeError, "score_inputs: got list"),
            ({"seqused_k": [4, -(2**40)]}, ValueError, "seqused_k: got -1099511627776"), ({"seqused_k": [[1], 2]}, TypeError, "seqused_k: got .* list"),
        ]:
            with self.subTest(str(options)):
                self.refuse(error, said, gyre.attention, Q, Q, Q, **options)
        self.assertRaises(TypeError, gyre.attention, Q, Q, Q, causl=True)
        self.refuse(TypeError, "rope: got None", gyre.rotary, Q, None)

    def test_pairs_and_names(self):
        for bad in (3, "x", [1], np.ones(2)):
            self.refuse(TypeError, r"^out: got .*expected None or \(q_out, k_out\)", gyre.rotary_qk, Q, Q, gyre.Rope(), out=bad)
            self.refuse(TypeError, r"^state: got .*expected None or \(kv_state, k_state\)", gyre.linear_attention, Q, Q, Q, state=bad)
            self.refuse(TypeError, "^state_out_grad: got", gyre.linear_attention_backward, Q, Q, Q, Q, state_out_grad=bad)
            self.refuse(TypeError, "^return_state: got", gyre.linear_attention, Q, Q, Q, return_state=bad)
            self.refuse(TypeError, "^score_inputs: got", gyre.attention, Q, Q, Q, score_inputs=bad)
            self.refuse(TypeError, "^return_bias_grad: got", gyre.attention_backward, Q, Q, Q, Q, Q, np.zeros((1, 2, 4), np.float32), return_bias_grad=bad)
            if not isinstance(bad, np.ndarray):
                self.refuse(TypeError, "^cos: got", gyre.Rope, cos=bad, sin=bad)
        self.refuse(ValueError, "^block_table: got rank 1", gyre.attention, Q, Q, Q, block_table=[1])

    def test_ropes(self):
        self.refuse(ValueError, "pairing", gyre.Rope, pairing="neox")
        self.refuse(TypeError, "theta", gyre.Rope, "10000")
        self.refuse(TypeError, "inv_freq: got 3.0", gyre.Rope, inv_freq=3.0)
        self.refuse(TypeError, "inv_freq: got 'abc'", gyre.Rope, inv_freq="abc")
        self.refuse(TypeError, "inv_freq: got 'x'", gyre.Rope, inv_freq=["x"])
        self.refuse(TypeError, "sections: got 5", gyre.Rope, sections=5)
        self.refuse(ValueError, "sections: got 5, expected at most 4", gyre.Rope, sections=[8] * 5)
        self.assertEqual(gyre.Rope(sections=[8] * 4).axes, 4)
        self.refuse(ValueError, "inv_freq: got 3", gyre.Rope, inv_freq=[1, 2, 3], rotary_dim=8)
        self.refuse(ValueError, "rope.theta: got 0.5", gyre.rotary, Q, gyre.Rope(theta=0.5))
        self.refuse(ValueError, "rope.sin: got NULL beside", gyre.rotary, Q, gyre.Rope(cos=np.ones((4, 32), np.float32)))
        self.refuse(ValueError, "rope.rotary_dim: got 66", gyre.rotary, Q, gyre.Rope(rotary_dim=66))
        self.refuse(ValueError, "positions: got -1", gyre.rotary, Q, gyre.Rope(), positions=[0, 1, -1, 2])
        self.refuse(ValueError, "position_offset", gyre.rotary, Q, gyre.Rope(), position_offset=-1)

    def test_contexts(self):
        self.refuse(ValueError, "target: got .z80., expected one of", gyre.Context, target="z80")
        self.refuse(ValueError, "threads: got -1", gyre.Context, threads=-1)
        self.refuse(ValueError, "threads: got", gyre.Context, threads=2**33)
        self.refuse(TypeError, "threads", gyre.Context, threads=1.5)


if __name__ == "__main__":
    unittest.main()
