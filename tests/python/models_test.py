"""The calls of bench/compare: their table, arguments and rows in double precision.

    python models_test.py

Every call is made in small, with the heads' grouping, head sizes and options of the real one, and compared element by element with
tests/cli/reference.py, which shares no code with either.
"""

import pathlib
import sys
import unittest

import numpy as np
from support import ROUNDING, allowance, assert_close, dtypes, reference

COMPARE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "compare"
sys.path.append(str(COMPARE))

import gyre  # noqa: E402  pylint: disable=wrong-import-position
import model_arrays  # noqa: E402  pylint: disable=wrong-import-position
import model_ours  # noqa: E402  pylint: disable=wrong-import-position
from model_calls import CALLS  # noqa: E402  pylint: disable=wrong-import-position

SHORT = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
MODELS = ("BERT", "RoBERTa", "ViT", "DiT", "SD 1.5", "Whisper", "T5", "MPT", "BLOOM", "Llama 3", "Qwen 3", "Gemma 2", "Gemma 3",
          "gpt-oss", "DeepSeek", "Phi", "GPT-NeoX", "RoFormer")


def small(call):
    """Makes a small call of the same kind: at most 2 sequences, 2 key heads, some keys. A lone key head keeps all its query heads."""
    kv_heads = min(call.kv_heads, 2)
    group = call.group if kv_heads == 1 else min(call.group, 3)
    queries = {True: min(call.queries, 7), False: 11}[call.queries < call.keys]
    keys = min(call.keys, 37) if call.queries < call.keys else queries
    return call._replace(batch=min(call.batch, 2), heads=kv_heads * group, kv_heads=kv_heads, queries=queries, keys=keys,
                         window=min(call.window, 4))


def expected_of(call, inputs):
    """[batch, heads, queries, v_head_dim] by the reference, whose options are derived anew from the call."""
    seen = reference.visible(call.queries, call.keys, "bottom_right" if call.causal else None, call.window or -1,
                             call.window if call.window and not call.causal else -1)[None, None]
    hidden = [call.keys * entry // (2 * call.batch) for entry in range(call.batch)]
    if call.padding:
        keys = np.arange(call.keys)
        rows = [keys >= n if call.padding == "left" else keys < call.keys - n for n in hidden]
        seen = seen & np.array(rows)[:, None, None]
    if call.mask:
        seen = inputs.mask
    bias = 0 if inputs.bias is None else inputs.bias.astype(np.float64)
    if call.alibi:
        distance = np.arange(call.keys) - np.arange(call.keys - call.queries, call.keys)[:, None]
        bias = bias + 2.0 ** (-8 * (1 + np.arange(call.heads)) / call.heads)[:, None, None] * distance
    rope = None
    if call.rope:
        frequencies = reference.geometric(call.rope.rotary_dim or call.head_dim)

        def rope(x, positions):
            return reference.rotate(x, positions, frequencies, call.rope.pairing == "interleaved")

    return reference.attention(inputs.q, inputs.k, inputs.v, scale=call.scale or None, softcap=call.softcap, bias=bias, seen=seen,
                               sinks=inputs.sinks, rope=rope)[0]


class Calls(unittest.TestCase):

    def test_every_call_is_what_the_reference_makes_of_it(self):
        context = gyre.Context(threads=1)
        for dtype in dtypes():
            for whole in CALLS:
                with self.subTest(call=whole.name, dtype=dtype.name):
                    call = small(whole)
                    inputs = model_arrays.Inputs(call, SHORT[dtype.name])
                    q, k, v = (x.astype(dtype) for x in (inputs.q, inputs.k, inputs.v))
                    out = np.full((*q.shape[:3], call.value_dim), np.nan, dtype)
                    options = model_ours.keywords(call, inputs, lambda x, dtype=dtype: x.astype(dtype))
                    model_ours.prepare(context, q, k, v, out, options)()
                    expected = expected_of(call, inputs)
                    allowed = allowance(*(x.swapaxes(1, 2) for x in (q, k, v, expected)), rotated=bool(call.rope), scale=inputs.scale)
                    if call.softcap or call.alibi or call.relative_bias:
                        allowed = allowed + 8 * ROUNDING["float32"] * (call.softcap + 40)
                    assert_close(self, out, expected, allowed)

    def test_rows_in_double_precision_are_those_of_the_reference(self):
        for whole in CALLS:
            with self.subTest(call=whole.name):
                call = small(whole)
                inputs = model_arrays.Inputs(call, "f32")
                expected = expected_of(call, inputs)
                for place, row in model_arrays.sampled_rows(inputs):
                    np.testing.assert_allclose(row, expected[place], rtol=1e-9, atol=1e-12)

    def test_rows_that_see_nothing_are_not_sampled(self):
        call = small(next(each for each in CALLS if each.padding == "left" and each.queries > 1))
        inputs = model_arrays.Inputs(call, "f32")
        self.assertIsNone(inputs.row(1, 0, 0))

    def test_the_table_has_the_models_and_no_name_twice(self):
        names = [call.name for call in CALLS]
        self.assertGreaterEqual(len(names), 60)
        self.assertEqual(len(names), len(set(names)))
        for model in MODELS:
            self.assertTrue(any(name.startswith(model) for name in names), model)

    def test_a_draft_of_a_tree_sees_its_ancestors_alone(self):
        call = next(each for each in CALLS if each.mask == "tree")._replace(queries=6, keys=8)
        self.assertEqual(["".join(str(int(seen)) for seen in row) for row in model_arrays.tree(call)],
                         ["11100000", "11110000", "11101000", "11110100", "11110010", "11101001"])


if __name__ == "__main__":
    unittest.main()
