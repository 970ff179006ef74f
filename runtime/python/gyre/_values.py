"""Python's values as numbers of the C API, with refusals in the library's words."""

import math
import operator
from collections.abc import Mapping
from typing import Any

LAYOUTS = {"bshd": 0, "bhsd": 1, "thd": 2}
ALIGNMENTS = {"bottom_right": 0, "top_left": 1}
VALUE_ORDERS = {"rows": 0, "blocks": 1}


def choose(value: Any, name: str, words: Mapping[str, int]) -> int:
    """The number of a word. Errors: ValueError, which lists them."""
    if isinstance(value, str) and value in words:
        return words[value]
    raise ValueError(f"{name}: got {value!r}, expected one of {', '.join(words)}")


def flag(value: Any, name: str) -> int:
    """Returns 1 or 0 for True or False. Errors: TypeError."""
    if value is True or value is False or type(value).__name__ in ("bool", "bool_"):
        return int(value)
    raise TypeError(f"{name}: got {value!r}, expected True or False")


def integer(value: Any, name: str, bits: int = 32, signed: bool = True) -> int:
    """Returns a whole number that fits. Errors: TypeError, ValueError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: got {value!r}, expected an integer") from None
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if not low <= number <= high:
        raise ValueError(f"{name}: got {number}, expected {low} .. {high}")
    return number


def real(value: Any, name: str) -> float:
    """Returns a number as a float. Errors: TypeError; ValueError, of a tensor whose gradient would be lost."""
    if getattr(value, "requires_grad", False):
        raise ValueError(f"{name}: requires gradients, which are not computed, expected {name}.detach()")
    try:
        if isinstance(value, str):
            raise TypeError
        return float(value)
    except OverflowError:
        return math.inf  # which the library refuses, naming the argument
    except (TypeError, ValueError):
        raise TypeError(f"{name}: got {value!r}, expected a number") from None


def single(value: Any, name: str) -> float:
    """Returns a number that the library takes in float32, where 0 means something else. Errors: TypeError, ValueError."""
    number = real(value, name)
    if number != 0 and abs(number) <= 2.0**-150:
        raise ValueError(f"{name}: got {number:g}, which is 0 in float32, expected another number")
    return number


def scale_of(scale: Any) -> float:
    """The scale as the library takes it, to which 0 is what None is here. Errors: TypeError, ValueError."""
    if scale is None:
        return 0.0
    number = single(scale, "scale")
    if number == 0:
        raise ValueError("scale: got 0, expected another number, or None for 1 / sqrt(head_dim)")
    return number


def each(values: Any, name: str) -> list[Any]:
    """The members of a list or an array. Errors: TypeError."""
    if isinstance(values, str) or not hasattr(values, "__iter__") or getattr(values, "shape", None) == ():
        raise TypeError(f"{name}: got {values!r}, expected numbers in a list or an array")
    return list(values)


def pair(value: Any, name: str, parts: str) -> tuple[Any, Any]:
    """The two members of a pair; None: None and None. Errors: TypeError."""
    if value is None:
        return None, None
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{name}: got {type(value).__name__}, expected None or {parts}")
    return value[0], value[1]


def text(value: Any, name: str) -> bytes | None:
    """Returns the bytes of a name, or None. Errors: TypeError, ValueError."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{name}: got {value!r}, expected a name or None")
    if "\0" in value:
        raise ValueError(f"{name}: got {value!r}, expected a name without NUL")
    return value.encode()
