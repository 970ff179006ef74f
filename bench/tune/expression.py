"""Conditions on knobs, as search spaces state them: "key_block % key_unroll == 0".

Whole-number arithmetic, comparisons, and/or/not, min, max and a-if-c-else-b, over names; nothing else. The text is never given
to Python's own evaluation: its syntax tree is walked here, and a node that is not in this file is refused. Names may stand for
numbers or for NumPy arrays of them, so that one walk judges all points of a space.
"""

import ast
import functools

import numpy as np

LONGEST = 500  # characters

BINARY = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.FloorDiv: np.floor_divide, ast.Mod: np.mod}
COMPARE = {
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}
CALLS = {"min": np.minimum, "max": np.maximum}


class Refused(ValueError):
    """Not an expression of this small language."""


class Expression:
    def __init__(self, text):
        self.text = text
        if len(text) > LONGEST:
            raise Refused(f"an expression of {len(text)} characters; expected at most {LONGEST}")
        try:
            self.tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Refused(f"'{text}' cannot be read: {error}") from None
        self.names = set()
        self._check(self.tree)

    def __call__(self, values):
        """The value where each name has the number, or array of numbers, that the mapping `values` gives."""
        missing = self.names - set(values)
        if missing:
            raise Refused(f"'{self.text}' speaks of {sorted(missing)[0]}; expected names among {', '.join(sorted(values))}")
        with np.errstate(divide="raise"):
            try:
                return self._value(self.tree, values)
            except (ZeroDivisionError, FloatingPointError):
                raise Refused(f"'{self.text}' divides by zero") from None

    def _check(self, node):
        allowed = (
            isinstance(node, ast.Constant)
            and type(node.value) in (int, bool)
            or isinstance(node, ast.Name)
            or isinstance(node, ast.BinOp)
            and type(node.op) in BINARY
            or isinstance(node, ast.UnaryOp)
            and isinstance(node.op, (ast.Not, ast.USub))
            or isinstance(node, ast.Compare)
            and all(type(op) in COMPARE for op in node.ops)
            or isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in CALLS
            and len(node.args) >= 2
            and not node.keywords
            or isinstance(node, (ast.BoolOp, ast.IfExp))
        )
        if not allowed:
            raise Refused(f"'{self.text}': {type(node).__name__} is not allowed")
        if isinstance(node, ast.Name):
            self.names.add(node.id)
        for child in node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._check(child)

    def _value(self, node, values):
        def value(child):
            return self._value(child, values)

        if isinstance(node, ast.Constant):
            return int(node.value)
        if isinstance(node, ast.Name):
            return values[node.id]
        if isinstance(node, ast.BinOp):
            return BINARY[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp):
            return np.logical_not(value(node.operand)) if isinstance(node.op, ast.Not) else np.negative(value(node.operand))
        if isinstance(node, ast.BoolOp):
            combine = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return functools.reduce(combine, map(value, node.values))
        if isinstance(node, ast.Compare):
            sides = [value(side) for side in (node.left, *node.comparators)]
            holds = [COMPARE[type(op)](*pair) for op, pair in zip(node.ops, zip(sides, sides[1:]))]
            return functools.reduce(np.logical_and, holds)
        if isinstance(node, ast.IfExp):
            return np.where(value(node.test), value(node.body), value(node.orelse))
        return functools.reduce(CALLS[node.func.id], map(value, node.args))
