"""Which kernels gyre tune campaign works on, and how it looks for better knobs."""

import io
import os
import sys
import tempfile
import types
import unittest

import optuna
from harness import SOURCES

sys.path.append(os.path.join(os.path.dirname(SOURCES), "compare"))

from campaign_calls import DTYPES, SHAPES, reached, shape_of, words_of
from campaign_study import like_it
from model_calls import CALLS
from progress import Progress
from sampling import distributions, make_sampler
from space import Space


def call_named(name):
    return next(call for call in CALLS if call.name == name)


class CampaignCalls(unittest.TestCase):
    def words(self, name):
        with tempfile.TemporaryDirectory() as folder:
            return [word.replace(folder + os.sep, "") for word in words_of(call_named(name), "bf16", folder)]

    def test_a_call_as_options(self):
        for name, words in (
            ("BERT base, 128 tokens", []),
            ("BERT base, batch 8 padded, 128 tokens", ["--mask", "mask.npy"]),
            ("T5 base decoder, 1 token on 128", ["--scale", "1.0", "--causal", "--bias", "bias.npy"]),
            ("ModernBERT base, window, 1024 tokens", ["--window-left", "64", "--window-right", "64"]),
            ("Gemma 3 1B, window, 1 token on 2048", ["--causal", "--window-left", "511", "--window-right", "0"]),
            ("Gemma 2 2B, 1 token on 2048", ["--softcap", "50.0", "--causal"]),
            ("RoFormer base, rotated, 512 tokens", ["--rotary-dim", "64", "--interleaved"]),
            ("Phi-2, rotated, prefill 512", ["--causal", "--rotary-dim", "32"]),
            ("gpt-oss 20B, full, prefill 512", ["--causal", "--sinks", "sinks.npy"]),
            ("MPT 7B, 1 token on 2048", ["--causal", "--alibi", "alibi.npy"]),
            ("Llama 3 8B, batch 8, lengths, 1 token on 2048", ["--causal", "--seqused-k", "seqused_k.npy"]),
        ):
            with self.subTest(name=name):
                self.assertEqual(self.words(name)[4:], words)
        self.assertEqual(
            self.words("DeepSeek V2 Lite, 1 token on 1024")[:4],
            ["--shape", "b=1,h=16,hkv=16,lq=1,lk=1024,d=192,dv=128", "--dtype", "bf16"],
        )

    def test_a_long_call_is_timed_by_some_of_its_heads(self):
        call = call_named("Llama 3 8B, batch 4 left-padded, prefill 256")
        for microseconds, heads in (
            (20_000, "b=4,h=32,hkv=8"),
            (50_000, "b=1,h=32,hkv=8"),
            (200_000, "b=1,h=8,hkv=2"),
            (1e9, "b=1,h=4,hkv=1"),
        ):
            self.assertEqual(shape_of(call, microseconds), heads + ",lq=256,lk=256,d=128,causal=1")

    def test_kernels_by_their_share(self):
        calls = CALLS[:8]

        def ask(call, dtype):
            return ("formed" if calls.index(call) % 2 else "plain", 10.0 + calls.index(call)) if dtype == "f32" else ("light", 1.0)

        found = reached(calls, lambda kernel: "plain" if kernel == "formed" else kernel, ask, Progress(io.StringIO()))
        self.assertEqual([row["kernel"] for row in found], ["plain", "light"])
        self.assertAlmostEqual(sum(row["share"] for row in found), 1)
        self.assertEqual(found[0]["calls"][0], calls[-1].name)
        self.assertEqual(len(found[0]["shapes"]), SHAPES)
        self.assertEqual(found[0]["shapes"][0], "b=1,h=12,hkv=12,lq=512,lk=512,d=64,causal=0")
        self.assertEqual(len(found[1]["calls"]), len(calls) * (len(DTYPES) - 1))


class CampaignStudies(unittest.TestCase):
    """Stored knobs are seldom far from the best, so a campaign looks near them, and at those of kernels like it."""

    def setUp(self):
        values = [1, 2, 4, 8, 16, 32]
        self.space = Space({name: {"values": values, "default": 4} for name in ("a", "b")}, ["a * b <= 512"], [], {})

    def test_the_sampler_stays_near_the_best(self):
        sampler = make_sampler("near", self.space, 1, lambda number: None)
        study = optuna.create_study(sampler=sampler)
        study.enqueue_trial({"a": 4, "b": 4})
        told = []
        for _ in range(8):
            trial = study.ask(fixed_distributions=distributions(self.space))
            near = [self.space.neighbours(self.space.row(knobs))[self.space.row(trial.params)] for knobs in told]
            self.assertTrue(any(near) or not told, trial.params)
            told.append(trial.params)
            study.tell(trial, float(trial.params["a"]))
        self.assertEqual(len({tuple(knobs.items()) for knobs in told}), 8)

    def test_where_nothing_is_near_any_more(self):
        space = Space({"a": {"values": [1, 2], "default": 1}, "b": {"values": [1, 2, 4, 8, 16], "default": 1}}, [], [], {})
        study = optuna.create_study(sampler=make_sampler("near", space, 1, lambda number: None))
        for number in range(len(space)):
            study.tell(study.ask(fixed_distributions=distributions(space)), float(number))
        self.assertEqual(len({tuple(each.params.items()) for each in study.trials}), 10)

    def test_knobs_of_kernels_like_it(self):
        kernels = {
            "attention_plain_f16_d64": {"a": 8},  # as many words in common as the next, and before it
            "attention_plain_f32_d128": {"a": 16},
            "attention_plain_bf16_d128": {"a": 2},
            "attention_plain_bf16_dmax64": {"a": 4, "b": 8},
            "attention_decode_f32_d64": {"a": 1},
            "attention_plain_f32_dmax512": {"a": 64},  # is no value of the space
            "attention_plain_f16_d32": {"a": 8},
        }
        content = {"kernels": {name: {"knobs": knobs} for name, knobs in kernels.items()}}
        setup = types.SimpleNamespace(
            recipe=types.SimpleNamespace(operation="attention", variant="plain_f32_d64"),
            database=types.SimpleNamespace(content=content),
            space=self.space,
            start={"a": 2, "b": 4},
        )
        self.assertEqual(like_it(setup), [{"a": 8, "b": 4}, {"a": 16, "b": 4}, {"a": 4, "b": 8}])
