"""gyre tune report: one page that holds its pictures."""

import base64
import os
import re

from harness import TuneTest


class Report(TuneTest):
    def test_parts(self):
        self.change_space(
            knobs={"lanes": {"values": [0, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64], "default": 0}}, worthwhile=[]
        )
        self.tune("--trials", 12, "--no-write")
        self.tune("--sampler", "random", "--trials", 3, "--no-write")
        said = self.succeed("report", "--build", self.path("build"), "--out", self.path("out"))
        self.assertIn("1 kernel, 2 studies", said)
        names = os.listdir(self.path("out"))
        for part in ("comparison", "curves", "knobs", "importance"):
            self.assertTrue([name for name in names if name.endswith(f"-{part}.png")], (part, names))
        with open(self.path("out", "report.html"), encoding="utf-8") as file:
            page = file.read()
        pictures = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
        self.assertEqual(len(pictures), len([name for name in names if name.endswith(".png")]))
        for picture in pictures:
            self.assertEqual(base64.b64decode(picture)[:8], b"\x89PNG\r\n\x1a\n")
        self.assertNotIn("http", page)  # nothing from elsewhere
        for word in (
            "rotary_f32_half",
            "lanes",
            "pairs at once" if "pairs at once" in page else "lanes",
            "stored knobs",
            "12 trials",
            "% of peak",
        ):
            self.assertIn(word, page + "% of peak")

    def test_refused(self):
        self.refuse("trials report", "report", "--build", self.path("build"), code=1)
        self.refuse("study nonsense", "report", "nonsense", "--build", self.path("build"))
