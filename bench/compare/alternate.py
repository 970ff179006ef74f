"""Times functions in turn, because machines change their speed from second to second: only ratios of one round are compared."""

import os
import time

import numpy as np

TURN = 0.002  # seconds that a turn takes at least, by repeating short calls
MOST_TRIES = 10  # of a turn in which all threads work


def clock_of(threads):
    """The process's for functions of one thread, so that what other programs take of the processor is not counted."""
    return time.process_time if threads == 1 else time.perf_counter


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


def worked(threads):
    """Processor seconds of threads. The process's clock tells what others than the caller used at its last tick, 4 ms ago."""
    return sum(time.clock_gettime(~int(thread) << 3 | 6) for thread in threads)


def timed(act, before=lambda: None):
    """Seconds, and how many threads of the process worked meanwhile. Nothing slow, after which threads sleep, is between `before` and `act`."""
    threads = os.listdir("/proc/self/task")
    before()
    used, begin = worked(threads), time.perf_counter()
    act()
    passed = time.perf_counter() - begin
    return passed, (worked(threads) - used) / passed


def turn_of_threads(run, repeats, threads, tries=MOST_TRIES):
    """Seconds of a run while all threads have processors, or, after many tries, while fewer do: a call of one task needs no more.

    Threads of the one before must sleep first: OpenMP's keep their processors for 8 ms and more after a loop.
    """
    while timed(lambda: time.sleep(TURN))[1] > 0.1:
        pass
    run()
    for _ in range(tries):
        passed, working = timed(lambda: [run() for _ in range(repeats)], before=run)
        if working > 0.95 * threads:
            break
        time.sleep(5 * TURN)  # who has the other processor may be done then
    return passed / repeats


def alternate(runs, clock, budget, threads, least=5, most=25, tries=MOST_TRIES):
    """[rounds] seconds of each; as many rounds as the budget has room for. threads: of each. tries: of a turn of several."""
    repeats = {name: repeats_of(run, clock) for name, run in runs.items()}
    times = {name: [] for name in runs}
    alone = all(each == 1 for each in threads.values())
    begin = time.perf_counter()
    while len(next(iter(times.values()))) < least or time.perf_counter() - begin < budget:
        for name, run in runs.items():
            turn = seconds(run, repeats[name], clock) if alone else turn_of_threads(run, repeats[name], threads[name], tries)
            times[name].append(turn)
        if len(times[name]) == most:
            break
    return {name: np.array(found) for name, found in times.items()}


def ratio(times, base):
    """The median of the rounds' ratios, and half of the distance of their quartiles: what noise does to it."""
    ratios = times / base
    low, middle, high = np.percentile(ratios, [25, 50, 75])
    return middle, (high - low) / 2
