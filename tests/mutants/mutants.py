"""Changes one constant, comparison or index at a time, and says which of these mutants the tests kill.

    python mutants.py --work build/mutants                    all of them; results that are there already are kept
    python mutants.py --work build/mutants --only 'math/philox*' --only split       some, by name or area
    python mutants.py --work build/mutants --tree build                             beside a whole build, which is not touched
    python mutants.py --list                                  what there is
"""

import argparse
import fcntl
import fnmatch
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True

from beside import Beside
from report import table
from results import FIELDS, ROOT, Results
from scratch import Mismatch, check
from suites import Suites
from trials import Trials

HERE = pathlib.Path(__file__).resolve().parent
OPTIONAL = {"equivalent", "kernels"}  # why no test can kill it; the few kernels that show it


def read(folder):
    """All mutants, each with its area, which is its file's name and begins its own."""
    mutants = []
    for path in sorted(folder.glob("*.json")):
        for mutant in json.loads(path.read_text(encoding="utf-8")):
            if not FIELDS <= set(mutant) <= FIELDS | OPTIONAL or not mutant["tests"]:
                raise Mismatch(f"{path.name}: {mutant.get('name')} has {sorted(mutant)}, expected {sorted(FIELDS)}")
            mutants.append({**mutant, "name": f"{path.stem}/{mutant['name']}", "area": path.stem})
    names = [mutant["name"] for mutant in mutants]
    for name in names:
        if names.count(name) > 1:
            raise Mismatch(f"two mutants are called {name}")
    return mutants


def run(mutants, suites, results, only_build):
    """Build by build. The order is such that as little as possible is made anew from one mutant to the next."""
    groups, locks = {}, []
    for mutant in mutants:
        missing = sorted({need for test in mutant["tests"] for need in suites.missing(test)} | set(suites.missing_for(mutant)))
        builds = sorted({suites.build_of(test) for test in mutant["tests"]})
        if len(builds) > 1:
            sys.exit(f"mutants: {mutant['name']} has tests of several builds: {', '.join(builds)}")
        if missing:
            results.add(mutant, "not run", why="missing: " + ", ".join(missing))
        else:
            groups.setdefault(builds[0], []).append(mutant)
    for build, own in sorted(groups.items()):
        if only_build not in (None, build):
            continue
        (suites.work / build).mkdir(parents=True, exist_ok=True)
        lock = (suites.work / build / "lock").open("w", encoding="utf-8")  # held until the program ends
        fcntl.flock(lock, fcntl.LOCK_EX)
        locks.append(lock)
        trials = Trials(build, suites)
        trials.prepare({test for mutant in own for test in mutant["tests"]})
        for mutant in sorted(own, key=lambda m: (m["file"].startswith("generators/"), m["file"])):
            status, more = trials.run(mutant)
            results.add(mutant, status, **more)
        trials.scratch.put(None)


def chosen(mutants, patterns):
    some = [m for m in mutants if any(fnmatch.fnmatch(m["name"], p) or m["area"] == p for p in patterns)]
    if patterns and not some:
        sys.exit(f"mutants: none is called {' or '.join(patterns)}")
    return some or mutants


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, help="folder for the copy of the sources, builds, log and results.jsonl")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="mutants by name or area; may be repeated")
    parser.add_argument("--tree", type=pathlib.Path, help="a whole build with tests; mutants are linked before what it has, seconds each")
    parser.add_argument("--build", help="only mutants of this build of suites.json; several programs may run, each with its own")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    parser.add_argument("--again", action="store_true", help="also those that have a result")
    parser.add_argument("--report", action="store_true", help="print the counts by area of the results that are there")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("GYRE_JOBS", 0)) or os.cpu_count())
    parser.add_argument("--mutants", type=pathlib.Path, default=HERE / "list", help="a folder of other lists")
    parser.add_argument("--suites", type=pathlib.Path, default=HERE / "suites.json", help="other tests")
    arguments = parser.parse_args()
    try:
        mutants = read(arguments.mutants)
        for mutant in mutants:
            check(ROOT, mutant)
    except Mismatch as mismatch:
        sys.exit(f"mutants: {mismatch}")
    selected = chosen(mutants, arguments.only)
    if arguments.list:
        for mutant in selected:
            print(f"{mutant['name']:40} {mutant['file']}: {mutant['from']}  ->  {mutant['to']}")
        return
    if not arguments.work:
        parser.error("--work is missing")
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    results = Results(work / "results.jsonl")
    if not arguments.report:
        if arguments.tree:
            suites = Beside(work, arguments.jobs, arguments.suites, arguments.tree.resolve(), ROOT)
        else:
            suites = Suites(work, arguments.jobs, arguments.suites)
        run([m for m in selected if arguments.again or not results.known(m)], suites, results, arguments.build)
    print(table(selected, results.last))
    unexplained = [m["name"] for m in selected if results.last.get(m["name"], {}).get("status") == "survived" and "equivalent" not in m]
    if unexplained:
        sys.exit("mutants: survived and unexplained: " + ", ".join(unexplained))


if __name__ == "__main__":
    main()
