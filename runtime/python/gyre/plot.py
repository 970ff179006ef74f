"""Pictures of rotations, of attention and of studies, as figures of matplotlib: figure.savefig("angles.png"), or as they are in a notebook.

matplotlib is loaded by the first picture. Errors of all functions: ImportError (there is no matplotlib); those of the calls that form
the numbers.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _drawing
from ._attention import attention as _attention
from ._rope import Rope
from ._rotary import rotary
from ._tune import Study
from ._values import integer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_KEYS = 512  # what a head of values may have
MOST_MAPS = 64  # more are too small to read


def _figure(size: tuple[float, float]) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("gyre.plot: there is no matplotlib, which draws: pip install matplotlib") from error
    return Figure(figsize=size, layout="constrained")


def _rotated(rope: Rope, head_dim: int, length: int, of_ones: bool) -> tuple[np.ndarray, np.ndarray]:
    """The members of each pair, [length, pairs], of ones, or of (1, 0), rotated to every position."""
    pairs = (rope.rotary_dim or head_dim - rope.rotary_offset) // 2
    first = np.arange(pairs) * (2 if rope.pairing == "interleaved" else 1) + rope.rotary_offset
    second = first + (1 if rope.pairing == "interleaved" else pairs)
    if pairs < 1 or second[-1] >= head_dim:
        raise ValueError(f"head_dim: got {head_dim}, expected at least the {2 * max(pairs, 1)} features that rope turns")
    heads = np.full((1, length, 1, head_dim), 1.0 if of_ones else 0.0, np.float32)
    heads[..., first] = 1
    turned = rotary(heads, rope)[0, :, 0].astype(np.float64)
    return turned[:, first], turned[:, second]


def _sizes(head_dim: int, length: int) -> tuple[int, int]:
    head_dim, length = integer(head_dim, "head_dim"), integer(length, "length")
    if length < 2:
        raise ValueError(f"length: got {length}, expected at least 2")
    return head_dim, length


def angles(rope: Rope | None = None, head_dim: int = 128, *, length: int = 256) -> "Figure":
    """The angles by which pairs of features turn at positions 0 .. length - 1, modulo one turn, in radians.

    rope: None is Rope(). Errors: ValueError, TypeError.
    """
    head_dim, length = _sizes(head_dim, length)
    x, y = _rotated(rope or Rope(), head_dim, length, False)
    figure = _figure((9, 5))
    _drawing.angles(figure, figure.subplots(), np.arctan2(y, x) % (2 * np.pi))
    return figure


def decay(rope: Rope | None = None, head_dim: int = 128, *, length: int = 1024) -> "Figure":
    """How the dot product of two equal rotated vectors falls with their distance in tokens, 0 .. length - 1, relative to distance 0.

    rope: None is Rope(). Errors: ValueError, TypeError.
    """
    head_dim, length = _sizes(head_dim, length)
    x, y = _rotated(rope or Rope(), head_dim, length, True)
    dot_product = x @ x[0] + y @ y[0]
    x, y = _rotated(rope or Rope(), head_dim, length, False)
    partial_sums = np.hypot(x.cumsum(1), y.cumsum(1)).mean(1)
    figure = _figure((9, 5))
    _drawing.decay(figure, figure.subplots(), np.stack([dot_product / dot_product[0], partial_sums / partial_sums[0]]))
    return figure


def attention(q: Any, k: Any, **options: Any) -> "Figure":
    """What each head looks at: a map of probabilities, queries by keys, for every head of every batch entry.

    q, k, options: as attention() takes them, in layouts "bshd" and "bhsd"; at most 512 keys and 64 maps. Probabilities are computed by its
    kernels, in float32. Errors: ValueError, TypeError, NotImplementedError, MemoryError.
    """
    layout = options.get("layout", "bshd")
    if layout not in ("bshd", "bhsd"):
        raise ValueError(f"layout: got {layout!r}, expected one of bshd, bhsd")
    if options.get("return_lse") or options.get("out") is not None:
        raise ValueError("return_lse, out: are given, expected neither for a picture")
    q, k = (np.asarray(x).astype(np.float32) for x in (q, k))
    if q.ndim != 4 or k.ndim != 4:
        raise ValueError(f"q, k: got ranks {q.ndim} and {k.ndim}, expected 4")
    keys, maps = k.shape[1 if layout == "bshd" else 2], q.shape[0] * q.shape[2 if layout == "bshd" else 1]
    if not 0 < keys <= MOST_KEYS:
        raise ValueError(f"k: got {keys} keys, expected 1 .. {MOST_KEYS} in a picture")
    if not 0 < maps <= MOST_MAPS:
        raise ValueError(f"q: got {maps} heads in all, expected 1 .. {MOST_MAPS} in a picture")
    identity = np.eye(keys, dtype=np.float32)  # as values, it makes the weights the result
    values = identity[None, :, None] if layout == "bshd" else identity[None, None]
    values = np.broadcast_to(values, (*k.shape[:3], keys))
    weights = _attention(q, k, values, **options)
    weights = weights.swapaxes(1, 2) if layout == "bshd" else weights
    rows, columns = weights.shape[:2]
    figure = _figure(_drawing.size_of_maps(rows, columns))
    _drawing.attention(figure, figure.subplots(rows, columns, squeeze=False), weights, "batch entry")
    return figure


def trials(study: Study) -> "Figure":
    """The times of a study's trials in turn, relative to the reference knobs, and the best so far. Errors: ValueError (no trials)."""
    if not study.trials:
        raise ValueError(f"study: {study.name} has no trials")
    figure = _figure((9, 4))
    axes = figure.subplots()
    _drawing.trials(axes, [trial.time for trial in study.trials])
    axes.set_title(f"{study.kernel} on {study.target}")
    return figure


def _several(values: Sequence[int]) -> bool:
    return len(set(values)) > 1


def knobs(study: Study) -> "Figure":
    """The values of each knob against the times of a study's trials. Errors: ValueError (every knob had one value alone)."""
    timed = [(trial.knobs, trial.time) for trial in study.trials if trial.time is not None]
    names = [name for name in study.reference if _several([values[name] for values, _ in timed])]
    if not names:
        raise ValueError(f"study: the trials of {study.name} differ in no knob, expected at least two that do")
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    figure = _figure((2.6 * columns + 0.4, 2.4 * rows + 0.4))
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for axes in grid.flat[len(names):]:
        axes.set_visible(False)
    for name, axes in zip(names, grid.flat):
        _drawing.knob(axes, name, [values[name] for values, _ in timed], [time for _, time in timed])
    figure.supylabel("time, relative to the reference", fontsize=9)
    return figure
