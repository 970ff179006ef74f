"""What gyre tune campaign decides, and what its journal and its report keep of that."""

import os
import tempfile
import types
import unittest
from unittest import mock

import acceptance
import campaign_report
import campaign_verdict
from acceptance import Verdict
from campaign_journal import Journal


class CampaignVerdicts(unittest.TestCase):
    """Knobs change for a gain of at least 3 % that is measured twice."""

    def settle(self, *verdicts, stored=None):
        recipe = types.SimpleNamespace(name="k")
        database = types.SimpleNamespace(entry=lambda name: stored, knobs=lambda recipe: {"lanes": 4})
        setup = types.SimpleNamespace(database=database, recipe=recipe, stored={"lanes": 4, "fold": 0})
        study = types.SimpleNamespace(finished=lambda: [1, 2, 3])
        evidence = {"median_us": 9.0, "replaced_median_us": 10.0, "p10_us": 8.0, "p90_us": 11.0}
        with mock.patch.object(acceptance, "measure", side_effect=verdicts), mock.patch.object(
            campaign_verdict, "ranked", return_value=[({"lanes": 8}, 0.9)]
        ), mock.patch.object(campaign_verdict, "evidence_of", return_value=evidence):
            return campaign_verdict.settle(setup, study, None, None)

    def test_a_gain_that_is_measured_again(self):
        outcome = self.settle(verdict(0.06), verdict(0.05))
        self.assertEqual((outcome["changed"], outcome["ratios"]), (True, [0.94, 0.95]))
        self.assertEqual(outcome["entry"]["knobs"], {"lanes": 8})
        self.assertEqual(outcome["entry"]["evidence"]["of_stored_time"], [0.94, 0.95])

    def test_a_gain_that_is_not(self):
        for second in (verdict(0.01), verdict(0.05, accepted=False), verdict(-0.02, accepted=False)):
            outcome = self.settle(verdict(0.06), second)
            self.assertFalse(outcome["changed"])
            self.assertIn("not measured again", outcome["text"])
            self.assertEqual(outcome["entry"]["knobs"], {"lanes": 4})

    def test_what_is_too_small(self):
        for first in (verdict(0.029), verdict(0.2, accepted=False), Verdict(None, False, 0, 0, {}, "", [])):
            outcome = self.settle(first)
            self.assertEqual((outcome["changed"], outcome["text"]), (False, "the stored knobs stayed"))
            evidence = outcome["entry"]["evidence"]
            self.assertEqual((evidence["kept"], evidence["median_us"]), (True, 10.0))

    def test_an_entry_with_evidence_stays_as_it_is(self):
        self.assertIsNone(self.settle(verdict(0.01), stored={"knobs": {}, "evidence": {"date": "then"}})["entry"])


def verdict(gain, accepted=True):
    return Verdict({"lanes": 8}, accepted, gain, 0.004, {}, "", [])


class CampaignJournals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_kernels_are_asked_for_once(self):
        asked = []

        def ask():
            asked.append(1)
            return [{"kernel": "k"}]

        for _ in range(2):
            self.assertEqual(Journal(self.folder).kernels("t", [1, "a call"], ask), [{"kernel": "k"}])
        Journal(self.folder).kernels("t", [2, "a call"], ask)
        Journal(self.folder).kernels("u", [2, "a call"], ask)
        self.assertEqual(len(asked), 3)

    def test_what_is_left(self):
        journal = Journal(self.folder)
        for kernel, outcome in (("failed", {"failed": "x"}), ("decided", {"stored": False}), ("done", {"stored": True})):
            journal.record(kernel, outcome)
        again = Journal(self.folder)
        self.assertEqual([kernel for kernel in ("new", *again.outcomes) if not again.is_done(kernel)], ["new", "failed", "decided"])
        self.assertEqual(Journal(self.folder, restart=True).outcomes, {})

    def test_the_report(self):
        journal = Journal(self.folder)
        common = {"noise": 0.004, "candidates": 12, "machine": "M", "date": "D"}
        entry = {"knobs": {"lanes": 8}, "evidence": {}}
        journal.record("a", {**common, "changed": True, "text": "changed", "ratios": [0.91, 0.92], "entry": entry})
        journal.record("b", {**common, "changed": False, "text": "the stored knobs stayed", "ratios": [], "entry": None})
        journal.record("c", {"failed": "two\nlines | here"})
        kernels = [{"kernel": kernel, "share": 0.25} for kernel in "abcd"]
        campaign_report.write_report(os.path.join(self.folder, "report.md"), journal, {"t": kernels})
        with open(os.path.join(self.folder, "report.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("2 of 4 kernels are done: 1 changed, 1 stayed. 1 failed.", text)
        self.assertIn("| 25.0 % | `a` | changed | 0.910, 0.920 | 0.4 % | 12 | lanes=8 | M, D |", text)
        self.assertIn("| `b` | the stored knobs stayed | none came near | 0.4 % | 12 |  | M, D |", text)
        self.assertIn("| `c` | failed: two lines / here | | | | | |", text)
        self.assertIn("| `d` | not begun | | | | | |", text)
        self.assertEqual({line.count("|") for line in text.splitlines() if line.startswith("|")}, {9})
