"""Options that gyre must not accept: unknown, without a value, out of range, in contradiction."""

import json

import numpy as np

from harness import GyreTest


class RefusedOptions(GyreTest):
    def setUp(self):
        super().setUp()
        for name in ("x", "q", "k", "v"):
            self.save(name + ".npy", self.normal(1, 2, 6, 8))
        self.save("p.npy", np.arange(6))
        self.save("f.npy", np.ones(4))
        self.save("t.npy", np.ones((6, 4)))
        self.save("c.npy", np.array([0, 6], np.int32))
        self.save("bias.npy", self.normal(6, 6))
        self.save("mask.npy", np.ones((6, 6), bool))

    def rotary(self, naming, *options):
        with self.subTest(options=options):
            self.refuse(naming, "rotary", "--x", "x.npy", "--out", "y.npy", *options)

    def attention(self, naming, *options):
        with self.subTest(options=options):
            self.refuse(naming, "attention", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy", *options)

    def test_commands(self):
        self.refuse("command rotary")
        self.refuse("nonsense", "nonsense")
        self.refuse("command attention", "bench")
        self.refuse("nonsense", "bench", "nonsense")
        self.refuse("--nonsense", "info", "--nonsense")
        self.refuse("extra", "kernels", "extra")

    def test_an_unknown_command_lists_those_that_there_are(self):
        self.refuse("frobnicate info kernels rotary attention bench tune", "frobnicate")
        self.refuse("nonsense rotary attention linear-attention", "bench", "nonsense")

    def test_an_unknown_option_is_named_and_the_nearest_is_suggested(self):
        for words, message in (
            (("rotary", "--thread", 2), "gyre rotary: --thread: no such option; did you mean --threads?; see gyre rotary --help\n"),
            (("rotary", "--thread=2"), "gyre rotary: --thread=2: no such option; did you mean --threads?; see gyre rotary --help\n"),
            (("--threads", 2, "info"), "gyre: --threads: no such option; did you mean --threads behind info?; see gyre --help\n"),
            (("info", "--frobnicate", "x.npy"), "gyre info: --frobnicate: no such option; see gyre info --help\n"),
        ):
            with self.subTest(words=words):
                self.refuse("", *words)
                self.assertEqual(self.run_gyre(*words).stderr, message)

    def test_missing_options(self):
        self.refuse("--x", "rotary", "--out", "y.npy")
        self.refuse("--out", "rotary", "--x", "x.npy")
        self.refuse("--v", "attention", "--q", "q.npy", "--k", "k.npy", "--out", "o.npy")
        self.refuse("--rope", "frequencies", "--head-dim", 8, "--out", "f2.npy")
        self.refuse("--head-dim", "frequencies", "--rope", '{"rope_type": "default"}', "--out", "f2.npy")
        self.refuse("--shape", "bench", "rotary")

    def test_missing_values(self):
        self.refuse("--out", "rotary", "--x", "x.npy", "--out")
        self.refuse("--x", "rotary", "--x", "--out", "y.npy")
        self.rotary("--positions", "--positions", "")

    def test_given_twice(self):
        self.rotary("--theta", "--theta", 1000, "--theta", 2000)

    def test_not_a_number(self):
        for option in ("--rotary-dim", "--rotary-offset", "--offset", "--threads"):
            for value in ("many", "1.5", "1e3", "0x10", "", "99999999999999999999"):
                self.rotary(option, option, value)
        for value in ("big", "nan", "inf", "1,5", "1e999"):
            self.rotary("--theta", "--theta", value)
            self.attention("--scale", "--scale", value)

    def test_out_of_range(self):
        for option, value in (
            ("--rotary-dim", 0),
            ("--rotary-dim", -2),
            ("--rotary-dim", 7),
            ("--rotary-dim", 10),
            ("--rotary-offset", -1),
            ("--rotary-offset", 2),
            ("--rotary-offset", 8),
            ("--offset", -1),
            ("--offset", 1 << 31),
            ("--theta", 0),
            ("--theta", -10000),
            ("--threads", -1),
        ):
            self.rotary(option, option, value)
        self.rotary("--rotary-dim", "--rotary-dim", 6, "--rotary-offset", 4)
        self.rotary("--theta: '0'; expected a finite number > 0", "--theta", 0)  # by the program: the library was not called
        for option, value in (
            ("--scale", 0),
            ("--scale", 1e300),
            ("--dropout", 1),
            ("--dropout", -0.5),
            ("--softcap", -1),
            ("--softcap", 1e300),
            ("--window-left", -2),
            ("--window-right", -7),
            ("--rotary-dim", -2),
            ("--rotary-dim", 3),
            ("--rotary-dim", 16),
            ("--rotary-v-dim", 3),
            ("--rotary-v-dim", 10),
        ):
            self.attention(option, option, value)

    def test_not_one_of_the_words(self):
        self.rotary("--layout sbhd", "--layout", "sbhd")
        self.rotary("--dtype f64", "--dtype", "f64")
        self.rotary("--dtype int8", "--dtype", "int8")
        self.rotary("--target nonsense", "--target", "nonsense")
        self.attention("--causal middle", "--causal", "middle")
        self.attention("--causal", "--causal", "")

    def test_dropout_alone_has_a_seed(self):
        self.attention("--dropout-seed --dropout", "--dropout-seed", 7)
        self.attention("--dropout-offset --dropout", "--dropout-offset", 7)
        self.attention("--dropout-offset", "--dropout", 0.5, "--dropout-offset", 1 << 32)
        self.attention("--dropout-seed 18446744073709551615", "--dropout", 0.5, "--dropout-seed", 1 << 64)

    def test_contradictions(self):
        rope = '{"rope_type": "default"}'
        self.rotary("--theta --rope", "--theta", 1000, "--rope", rope)
        self.rotary("--inv-freq --rope", "--inv-freq", "f.npy", "--rope", rope)
        self.rotary("--inv-freq --theta", "--inv-freq", "f.npy", "--theta", 1000)
        self.rotary("--cos --sin", "--cos", "t.npy")
        self.rotary("--sin --cos", "--sin", "t.npy")
        self.rotary("--cos --theta", "--cos", "t.npy", "--sin", "t.npy", "--theta", 1000)
        self.rotary("--cos --rope", "--cos", "t.npy", "--sin", "t.npy", "--rope", rope)
        self.rotary("--cos --inv-freq", "--cos", "t.npy", "--sin", "t.npy", "--inv-freq", "f.npy")
        self.rotary("--positions --offset", "--positions", "p.npy", "--offset", 3)
        self.rotary("--length --rope", "--length", 4096)
        self.rotary(
            "--rotary-dim --rope", "--rotary-dim", 8, "--rope", '{"rope_type": "default", "partial_rotary_factor": 0.5}'
        )
        self.rotary("--interleaved", "--rope", json.dumps({"model_type": "m", "rope_interleave": True}))

    def test_contradictions_of_attention(self):
        packed = ["--cu-seqlens-q", "c.npy", "--cu-seqlens-k", "c.npy"]
        self.attention("--cu-seqlens-q --cu-seqlens-k", "--cu-seqlens-q", "c.npy")
        self.attention("--cu-seqlens-k --cu-seqlens-q", "--cu-seqlens-k", "c.npy")
        self.attention("--layout --cu-seqlens-q", *packed, "--layout", "bhsd")
        self.attention("--bias --cu-seqlens-q", *packed, "--bias", "bias.npy")
        self.attention("--mask --cu-seqlens-q", *packed, "--mask", "mask.npy")
        self.attention("--bias --cu-seqlens-q", *packed, "--bias", "bias.npy")
        self.attention("--probabilities --cu-seqlens-q", *packed, "--probabilities", "pr.npy")
        self.save("table.npy", np.zeros((1, 1), np.int32))
        pages = ["--page-table", "table.npy", "--seqused-k", "c.npy"]
        self.attention("--probabilities --page-table", *pages, "--probabilities", "pr.npy")
        self.attention("--probabilities o.npy --out", "--probabilities", "o.npy")
        self.attention("--theta --rope", "--rotary-dim", 8, "--theta", 10, "--rope", '{"rope_type": "default"}')

    def test_options_that_would_do_nothing(self):
        for option, value in (
            ("--theta", 10000),
            ("--rope", '{"rope_type": "default"}'),
            ("--q-positions", "p.npy"),
            ("--k-positions", "p.npy"),
        ):
            self.attention(f"{option} --rotary-dim", option, value)
        self.attention("--interleaved --rotary-dim", "--interleaved")

    def test_page_tables(self):
        self.save("table.npy", np.zeros((1, 1), np.int32))
        self.attention("--page-table --seqused-k", "--page-table", "table.npy")

    def test_bench(self):
        for shape in (
            "",
            "nonsense",
            "h=8",
            "h=8,lq=0,d=64",
            "h=8,lq=-1,d=64",
            "h=8,lq=1.5,d=64",
            "h=8,lq=16,d=64,x=3",
            "h=8,h=8,lq=16,d=64",
            "h=8,lq=16,d=",
            "h=8,,lq=16,d=64",
            "h=1000000,lq=1000000,d=1000000",
        ):
            with self.subTest(shape=shape):
                self.refuse("--shape", "bench", "rotary", "--shape", shape)
        self.refuse("--repeat 0", "bench", "rotary", "--shape", "h=1,lq=1,d=8", "--repeat", 0)
        self.refuse("--rotary-dim 7", "bench", "rotary", "--shape", "h=1,lq=1,d=8", "--rotary-dim", 7)
        self.refuse("--shape", "bench", "attention", "--shape", "h=3,hkv=2,lq=4,d=8")
        self.refuse("--theta", "bench", "attention", "--shape", "h=1,lq=4,d=8", "--theta", 5)
