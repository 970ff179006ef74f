"""How pictures are drawn: each function fills the axes that it is given. The scripts of bench/plots draw by it as well."""

import math
from collections.abc import Sequence
from typing import Any


def angles(figure: Any, axes: Any, numbers: Any) -> None:
    """numbers: [length, pairs], radians in [0, 2 pi)."""
    image = axes.imshow(numbers.T, aspect="auto", origin="lower", cmap="twilight", vmin=0, vmax=2 * math.pi, interpolation="nearest")
    axes.set_title("Rotation angle of every feature pair at every position")
    axes.set_xlabel("position m in tokens")
    axes.set_ylabel("feature pair i")
    bar = figure.colorbar(image, ax=axes, label="angle m·θᵢ modulo one turn, in radians")
    bar.set_ticks([quarter * math.pi / 2 for quarter in range(5)], labels=["0", "π/2", "π", "3π/2", "2π"])


def decay(figure: Any, axes: Any, numbers: Any) -> None:
    """numbers: [2, length]: the dot product, and the mean of |S_j|; both 1 at distance 0."""
    dot_product, partial_sums = numbers
    axes.plot(dot_product, label="dot product of a vector of ones, rotated to 0 and to m", color="tab:blue", linewidth=1)
    axes.plot(partial_sums, label="mean |Sⱼ(m)|, to which the bound of RoFormer, section 3.4.3, is proportional", color="tab:orange")
    axes.axhline(0, color="black", linewidth=0.5)
    axes.set_title("Long-term decay of the rotated dot product")
    axes.set_xlabel("distance m in tokens")
    axes.set_ylabel("relative to distance 0")
    axes.set_xlim(0, len(dot_product) - 1)
    axes.legend()


def attention(figure: Any, axes: Any, maps: Any, rows: str) -> None:
    """maps: [rows, heads, seqlen_q, seqlen_kv], probabilities; axes: an array of rows × heads."""
    for row, of_row in enumerate(maps):
        for head, probabilities in enumerate(of_row):
            axis = axes[row][head]
            image = axis.imshow(probabilities, cmap="magma", vmin=0, vmax=1, interpolation="nearest")
            axis.set_title(f"{rows} {row}, head {head}", fontsize=11)
            axis.label_outer()
    for axis in axes[-1]:
        axis.set_xlabel("key j")
    for of_row in axes:
        of_row[0].set_ylabel("query i")
    figure.colorbar(image, ax=axes, label="probability P_ij", shrink=0.9)


def size_of_maps(rows: int, columns: int) -> tuple[float, float]:
    """Inches, of a figure for attention()."""
    return 2.8 * columns + 1.2, 2.7 * rows + 0.5


def trials(axes: Any, times: Sequence[float | None]) -> None:
    """times: of each trial in turn, relative to the reference; None where it failed."""
    best = math.inf
    least = []
    for time in times:
        best = min(best, math.inf if time is None else time)
        least.append(best)
    timed = [(number, time) for number, time in enumerate(times, 1) if time is not None]
    axes.plot([number for number, _ in timed], [time for _, time in timed], ".", color="0.6", label="a trial")
    axes.step(range(1, len(times) + 1), least, where="post", color="tab:blue", label="the best so far")
    axes.axhline(1, color="black", linewidth=0.7, linestyle=":", label="the reference knobs")
    axes.set_yscale("log")
    axes.set_xlabel("trial")
    axes.set_ylabel("time, relative to the reference")
    axes.legend(fontsize=8)


def knob(axes: Any, name: str, values: Sequence[int], times: Sequence[float]) -> None:
    """times: of trials that had these values of a knob."""
    known = sorted(set(values))
    axes.plot([known.index(value) for value in values], times, ".", color="0.6")
    axes.plot(range(len(known)), [min(time for value, time in zip(values, times) if value == each) for each in known], "-o",
              color="tab:blue", markersize=3)
    axes.set_title(name, fontsize=10)
    axes.set_xticks(range(len(known)), [str(value) for value in known], fontsize=7, rotation=90 if len(known) > 10 else 0)
