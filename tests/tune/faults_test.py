"""Candidates that do not build, crash, hang, devour memory or are wrong are recorded as what they are, and the search goes on."""

from fake_generator import FAULTS
from harness import TuneTest

EXPECTED = {  # fault: outcome, and what its text says
    "none": ("timed", ""),
    "slow": ("timed", ""),
    "refuses": ("not built", "this knob is refused"),
    "hangs": ("timed out", "time was up"),
    "garbage": ("not built", "exit code"),
    "wrong": ("wrong", "out["),
    "traps": ("crashed", "verifying"),
    "spins": ("timed out", "verifying"),
    "fails": ("wrong", "the kernel failed"),
    "eats": ("crashed", "SIGABRT"),
}


class Faults(TuneTest):
    def test_each_is_recorded_and_the_search_goes_on(self):
        self.fake_generator()
        self.change_space(knobs={"fault": {"values": list(range(len(FAULTS))), "default": 0}}, worthwhile=[])
        self.write_json(f"tuning/{self.target}.json", {"target": self.target, "defaults": {}, "kernels": {}})
        said = self.tune("--sampler", "grid", "--trials", 100, "--limit-seconds", 20, "--limit-memory", 512)
        self.assertIn("every point", said)
        trials = {FAULTS[trial.params["fault"]]: trial for trial in self.trials("grid-1")}
        self.assertEqual(set(trials), set(FAULTS))
        for fault, (outcome, text) in EXPECTED.items():
            with self.subTest(fault):
                record = trials[fault].user_attrs["record"]
                outcomes = (outcome, "cut") if outcome == "timed" else (outcome,)
                self.assertIn(record["outcome"], outcomes, record)
                self.assertIn(text, record["text"])
                self.assertEqual(trials[fault].state.name, "COMPLETE" if outcome == "timed" else "PRUNED")

    def test_a_reference_that_cannot_be_built_ends_the_study(self):
        self.fake_generator()
        self.change_space(knobs={"fault": {"values": [0, 1], "default": 1}}, worthwhile=[])
        self.refuse("this knob is refused", "rotary_f32_half", *self.common(), "--trials", 2, code=1)
