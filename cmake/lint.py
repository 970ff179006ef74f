"""Runs clang-tidy, with .clang-tidy, over every source of the project that a build directory compiles.

    python lint.py BUILD_DIRECTORY JOBS
"""

import concurrent.futures
import json
import os
import subprocess
import sys


def findings(source, build):
    """What clang-tidy has to say about one source; empty if nothing."""
    result = subprocess.run(["clang-tidy", "--quiet", "-p", build, source], capture_output=True, text=True)
    return result.stdout + result.stderr if result.returncode else ""


def main():
    build, jobs = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as database:
        compiled = {os.path.join(entry["directory"], entry["file"]) for entry in json.load(database)}
    sources = sorted(source for source in compiled if not source.startswith(build))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for said in pool.map(lambda source: findings(source, build), sources):
            failed += bool(said)
            print(said, end="", flush=True)
    print(f"clang-tidy: {len(sources)} sources, {failed} with findings")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
