"""cmake/README.md names every option of CMake and every pinned package with its version, and no others.

    python readme_test.py
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = (ROOT / "cmake" / "README.md").read_text(encoding="utf-8")
FILES = [ROOT / "CMakeLists.txt", *(ROOT / folder / "CMakeLists.txt" for folder in ("generators", "runtime/embedded", "tests/cuda"))]
FILES += sorted((ROOT / "cmake").glob("*.cmake"))


def section(title):
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


class Readme(unittest.TestCase):
    def test_options(self):
        cached = re.compile(r"^\s*(?:option|find_program)\((GYRE_\w+)|^\s*set\((GYRE_\w+)[^\n]* CACHE (?!INTERNAL)", re.M)
        declared = {name for file in FILES for match in cached.findall(file.read_text(encoding="utf-8")) for name in match if name}
        told = set(re.findall(r"`(GYRE_\w+)`", "\n".join(line.split(" | ")[0] for line in section("Options").splitlines())))
        self.assertEqual(declared - told, set())
        sources = "\n".join(file.read_text(encoding="utf-8") for file in FILES)
        self.assertEqual({name for name in told if not re.search(rf"\b{name}\b", sources)}, set())

    def test_packages(self):
        rows = dict(re.findall(r"^\| ([\w-]+) \| ([\d., ]+) \|", section("What is linked, installed and used"), re.M))
        told = {(name, version) for name, versions in rows.items() for version in versions.split(", ")}
        pinned = set()
        for file in sorted((ROOT / "cmake").glob("requirements*.in")):
            pinned |= set(re.findall(r"^([\w-]+)==([\d.]+)", file.read_text(encoding="utf-8"), re.M))
        self.assertTrue(pinned)
        self.assertEqual(told, pinned)


if __name__ == "__main__":
    unittest.main()
