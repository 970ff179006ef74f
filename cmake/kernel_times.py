"""Says which kernels took their generators longest, from Ninja's log; fails if one is far over its budget.

    python kernel_times.py BUILD_DIRECTORY

Compile times of schedules can explode: every kernel has a budget of 4 s on an idle machine. Over it is a warning, because
machines are rarely idle; an error is what takes over 20 s, and 20 times as long as half of all kernels, which a busy machine
slows down, too.
"""

import os
import re
import statistics
import sys

BUDGET, LIMIT, MEDIANS, SHOWN = 4.0, 20.0, 20, 5


def generator_seconds(build):
    """Kernel and flavour: seconds of its latest making."""
    seconds = {}
    with open(os.path.join(build, ".ninja_log"), encoding="utf-8") as log:
        for line in log:
            # start and end in milliseconds, modification time, output, hash of the command
            fields = line.rstrip("\n").split("\t")
            made = len(fields) == 5 and re.search(r"kernels/(\w+)/gyrekernel_gyre_(\w+)\.o$", fields[3])
            if made and os.path.exists(os.path.join(build, fields[3])):
                seconds[f"{made[2]} ({made[1]})"] = (int(fields[1]) - int(fields[0])) / 1000
    return seconds


def main():
    seconds = generator_seconds(sys.argv[1])
    slowest = sorted(seconds.items(), key=lambda kernel: -kernel[1])[:SHOWN]
    if not slowest:
        sys.exit("no kernel in Ninja's log")
    print(f"generator time of {len(seconds)} kernels: {sum(seconds.values()):.1f} s; the slowest:")
    for name, time in slowest:
        print(f"  {time:5.1f} s  {name}{f'   over the budget of {BUDGET:.0f} s' if time > BUDGET else ''}")
    limit = max(LIMIT, MEDIANS * statistics.median(seconds.values()))
    if slowest[0][1] > limit:
        sys.exit(f"{slowest[0][0]} took {slowest[0][1]:.1f} s, over the limit of {limit:.0f} s: simplify its schedule")


if __name__ == "__main__":
    main()
