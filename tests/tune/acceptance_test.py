"""What beats the stored knobs by more than noise is accepted, and nothing else."""

import unittest

import numpy as np
from acceptance import verdict


class Acceptance(unittest.TestCase):
    def session(self, ratio, noise, rounds=200, drift=0.25, seed=1):
        """Times of the stored knobs twice and of a finalist that takes `ratio` of theirs, on a machine that drifts."""
        random = np.random.default_rng(seed)
        machine = 1e-3 * (1 + drift * np.sin(np.linspace(0, 9, rounds)))
        times = {
            role: list(machine * share * np.exp(noise * random.standard_normal(rounds)))
            for role, share in (("stored", 1), ("again", 1), ("f", ratio))
        }
        return {"shape": "h=1", "seconds": times, "work": 1.0, "work_unit": "GFLOP", "peaks": [1000.0]}

    def judged(self, *sessions):
        return verdict(list(sessions), {"f": {"lanes": 8}})

    def test_a_clear_gain_is_accepted_in_spite_of_drift(self):
        found = self.judged(self.session(0.95, 0.01))
        self.assertTrue(found.accepted, found.text)
        self.assertAlmostEqual(found.gain, 0.05, delta=0.01)
        self.assertEqual(found.knobs, {"lanes": 8})

    def test_noise_is_refused(self):
        for seed in range(40):
            for noise in (0.005, 0.05, 0.2):
                found = self.judged(self.session(1, noise, seed=seed))
                self.assertFalse(found.accepted, (seed, noise, found.text))

    def test_a_gain_within_the_noise_is_refused(self):
        self.assertFalse(self.judged(self.session(0.98, 0.2)).accepted)

    def test_a_loss_is_refused(self):
        self.assertFalse(self.judged(self.session(1.02, 0.001)).accepted)

    def test_shapes_count_together(self):
        self.assertTrue(self.judged(self.session(0.9, 0.005), self.session(0.99, 0.005, seed=2)).accepted)
        self.assertFalse(self.judged(self.session(0.9, 0.005), self.session(1.12, 0.005, seed=2)).accepted)

    def test_bursts_of_other_work_do_not_make_a_gain(self):
        session = self.session(1, 0.005)
        for i in range(60, 80):
            session["seconds"]["stored"][i] *= 1.5
        self.assertFalse(self.judged(session).accepted)

    def test_without_a_finalist(self):
        found = verdict([self.session(1, 0.01)], {})
        self.assertFalse(found.accepted)
        self.assertIsNone(found.knobs)
