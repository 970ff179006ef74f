"""gyre.plot: its numbers beside their definitions in float64, its refusals, and that gyre is imported without matplotlib.

    python plot_test.py        what draws is skipped where there is no matplotlib
"""

import importlib.util
import io
import subprocess
import sys
import unittest

import numpy as np
from support import random

import gyre

DRAWS = importlib.util.find_spec("matplotlib") is not None


def image_of(figure):
    return np.asarray(figure.axes[0].get_images()[0].get_array())


def png_of(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


STUDY = gyre.Study(name="s", kernel="rotary_f32_half", target="x86_64_generic", reference={"lanes": 8, "tokens": 4},
                   best={"lanes": 16, "tokens": 4}, accepted=True, gain=0.2, noise=0.01, verdict="0.8 of the time",
                   trials=(gyre.Trial({"lanes": 8, "tokens": 4}, "timed", 1.0), gyre.Trial({"lanes": 4, "tokens": 4}, "crashed", None),
                           gyre.Trial({"lanes": 16, "tokens": 4}, "timed", 0.8), gyre.Trial({"lanes": 8, "tokens": 4}, "timed", 1.1)))


class Loading(unittest.TestCase):
    def test_gyre_loads_no_matplotlib(self):
        program = "import sys, gyre; gyre.plot.angles; assert 'matplotlib' not in sys.modules"
        subprocess.run([sys.executable, "-c", program], check=True)

    def test_it_says_what_is_missing(self):
        program = "import sys; sys.modules['matplotlib.figure'] = None; import gyre; gyre.plot.angles()"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertIn("ImportError: gyre.plot: there is no matplotlib", done.stderr)


class Refusals(unittest.TestCase):
    def test_mistakes_are_named(self):
        q = random(1, 5, 2, 16)
        many = random(1, 5, 65, 16)
        long = random(1, 513, 1, 16)
        for error, naming, call in (
            (ValueError, "length: got 1", lambda: gyre.plot.angles(length=1)),
            (TypeError, "head_dim", lambda: gyre.plot.decay(head_dim="wide")),
            (ValueError, "head_dim: got 8", lambda: gyre.plot.angles(gyre.Rope(rotary_dim=16), 8)),
            (ValueError, "layout", lambda: gyre.plot.attention(q, q, layout="thd")),
            (ValueError, "513 keys", lambda: gyre.plot.attention(long, long)),
            (ValueError, "65 heads", lambda: gyre.plot.attention(many, many)),
            (ValueError, "ranks 3", lambda: gyre.plot.attention(q[0], q)),
            (ValueError, "return_lse", lambda: gyre.plot.attention(q, q, return_lse=True)),
            (ValueError, "no trials", lambda: gyre.plot.trials(gyre.Study(**{**vars(STUDY), "trials": ()}))),
            (ValueError, "differ in no knob", lambda: gyre.plot.knobs(gyre.Study(**{**vars(STUDY), "trials": STUDY.trials[:1]}))),
        ):
            with self.subTest(naming), self.assertRaisesRegex(error, naming):
                call()


@unittest.skipUnless(DRAWS, "this Python has no matplotlib")
class Pictures(unittest.TestCase):
    def test_angles(self):
        positions = np.arange(300)[:, None]
        for rope, speeds in ((None, 10000.0 ** (-np.arange(32) / 32)), (gyre.Rope(pairing="interleaved"), 10000.0 ** (-np.arange(32) / 32)),
                             (gyre.Rope(500.0, rotary_dim=16), 500.0 ** (-np.arange(8) / 8)),
                             (gyre.Rope(rotary_dim=16, rotary_offset=8), 10000.0 ** (-np.arange(8) / 8))):
            shown = image_of(gyre.plot.angles(rope, 64, length=300)).T
            self.assertEqual(shown.shape, (300, len(speeds)))
            self.assertTrue(((shown >= 0) & (shown <= 2 * np.pi)).all())
            np.testing.assert_allclose(np.exp(1j * shown), np.exp(1j * positions * speeds), rtol=0, atol=2e-6)

    def test_decay(self):
        units = np.exp(1j * np.arange(500)[:, None] * 10000.0 ** (-np.arange(64) / 64))
        dot_product, sums = units.real.sum(1), np.abs(np.cumsum(units, 1)).mean(1)
        figure = gyre.plot.decay(head_dim=128, length=500)
        got = [line.get_ydata() for line in figure.axes[0].get_lines()[:2]]
        np.testing.assert_allclose(got, [dot_product / dot_product[0], sums / sums[0]], rtol=0, atol=1e-6)

    def test_attention(self):
        q, k = random(2, 9, 4, 16), random(2, 7, 2, 16, seed=1)
        scores = np.einsum("bihd,bjhd->bhij", q, k.repeat(2, 2), dtype=np.float64) / 4
        visible = np.arange(7) <= np.arange(9)[:, None] - 2
        weights = np.exp(np.where(visible, scores, -np.inf))
        sums = weights.sum(-1, keepdims=True)
        weights = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
        for layout in ("bshd", "bhsd"):
            given = (q, k) if layout == "bshd" else (q.swapaxes(1, 2), k.swapaxes(1, 2))
            figure = gyre.plot.attention(*given, causal=True, layout=layout)
            shown = [np.asarray(axes.get_images()[0].get_array()) for axes in figure.axes[:8]]
            np.testing.assert_allclose(np.reshape(shown, (2, 4, 9, 7)), weights, rtol=0, atol=1e-6)

    def test_studies(self):
        lines = gyre.plot.trials(STUDY).axes[0].get_lines()
        np.testing.assert_array_equal(lines[0].get_xdata(), [1, 3, 4])
        np.testing.assert_array_equal(lines[1].get_ydata(), [1, 1, 0.8, 0.8])
        (knob,) = gyre.plot.knobs(STUDY).axes
        self.assertEqual(knob.get_title(), "lanes")
        np.testing.assert_array_equal(knob.get_lines()[1].get_ydata(), [1.0, 0.8])

    def test_they_are_drawn(self):
        q = random(1, 5, 2, 16)
        for figure in (gyre.plot.angles(length=8), gyre.plot.decay(length=8), gyre.plot.attention(q, q), gyre.plot.trials(STUDY),
                       gyre.plot.knobs(STUDY)):
            self.assertEqual(png_of(figure)[:8], b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    unittest.main()
