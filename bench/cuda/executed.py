"""Instructions that a warp executes around an attention kernel's main loop, at least: the shortest way through its machine code to the loop and
from there to the end, which asks queries in and stores results. It is the way of a call without rotation, packed sequences and options.

Loops beside the main one are gone through once, or not at all, but for those that copy queries and store results, whose turns are given.
"""

import heapq
import re


def steps(text):
    """Of each instruction, in order: where it goes on to, whatever its predicate is. Threads that have parted meet (BSYNC) where they said (BSSY)."""
    labels, jumps, meetings, count = {}, {}, {}, 0
    for line in text.splitlines():
        if label := re.match(r"(\.L_[\w.]+):", line):
            labels[label[1]] = count
        elif instruction := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+([^;]*);", line):
            said = instruction[1]
            if parting := re.search(r"\bBSSY\S*\s+(B\d+), `\((\.L_[\w.]+)\)", said):
                meetings[parting[1]] = parting[2]
            elif meeting := re.search(r"\bBSYNC\S*\s+(B\d+)", said):
                jumps[count] = (meetings.get(meeting[1], ""), False)
            elif jump := re.search(r"\b(?:BRA|CALL|EXIT)\b([^`]*)(?:`\((\.L_[\w.]+)\))?", said):
                jumps[count] = (jump[2], not said.startswith("@") and jump[1].strip() == "" and "CALL" not in said)
            count += 1
    following = []
    for at in range(count):
        target, always = jumps.get(at, ("", False))
        following.append(([] if always else [at + 1]) + ([labels[target]] if target in labels else []))
    return following


def shortest(to_next, begin, ends):
    """How many instructions are executed from `begin` until one of `ends` is next; None: there is no way."""
    least, waiting = {begin: 0}, [(0, begin)]
    while waiting:
        count, at = heapq.heappop(waiting)
        if at in ends:
            return count
        if count > least[at] or at >= len(to_next):
            continue
        for following in to_next[at]:
            if count + 1 < least.get(following, 1 << 30):
                least[following] = count + 1
                heapq.heappush(waiting, (count + 1, following))
    return None


def through(to_next, kinds, loop, kind):
    """Of one turn of a loop, by way of an instruction of this kind."""
    first, last = loop
    inside = [[at for at in following if first < at <= last] for following in to_next]
    ways = [(shortest(inside, first, {at}), shortest(inside, at, {last})) for at in range(first, last + 1) if kinds[at] == kind]
    return min((before + after + 1 for before, after in ways if before is not None and after is not None), default=None)


def around(text, kinds, loops, main):
    """What a warp executes before the main loop, the first turn of the loop around that included, and after it: {"around": once, "around_turn": in
    each turn of the loops that copy queries and store results}; {}: it is no such kernel."""
    to_next = steps(text)
    copies = [loop for loop in loops if loop[1] < main[0] and "LDGSTS" in kinds[loop[0]:loop[1] + 1]]
    stores = [loop for loop in loops if loop[0] > main[1] and "STG" in kinds[loop[0]:loop[1] + 1]]
    last = stores[0][1] if stores else main[1]
    ends = {at for at, kind in enumerate(kinds) if kind == "EXIT" and at > last}
    once, turns, at = 0, 0, 0
    for beside, kind, until in ((copies[:1], "LDGSTS", {main[0]}), (stores[:1], "STG", ends)):
        for loop in beside:
            reached, turn = shortest(to_next, at, {loop[0]}), through(to_next, kinds, loop, kind)
            if reached is None or turn is None:
                return {}
            once += reached
            turns += turn
            at = loop[1] + 1
        reached = shortest(to_next, at, until)
        if reached is None:
            return {}
        once += reached
        at = main[0]  # where it is left, in its middle
    return {"around": once, "around_turn": turns}
