"""The list of components that is installed: complete, with versions and licences; and it is not made where something is missing.

    python sbom_test.py <source folder> <gyre.spdx.json> <README.md of cmake/> <binary>…
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, LIST, README = map(pathlib.Path, sys.argv[1:4])
BINARIES = sys.argv[4:]
SYSTEMS = {"glibc", "CUDA driver", "OpenBLAS"}  # whose version is that of the system that runs it


class Sbom(unittest.TestCase):
    def setUp(self):
        self.document = json.loads(LIST.read_text(encoding="utf-8"))
        self.packages = {(p["name"], p["versionInfo"]): p for p in self.document["packages"]}

    def test_format(self):
        self.assertEqual(self.document["spdxVersion"], "SPDX-2.3")
        ids = [p["SPDXID"] for p in self.document["packages"]]
        self.assertEqual(len(ids), len(set(ids)))
        for one in self.document["relationships"]:
            for end in (one["spdxElementId"], one["relatedSpdxElement"]):
                self.assertIn(end, [*ids, "SPDXRef-DOCUMENT"])
        used = {e for r in self.document["relationships"] for e in (r["spdxElementId"], r["relatedSpdxElement"])}
        self.assertEqual(set(ids) - used, set())

    def test_every_entry_has_a_version_and_a_licence(self):
        for (name, version), package in self.packages.items():
            self.assertRegex(package["licenseConcluded"], r"^[A-Z][\w.-]+( (AND|OR|WITH) [\w.-]+)*$|^0BSD", name)
            if name not in SYSTEMS:
                self.assertRegex(version, r"^\d", name)

    def test_every_pinned_package_is_there(self):
        pinned = [pair for file in SOURCE.glob("cmake/requirements*.txt")
                  for pair in re.findall(r"^([\w.-]+)==([\w.+]+)", file.read_text(encoding="utf-8"), flags=re.M)]
        self.assertGreater(len(pinned), 40)
        for pair in pinned:
            self.assertIn(pair, self.packages)

    def test_every_linked_library_is_there(self):
        listed = {library for p in self.packages.values() for library in p.get("comment", "").split(", ")}
        for binary in BINARIES:
            text = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
            libraries = {line.split()[0].split("/")[-1] for line in text.splitlines()} - {"linux-vdso.so.1"}
            self.assertTrue(libraries)
            loaded_by_others = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
            self.assertEqual({one for one in libraries if not one.startswith("libgyre")} - listed - loaded_by_others, set())

    def test_the_guide_names_what_is_asked_for(self):
        guide = README.read_text(encoding="utf-8")
        for file in SOURCE.glob("cmake/requirements*.in"):
            for name, version in re.findall(r"^([\w.-]+)==([\w.+]+)", file.read_text(encoding="utf-8"), flags=re.M):
                self.assertRegex(guide, rf"\| {re.escape(name)} \|.*{re.escape(version)}", f"{name} {version} of {file.name}")

    def test_what_is_missing_stops_it(self):
        for kind, name in (("python", "numpy"), ("components", "libstdc++")):
            with tempfile.TemporaryDirectory() as folder:
                copy = pathlib.Path(folder) / "cmake"
                shutil.copytree(SOURCE / "cmake", copy)
                table = json.loads((copy / "components.json").read_text(encoding="utf-8"))
                del table[kind][name]
                (copy / "components.json").write_text(json.dumps(table), encoding="utf-8")
                result = subprocess.run([sys.executable, copy / "sbom.py", copy / "out.json", "--version", "1", "--binary", *BINARIES],
                                        capture_output=True, text=True, check=False)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(name if kind == "python" else "libstdc++.so.6", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
