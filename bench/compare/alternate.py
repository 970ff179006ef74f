"""Times functions in turn, because machines change their speed from second to second: only ratios of one round are compared.

`clock` is time.process_time for functions of one thread, so that what other programs take of the processor is not counted, or
time.perf_counter.
"""

import time

import numpy as np

TURN = 0.002  # seconds that a turn takes at least, by repeating short calls


def seconds(run, repeats, clock):
    begin = clock()
    for _ in range(repeats):
        run()
    return (clock() - begin) / repeats


def repeats_of(run, clock):
    run()
    once = min(seconds(run, 1, clock) for _ in range(2))
    return max(1, int(TURN / max(once, 1e-7)))


def fastest(runs, clock):
    """The name of the one that takes least, of a few trials in turn."""
    if len(runs) == 1:
        return next(iter(runs))
    repeats = {name: repeats_of(run, clock) for name, run in runs.items()}
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(3):
        for name, run in runs.items():
            best[name] = min(best[name], seconds(run, repeats[name], clock))
    return min(best, key=best.get)


def alternate(runs, clock, budget, pause, least=5, most=25):
    """[rounds] seconds of each; as many rounds as the budget has room for. pause: before a turn, until others' threads sleep."""
    repeats = {name: repeats_of(run, clock) for name, run in runs.items()}
    times = {name: [] for name in runs}
    begin = time.perf_counter()
    while len(next(iter(times.values()))) < least or time.perf_counter() - begin < budget:
        for name, run in runs.items():
            time.sleep(pause)
            if pause:
                run()
            times[name].append(seconds(run, repeats[name], clock))
        if len(times[name]) == most:
            break
    return {name: np.array(found) for name, found in times.items()}


def ratio(times, base):
    """The median of the rounds' ratios, and half of the distance of their quartiles: what noise does to it."""
    ratios = times / base
    low, middle, high = np.percentile(ratios, [25, 50, 75])
    return middle, (high - low) / 2
