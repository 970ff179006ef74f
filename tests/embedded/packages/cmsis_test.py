"""The CMSIS-Pack: the archive holds what its description names, each processor's library is reached, and the same files make the same pack.

    python cmsis_test.py BOARD.json
"""

import xml.etree.ElementTree
import zipfile

from board import PACKAGES, BoardTest, main


class CmsisTest(BoardTest):
    def test_pack(self):
        pack = next(self.package("cmsis").glob("*.pack"))
        folder = self.work / "unpacked"
        with zipfile.ZipFile(pack) as archive:
            archive.extractall(folder)
        (description,) = folder.glob("*.pdsc")
        tree = xml.etree.ElementTree.parse(description).getroot()
        vendor, name = tree.findtext("vendor"), tree.findtext("name")
        self.assertEqual(description.name, f"{vendor}.{name}.pdsc")
        version = tree.find("releases/release").get("version")
        self.assertEqual(pack.name, f"{vendor}.{name}.{version}.pack")
        self.assertEqual(tree.find("components/component").get("Cversion"), version)
        conditions = {condition.get("id") for condition in tree.iter("condition")}
        for word in tree.iter():
            self.assertIn(word.get("condition") or next(iter(conditions)), conditions)
        for file in tree.iter("file"):
            self.assertTrue((folder / file.get("name")).exists(), file.get("name"))
        self.assertTrue((folder / tree.findtext("license")).exists())

        processor = self.board["processor"]
        asked = next(condition for condition in tree.iter("condition") if condition.get("id") == processor)
        self.assertEqual(asked.find("require").get("Dcore").lower(), processor)
        (library,) = [file.get("name") for file in tree.iter("file") if file.get("condition") == processor]
        (include,) = [file.get("name") for file in tree.iter("file") if file.get("category") == "include"]
        flags = ("-std=c99", "-Os", "-I", folder / include, "-I", PACKAGES / "sample", "-I", PACKAGES.parents[2] / "tests/embedded/boards")
        sources = (PACKAGES / "sample" / "decode.c", PACKAGES.parents[2] / "tests/embedded/example/main.c")
        self.link_and_run([self.compile(source, *flags) for source in sources] + self.board_objects(), folder / library)

    def test_again(self):
        first, second = self.work / "first", self.work / "second"
        for out in (first, second):
            self.assertEqual(self.make("cmsis", out).returncode, 0)
        self.assertEqual(*(next(out.glob("*.pack")).read_bytes() for out in (first, second)))


if __name__ == "__main__":
    main()
