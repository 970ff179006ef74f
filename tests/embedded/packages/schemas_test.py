"""The packages' descriptions, by the rules of the tools that read them; and that the rules notice what is wrong.

    python schemas_test.py BOARD.json
"""

import importlib.util
import re
import unittest

import yaml_text
from board import BoardTest, main
from cmsis_rules import faults_of_pack
from platformio_rules import faults_of_library, faults_of_properties
from wrong_files import SAMPLE, WRONG
from zephyr_rules import faults_of_module

RULES = {"zephyr": faults_of_module, "library": faults_of_library, "properties": faults_of_properties, "cmsis": faults_of_pack}


def installed(name):
    found = importlib.util.find_spec(name)
    return bool(found and found.origin)  # a folder of this name has none


class SchemasTest(BoardTest):
    def folder_of(self, kind):
        """Made once a test."""
        package, below = {"library": ("platformio", ""), "properties": ("platformio", ""), "cmsis": ("cmsis", "content")}.get(kind, (kind, ""))
        folder = self.work / package
        return (folder if folder.exists() else self.package(package)) / below

    def test_packages(self):
        for kind, faults in RULES.items():
            self.assertEqual(faults(self.folder_of(kind)), [], kind)

    def test_wrong_files(self):
        for kind, mistakes in WRONG.items():
            folder = self.folder_of(kind)
            for name, before, after, expected in mistakes:
                with self.subTest(f"{kind}: {expected}"):
                    content = (folder / name).read_text(encoding="utf-8")
                    try:
                        self.spoil(folder / name, before, after)
                        self.assertIn(expected, "\n".join(RULES[kind](folder)))
                    finally:
                        (folder / name).write_text(content, encoding="utf-8")
            self.assertEqual(RULES[kind](folder), [], kind)

    def spoil(self, file, before, after):
        if before is None:
            file.unlink()
            return
        content = file.read_text(encoding="utf-8")
        self.assertIn(before, content)
        file.write_text(content.replace(before, after, 1), encoding="utf-8")

    @unittest.skipUnless(installed("yaml"), "PyYAML is not installed")
    def test_yaml(self):
        """The files mean to PyYAML what they mean here."""
        import yaml
        folder = self.folder_of("zephyr")
        for name in ("zephyr/module.yml", SAMPLE):
            content = (folder / name).read_text(encoding="utf-8")
            self.assertEqual(yaml_text.read(content), yaml.safe_load(content), name)

    @unittest.skipUnless(installed("kconfiglib"), "Kconfiglib is not installed")
    def test_kconfiglib(self):
        """Kconfiglib reads the option and gives the sample what it asks for, without a warning."""
        import kconfiglib
        folder, top = self.folder_of("zephyr"), self.work / "Kconfig"
        module = folder / "zephyr" / "Kconfig"
        symbols = set(re.findall(r"\b[A-Z][A-Z0-9_]{2,}\b", "\n".join(re.findall(r"depends on (.+)", module.read_text(encoding="utf-8")))))
        there = f"CPU_{self.board['processor'].upper().replace('-', '_')}"
        lines = [f"config {name}\n\tbool \"{name}\"\n\tdefault {'y' if name in (there, 'ARMV8_1_M_MVEF') else 'n'}\n" for name in sorted(symbols)]
        top.write_text("".join(lines) + f'config MAIN_STACK_SIZE\n\tint "stack"\nsource "{module}"\n', encoding="utf-8")
        read = kconfiglib.Kconfig(str(top), warn_to_stderr=False)
        read.load_config(str(folder / "samples/decode/prj.conf"))
        self.assertEqual(read.warnings, [])
        self.assertEqual(read.syms["GYRE_EMBEDDED"].str_value, "y")

    @unittest.skipUnless(installed("platformio"), "PlatformIO is not installed")
    def test_platformio(self):
        """PlatformIO's own schema, with the licences that it would ask the network for."""
        from platformio.package.manifest.parser import ManifestParserFactory
        from platformio.package.manifest.schema import ManifestSchema
        folder = self.folder_of("library")

        class Schema(ManifestSchema):
            @staticmethod
            def load_spdx_licenses(*_):
                return {"licenses": [{"licenseId": "MIT"}]}

        for name in ("library.json", "library.properties"):
            read = ManifestParserFactory.new_from_file(str(folder / name)).as_dict()
            self.assertEqual(Schema().load_manifest(read)["name"], "gyre_embedded")


if __name__ == "__main__":
    main()
