"""The project's Markdown files, and what stands in them."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = (".github", "bench", "cmake", "generators", "include", "runtime", "tests")


def markdown_files():
    files = sorted(ROOT.glob("*.md")) + [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.md"))]
    assert ROOT / "README.md" in files and len(files) > 10
    return files


def without_code(text):
    """The text with code blocks and code in lines blanked out."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", "", text, flags=re.M)
    return re.sub(r"`[^`\n]*`", lambda code: " " * len(code[0]), text)


def blocks(file):
    """(language, text) of every fenced block of a guide."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / file).read_text(encoding="utf-8"), re.M | re.S)


def shell_lines(text):
    """Lines of commands: those that are indented like code, and code within lines, without comments."""
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    lines = [line.strip() for line in re.findall(r"^    (\S.*)$", outside, re.M)] + re.findall(r"`([^`\n]+)`", outside)
    commands = [part for line in lines for part in re.sub(r"(^|\s)#.*", "", line).split(" && ")]
    return [command.strip() for command in commands if command.strip()]
