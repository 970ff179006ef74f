"""No source file of runtime/ or generators/ includes one of a room above its own (rooms.py).

    python includes_test.py
"""

import pathlib
import tempfile
import unittest

from rooms import APART, FLOORS, arrows, included, sources

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Engines of attention, and those that share what they do with them. The recurrence, providers and variants know the interface alone.
SHARED_ENGINES = {"bare": {"folded"}, "folded": {"vectors"}, "folded_pairs": {"folded", "pairs"}, "key_lanes": {"folded"}, "matrices": {"vectors"},
                  "pairs": {"vectors"}}


class Includes(unittest.TestCase):
    def test_houses(self):
        for house in FLOORS:
            with self.subTest(house):
                self.assertEqual(arrows(ROOT / house, FLOORS[house], APART[house]), [])

    def test_what_all_engines_of_attention_have_knows_none_of_them(self):
        house = ROOT / "generators"
        engines = house / "attention" / "engines"
        for source in sources(house / "attention"):
            room, *inside = source.relative_to(house / "attention").parts
            if room not in ("recurrence", "providers", "variants") and (room != "engines" or len(inside) == 1):
                continue
            own = inside[0] if room == "engines" else ""
            for target in included(house, source):
                if target.is_relative_to(engines) and target.parent != engines:
                    with self.subTest(f"{source.relative_to(house)} -> {target.relative_to(house)}"):
                        self.assertIn(target.parent.name, {own} | SHARED_ENGINES.get(own, set()))

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
