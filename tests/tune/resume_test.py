"""A study that is ended at any moment goes on with no trial lost."""

import os
import random
import signal
import subprocess
import time

from harness import KERNEL, QUICK, TuneTest
from optuna.trial import TrialState


class Resume(TuneTest):
    def setUp(self):
        super().setUp()
        # Enough points for the search to be new at every trial; the real generator knows nothing of them.
        self.fake_generator()
        self.change_space(
            knobs={"fault": {"values": [0], "default": 0}, "lanes": {"values": [0, 4, 8, 16, 32, 64], "default": 0}},
            worthwhile=[],
        )
        self.command = self.words(KERNEL, *self.common(), *QUICK, "--trials", 6, "--no-write")

    def start(self):
        return subprocess.Popen(
            self.command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def check_complete(self):
        """Six points, each tried to its end exactly once, and whatever was cut off tried again with the same knobs."""
        trials = self.trials()
        finished = [trial for trial in trials if trial.state in (TrialState.COMPLETE, TrialState.PRUNED)]
        self.assertEqual(len(finished), 6)
        self.assertEqual(len({tuple(trial.params.items()) for trial in finished}), 6)
        self.assertFalse([trial for trial in trials if trial.state in (TrialState.RUNNING, TrialState.WAITING)])
        for trial in trials:
            if trial.state == TrialState.FAIL and len(trial.params) == 2:
                self.assertIn(trial.params, [other.params for other in finished])
        for trial in finished:
            self.assertIn(trial.user_attrs["record"]["outcome"], ("timed", "cut"))

    def test_killed_at_several_moments(self):
        moments = random.Random(1)
        kills = 0
        for _ in range(4):
            process = self.start()
            database = self.path("build", "tune", self.study_name(), "study.db")
            while not os.path.exists(database) and process.poll() is None:
                time.sleep(0.02)
            time.sleep(moments.uniform(0.3, 1.6))
            kills += process.poll() is None
            process.kill()
            process.communicate()
        self.assertGreater(kills, 0)
        subprocess.run(self.command, cwd=self.folder, env=self.environment, capture_output=True, check=True)
        self.check_complete()
        self.assertFalse(
            [
                name
                for name in os.listdir(self.path("build", "tune", self.study_name(), "libraries"))
                if name.startswith("making")
            ]
        )

    def test_interrupted_from_the_keyboard(self):
        process = self.start()
        for line in process.stdout:
            if line.startswith("trial"):
                process.send_signal(signal.SIGINT)
                break
        _, said = process.communicate()
        self.assertEqual((process.returncode, said.count("\n")), (130, 1), said)
        self.assertIn("goes on", said)
        subprocess.run(self.command, cwd=self.folder, env=self.environment, capture_output=True, check=True)
        self.check_complete()

    def test_two_at_once(self):
        first = self.start()
        for line in first.stdout:
            if line.startswith("trial"):
                break
        self.refuse("another gyre tune", *self.command[2:], code=1)
        first.communicate()
        self.assertEqual(first.returncode, 0)

    def test_several_on_one_database(self):
        self.command += ["--storage", "sqlite:///" + self.path("shared.db")]
        both = [self.start(), self.start()]
        for process in both:
            _, said = process.communicate()
            self.assertEqual(process.returncode, 0, said)
        import optuna

        trials = optuna.load_study(study_name=self.study_name(), storage="sqlite:///" + self.path("shared.db")).trials
        workers = {trial.user_attrs["worker"]["pid"] for trial in trials}
        self.assertGreaterEqual(len(trials), 6)
        self.assertEqual(len(workers), 2)

    def test_a_study_keeps_to_what_it_began_with(self):
        subprocess.run(self.command, cwd=self.folder, env=self.environment, capture_output=True, check=True)
        words = [KERNEL, *self.common(), "--trials", 6, "--no-write"]
        self.refuse("--shape --study", *words, "--shape", "h=2,lq=8,d=64")
        self.refuse("--knobs --study", *words, "--shape", "h=4,lq=64,d=64", "--knobs", "lanes=4")
