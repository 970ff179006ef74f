"""Tests of gyre tune.

    python tune_test.py /path/to/build/bin/gyre /path/to/build [unittest arguments]

Needs what cmake/requirements-tune.txt names; exit code 77 without.
"""

import importlib.util
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
SKIPPED = 77

if __name__ == "__main__":
    if len(sys.argv) < 3 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(__doc__)
    if not importlib.util.find_spec("optuna"):
        print("skipped: this Python has no optuna")
        sys.exit(SKIPPED)

    from harness import TuneTest

    # Every name imported here is a class of tests that unittest.main() finds.
    from acceptance_test import Acceptance
    from bundle_test import Bundle
    from campaign_parts_test import CampaignCalls, CampaignStudies
    from campaign_test import Campaigns
    from campaign_verdict_test import CampaignJournals, CampaignVerdicts
    from compare_test import Compare, Compared
    from expression_test import Expressions
    from faults_test import Faults
    from kernels_test import Kernels, Tunable
    from options_test import Options
    from places_test import Places
    from report_test import Report
    from resume_test import Resume
    from several_test import Replacing, Reverting, Several, Wholes
    from space_test import Spaces
    from tuning_file_test import Style, Writing

    TuneTest.program, TuneTest.build = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
