"""Every relative link of every Markdown file leads to a file or folder that is there, and to a heading of it.

    python links_test.py
"""

import re
import unittest

from guides import ROOT, markdown_files, without_code


def anchors(file):
    """The anchors that GitHub gives the headings of a file."""
    found = set()
    text = re.sub(r"^```.*?^```$", "", file.read_text(encoding="utf-8"), flags=re.M | re.S)
    for heading in re.findall(r"^#+ +(.+?) *$", text, re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)  # a link's text alone
        anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        again = 0
        while (anchor if not again else f"{anchor}-{again}") in found:
            again += 1
        found.add(anchor if not again else f"{anchor}-{again}")
    return found


def links(text):
    text = without_code(text)
    inline = re.findall(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", text)
    defined = re.findall(r"^\[[^\]]+\]:\s*(\S+)", text, re.M)
    drawn = re.findall(r"<(?:img|a|source)\b[^>]*?(?:src|href|srcset)=\"([^\"]+)\"", text)
    return inline + defined + drawn


def fault(file, link):
    """What is wrong with a link in a file, or None."""
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = link.partition("#")
    target = (file.parent / path).resolve() if path else file
    if not target.is_relative_to(ROOT):
        return "leads out of the project"
    if not target.exists():
        return "leads to nothing"
    if anchor and target.is_dir():
        target = target / "README.md"
    if anchor and (target.suffix != ".md" or anchor not in anchors(target)):
        return "leads to no heading"
    return None


class Links(unittest.TestCase):
    def test_links(self):
        found = [(file, link) for file in markdown_files() for link in links(file.read_text(encoding="utf-8"))]
        self.assertGreater(len(found), 30)
        faults = [f"{file.relative_to(ROOT)}: {link} {fault(file, link)}" for file, link in found if fault(file, link)]
        self.assertEqual(faults, [])

    def test_faults_are_found(self):
        readme = ROOT / "README.md"
        text = "[a](include/gyre#support) [b](nowhere.md) [c](cmake/README.md#nothing) `[d](code)` [e](#try-it)\n![f](no.png)"
        faults = {link: fault(readme, link) for link in links(text)}
        self.assertEqual(
            faults,
            {
                "include/gyre#support": None,
                "nowhere.md": "leads to nothing",
                "cmake/README.md#nothing": "leads to no heading",
                "#try-it": None,
                "no.png": "leads to nothing",
            },
        )
        self.assertEqual(fault(readme, "../x"), "leads out of the project")


if __name__ == "__main__":
    unittest.main()
