"""Tuning files that are nearly right: the build reads them, or stops with a sentence of its own that names the file.

    python tuning_test.py CMAKE [--seeds 40] [--from 1]
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ODD = [None, True, 0, -1, 1e300, 3.5, "", "4", ";", "a;b", "${x}", "\\", "\"", "]]", "é\u0000", [], [1, [2]], {}, {"knobs": {}}, {"a": {"b": 1}}]


def places(value, path=()):
    """Paths to everything in a JSON value."""
    yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield from places(member, (*path, key))


def spoil(value, draw):
    """The value with one thing replaced, renamed, added or left out."""
    path = draw.choice(list(places(value)))
    if not path:
        return draw.choice(ODD)
    owner = value
    for key in path[:-1]:
        owner = owner[key]
    edit = draw.randrange(4)
    if edit == 0:
        owner[path[-1]] = draw.choice(ODD)
    elif edit == 1:
        del owner[path[-1]]
    elif isinstance(owner, dict) and edit == 2:
        owner[str(draw.choice(ODD))] = owner.pop(path[-1])
    elif isinstance(owner, dict):
        owner[str(draw.choice(ODD))] = draw.choice(ODD)
    return value


def text_of_seed(seed):
    draw = random.Random(seed)
    shipped = json.loads(draw.choice(sorted((ROOT / "generators" / "tuning").glob("x86*.json"))).read_text(encoding="utf-8"))
    for section in ("defaults", "kernels"):  # few entries: a short file is read quickly
        entries = shipped.get(section, {})
        shipped[section] = {name: entries[name] for name in sorted(entries)[:3]}
    for _ in range(draw.randrange(3)):
        shipped = spoil(shipped, draw)
    text = json.dumps(shipped, ensure_ascii=False)
    if draw.random() < 0.2:
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice(["", "{", "]", ",", "\\", "\u0007", "//"]) + text[at + draw.randrange(9):]
    return text


def complaint(cmake, file):
    """What is wrong with how the build takes a file; None: nothing."""
    result = subprocess.run([cmake, f"-DROOT={ROOT}", f"-DFILE={file}", "-P", HERE / "tuning" / "check.cmake"], capture_output=True,
                            text=True, check=False)
    if result.returncode == 0 and not result.stderr:
        return None if "read" in result.stdout else "neither read nor refused"
    said = " ".join(result.stderr.split())
    if f"gyre: {file}" in said and "sub-command JSON" not in said:
        return None
    return said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cmake")
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--from", type=int, default=1, dest="first")
    arguments = parser.parse_args()
    findings = 0
    with tempfile.TemporaryDirectory(prefix="gyre-tuning-") as folder:
        for seed in range(arguments.first, arguments.first + arguments.seeds):
            file = pathlib.Path(folder) / "tuning.json"
            file.write_text(text_of_seed(seed), encoding="utf-8")
            wrong = complaint(arguments.cmake, file)
            if wrong:
                findings += 1
                print(f"seed {seed}: {wrong}\n{file.read_text(encoding='utf-8')}\n")
    print(f"{arguments.seeds} files, {findings} finding(s)")
    sys.exit(findings != 0)


if __name__ == "__main__":
    main()
