"""Counts what ctest has run, and names what it has skipped and why.

    python summary.py TESTS.xml      as written by ctest --output-junit
"""

import re
import sys
import xml.etree.ElementTree


def reason(case):
    """The line of its output that says why a test was skipped."""
    said = case.findtext("system-out") or ""
    line = re.search(r"skipped: (.*)", said) or re.search(r"^(.*\S)\s*$", said, re.M)
    return line[1].strip() if line else "no reason given"


def main():
    cases = xml.etree.ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
    passed = [case for case in cases if case.get("status") == "run"]
    failed = [case for case in cases if case.get("status") == "fail"]
    skipped = [case for case in cases if case not in passed and case not in failed]
    for case in skipped:
        print(f"  skipped  {case.get('name')}: {reason(case)}")
    print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped, of {len(cases)}")


if __name__ == "__main__":
    main()
