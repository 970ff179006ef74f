"""Writes cmake/requirements*.txt from requirements*.in: every package that those need, with the hashes of its wheels for Linux on
x86_64, for CPython 3.10 to 3.13. Needs network, and python3.10 to python3.13 with pip 22.2 or later; run it after a change of a .in file.

    python cmake/pin.py
"""

import json
import pathlib
import re
import subprocess
import tempfile

VERSIONS = ("3.10", "3.11", "3.12", "3.13")
FOLDER = pathlib.Path(__file__).resolve().parent


def resolved(file, version):
    """(name, version): sha256 of what pip would install with this Python, whose own conditions pip goes by."""
    words = [f"python{version}", "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--only-binary=:all:"]
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        subprocess.check_call([*words, "--report", report, "-r", file, "-c", FOLDER / "requirements.in"])
        content = json.loads(report.read_text(encoding="utf-8"))
    found = {}
    for item in content["install"]:
        name = re.sub(r"[-_.]+", "-", item["metadata"]["name"]).lower()
        found[name, item["metadata"]["version"]] = item["download_info"]["archive_info"]["hashes"]["sha256"]
    return found


def pin(file):
    rows = {}
    for version in VERSIONS:
        for package, digest in resolved(file, version).items():
            rows.setdefault(package, {}).setdefault(digest, []).append(version)
    text = f"# Written by cmake/pin.py from {file.name}.\n"
    for (name, number), digests in sorted(rows.items()):
        versions = sorted({version for some in digests.values() for version in some}, key=VERSIONS.index)
        marker = "" if len(versions) == len(VERSIONS) else " ; " + " or ".join(f'python_version == "{v}"' for v in versions)
        hashes = " \\\n".join(f"    --hash=sha256:{digest}" for digest in sorted(digests))
        text += f"{name}=={number}{marker} \\\n{hashes}\n"
    file.with_suffix(".txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for each in sorted(FOLDER.glob("requirements*.in")):
        pin(each)
