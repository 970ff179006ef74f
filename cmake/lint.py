"""Runs clang-tidy, with .clang-tidy, over every source of the project that a build directory compiles.

    python lint.py BUILD_DIRECTORY JOBS
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Options of GCC that clang stops at.
UNKNOWN_TO_CLANG = re.compile(r" -mrecip=\S+")


def findings(source, database):
    """What clang-tidy has to say about one source, compiled as the database in this folder says; empty if nothing."""
    result = subprocess.run(["clang-tidy", "--quiet", "-p", database, source], capture_output=True, text=True)
    return result.stdout + result.stderr if result.returncode else ""


def main():
    build, jobs = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    text = UNKNOWN_TO_CLANG.sub("", pathlib.Path(build, "compile_commands.json").read_text(encoding="utf-8"))
    compiled = {os.path.join(entry["directory"], entry["file"]) for entry in json.loads(text)}
    sources = sorted(source for source in compiled if not source.startswith(build))
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        pathlib.Path(folder, "compile_commands.json").write_text(text, encoding="utf-8")
        for said in pool.map(lambda source: findings(source, folder), sources):
            failed += bool(said)
            print(said, end="", flush=True)
    print(f"clang-tidy: {len(sources)} sources, {failed} with findings")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
