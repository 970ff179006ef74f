"""No source file of runtime/ or generators/ includes one of a room above its own (rooms.py).

    python includes_test.py
"""

import pathlib
import tempfile
import unittest

from rooms import APART, FLOORS, arrows

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Includes(unittest.TestCase):
    def test_houses(self):
        for house in FLOORS:
            with self.subTest(house):
                self.assertEqual(arrows(ROOT / house, FLOORS[house], APART[house]), [])

    def test_an_arrow_upwards_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            house = pathlib.Path(folder).resolve()
            for name, text in (("low/a.h", '#pragma once\n#include "b.h"\n'), ("low/b.h", '#include "high/c.h"\n'),
                               ("high/c.h", '#include "low/a.h"\n'), ("high/d.cpp", '#include "../side/e.h"\n'), ("side/e.h", ""),
                               ("loose.h", ""), ("apart/f.c", '#include "high/c.h"\n'), ("unknown/g.c", "")):
                (house / name).parent.mkdir(exist_ok=True)
                (house / name).write_text(text, encoding="utf-8")
            self.assertEqual(arrows(house, (("low",), ("high", "side")), ("apart",)),
                             ["high/d.cpp -> side/e.h", "loose.h: in no room", "low/b.h -> high/c.h", "unknown/g.c: in no room"])


if __name__ == "__main__":
    unittest.main()
