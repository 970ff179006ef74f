"""Search spaces: the points that knobs may take, as the files <operation>_knobs.json beside the schedules declare them.

    {"knobs": {"row_vectors": {"values": [1, 2, 3], "default": 3, "meaning": "…"}},
     "constraints": ["key_block % key_unroll == 0"],       the generator refuses points that violate one
     "worthwhile": ["row_vectors * key_unroll <= 64"],     points that violate one are valid, and never searched
     "shape": "b=1,h=8,lq=1024", "needs": ["angles_f32"]}  what is timed; kernels that calls use beside this one

A knob whose values are names rather than amounts, such as 0 for "the target's own", says "ordered": false.

Conditions speak of knobs, of the kernel's numeric parameters, and of the target's vector_width (f32 lanes) and vector_registers.
"""

import glob
import json
import os

import numpy as np
from errors import RunError
from expression import Expression, Refused

MOST_POINTS = 20_000_000


class Space:
    """knobs: {name: {"values", "default", "meaning"}}. variables: {name: number}. include: points whose values count, too."""

    def __init__(self, knobs, constraints, worthwhile, variables, include=()):
        self.defaults = {name: knob["default"] for name, knob in knobs.items()}
        self.meanings = {name: knob.get("meaning", "") for name, knob in knobs.items()}
        self.values = {
            name: sorted({*knob["values"], knob["default"], *(point[name] for point in include if name in point)})
            for name, knob in knobs.items()
        }
        self.ordered = {name: knob.get("ordered", True) for name, knob in knobs.items()}
        self.variables = variables
        self.constraints = [Expression(text) for text in constraints]
        self.worthwhile = [Expression(text) for text in worthwhile]
        self.names = list(self.values)
        self._ranks = {name: {value: rank for rank, value in enumerate(values)} for name, values in self.values.items()}
        sizes = [len(values) for values in self.values.values()]
        self.points = self._points()
        self._scale = np.maximum(np.array(sizes, float) - 1, 1)

    def _points(self):
        """Ranks of values, a row a point. A condition is asked as soon as its knobs have values, so that few beginnings go on."""
        points, waiting = np.zeros((1, 0), np.int16), self.constraints + self.worthwhile
        for count, name in enumerate(self.names, 1):
            ranks = np.arange(len(self.values[name]), dtype=np.int16)
            if len(points) * len(ranks) > MOST_POINTS:
                raise RunError(f"a search space of more than {MOST_POINTS} points: give its knobs fewer values")
            points = np.column_stack([np.repeat(points, len(ranks), axis=0), np.tile(ranks, len(points))])
            columns = {known: np.array(self.values[known])[points[:, i]] for i, known in enumerate(self.names[:count])}
            known = {**self.variables, **columns}
            ready = [condition for condition in waiting if condition.names <= known.keys() or count == len(self.names)]
            waiting = [condition for condition in waiting if condition not in ready]
            holds = np.ones(len(points), bool)
            for condition in ready:
                holds &= np.asarray(condition(known), bool)
            points = points[holds]
        return points

    def __len__(self):
        return len(self.points)

    def complete(self, knobs):
        return {**self.defaults, **knobs}

    def violated(self, knobs):
        """The first constraint that a point violates, or None."""
        for condition in self.constraints:
            if not np.all(condition({**self.variables, **self.complete(knobs)})):
                return condition.text
        return None

    def nearest_valid(self, knobs):
        """The point itself if no constraint forbids it, else the one that is most like it: defaults do not fit every target."""
        if self.violated(knobs) is None:
            return self.complete(knobs)
        row = self.nearest(self.complete(knobs), np.zeros(len(self.points), bool), np.random.default_rng(0))
        if row is None:
            raise RunError("the search space holds no valid point")
        return self.point(row)

    def point(self, row):
        return {name: self.values[name][rank] for name, rank in zip(self.names, self.points[row])}

    def row(self, knobs):
        """The row of a point, or None if the search does not visit it."""
        ranks = [self._ranks[name].get(value, -1) for name, value in self.complete(knobs).items()]
        rows = np.flatnonzero((self.points == ranks).all(axis=1))
        return int(rows[0]) if len(rows) else None

    def neighbours(self, row):
        """A mask over rows: one knob is another by at most two steps (or at all, if its values are names), or two by one."""
        steps = np.abs(self.points - self.points[row])
        named = [not self.ordered[name] for name in self.names]
        steps[:, named] = steps[:, named] > 0
        changed, largest = (steps > 0).sum(axis=1), steps.max(axis=1, initial=0)
        return ((changed == 1) & (largest <= 2)) | ((changed == 2) & (largest == 1))

    def nearest(self, wanted, is_taken, random):
        """The row nearest to a point that need not be valid, among those not taken (a mask over rows); None if all are."""
        distance = np.zeros(len(self.points))
        for column, name in enumerate(self.names):
            if not self.ordered[name]:
                distance += self.points[:, column] != self._ranks[name][wanted[name]]
                continue
            rank = np.interp(wanted[name], self.values[name], np.arange(len(self.values[name])))
            distance += ((self.points[:, column] - rank) / self._scale[column]) ** 2
        distance += 1e-6 * random.random(len(distance))  # of equally near ones, any
        distance[is_taken] = np.inf
        best = int(np.argmin(distance)) if len(distance) else 0
        return best if len(distance) and np.isfinite(distance[best]) else None


def folder_of(generators, operation):
    """The folder of an operation or a sub-kernel: one of that name in generators/, or in an operation's folder."""
    own = os.path.join(generators, operation)
    return next(iter([] if os.path.isdir(own) else glob.glob(os.path.join(generators, "*", operation))), own)


def declaration_path(generators, operation):
    """Where the search space of an operation is, if it has one."""
    return os.path.join(folder_of(generators, operation), f"{operation}_knobs.json")


def knob_range(knob):
    """The least and the largest value that a declared knob takes: its range, or else those worth trying, as tuning files have it."""
    values = knob.get("range", knob["values"])
    return min(values), max(values)


def read_declaration(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: no search space: {error}") from None


def space_of(declaration, path, variables, include=()):
    try:
        return Space(
            declaration["knobs"], declaration.get("constraints", ()), declaration.get("worthwhile", ()), variables, include
        )
    except (KeyError, Refused) as error:
        raise RunError(f"{path}: {error}") from None
