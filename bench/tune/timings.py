"""What is made of alternated timings: ratios of two libraries' times in the same session."""

import math

import numpy as np


def ratio(timed, role, to):
    """How one library's time compares with another's: by the least times, and by the median of each round's ratio."""
    own, other = (np.array(timed["seconds"][name]) for name in (role, to))
    return float(own.min() / other.min()), float(np.median(own / other))


def value(sessions, role="candidate", to="reference"):
    """What the search minimises: the median ratio, the geometric mean over shapes. On a machine that others use, too, least times
    are less certain: they need a moment in which both were left alone."""
    return math.exp(sum(math.log(ratio(timed, role, to)[1]) for timed in sessions) / len(sessions))


def block_ratios(sessions, role, to, blocks):
    """The ratio in each of several stretches of the sessions. How far these differ is how far one can be trusted."""
    rounds = min(len(timed["seconds"][role]) for timed in sessions)
    blocks = max(1, min(blocks, rounds // 3))
    logs = np.zeros(blocks)
    for timed in sessions:
        own, other = (np.array(timed["seconds"][name]) for name in (role, to))
        for block, rows in enumerate(np.array_split(np.arange(len(own)), blocks)):
            logs[block] += math.log(np.median(own[rows] / other[rows])) / len(sessions)
    return np.exp(logs)


def microseconds(sessions, role, percent):
    """A percentile of the times, the geometric mean over shapes."""
    logs = [math.log(1e6 * np.percentile(timed["seconds"][role], percent)) for timed in sessions]
    return math.exp(sum(logs) / len(logs))
