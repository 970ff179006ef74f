"""The pictures of gyre tune report. Each function writes one PNG and returns its path, or None where there is nothing to draw."""

import itertools

import matplotlib

matplotlib.use("Agg")  # no display needed
import matplotlib.pyplot as plt
import numpy as np

DPI = 110
BLUE, GREY, ORANGE, GREEN = "tab:blue", "0.6", "tab:orange", "tab:green"
MOST_IN_PAIRS = 4  # knobs whose pairs are drawn: the most important
WORST_SHOWN = 3.0  # times the best: slower ones are drawn at this height


def save(figure, path):
    figure.savefig(path, dpi=DPI)
    plt.close(figure)
    return path


def curves(results, path):
    """The best so far of every study over the time that it took, beside every single trial of the first."""
    figure, axes = plt.subplots(figsize=(9, 4.2), layout="constrained")
    for index, result in enumerate(results):
        if not result.timed:
            continue
        minutes = np.cumsum([trial.user_attrs["record"].get("spent_seconds", 0) for trial in result.trials]) / 60
        values = np.array([np.inf if trial.value is None else trial.value for trial in result.trials])
        best = np.minimum.accumulate(values)
        axes.step(minutes, best, where="post", label=f"{label(result)}: {best[-1]:.3f}", color=f"C{index}")
        if index == 0:
            near = np.isfinite(values) & (values <= WORST_SHOWN * best[-1])
            axes.plot(minutes[near], values[near], ".", color=GREY, markersize=3, zorder=0)
    axes.axhline(1, color="black", linewidth=0.7, linestyle=":")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}"), axes.yaxis.set_minor_formatter("{x:g}")
    axes.set_xlabel("minutes of search")
    axes.set_ylabel("time, relative to the reference")
    axes.set_title("Best so far; dots: trials of the first study; dotted: the reference knobs")
    axes.legend(fontsize=8)
    return save(figure, path)


def label(result):
    return result.name.partition("__")[2].partition("-")[2]


def effects(result, path):
    """Each knob's values against the time: every trial, and the best for each value."""
    if not result.timed:
        return None
    knobs = [knob for knob in result.knobs if len({trial.params[knob] for trial in result.timed}) > 1]
    if not knobs:
        return None
    columns = min(4, len(knobs))
    rows = -(-len(knobs) // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(2.6 * columns + 0.4, 2.4 * rows), layout="constrained", squeeze=False, sharey=True
    )
    best = result.best()
    for axes in grid.flat[len(knobs) :]:
        axes.set_visible(False)
    for knob, axes in zip(knobs, grid.flat):
        values = sorted({trial.params[knob] for trial in result.timed})
        at = np.array([values.index(trial.params[knob]) for trial in result.timed])
        times = np.array([min(trial.value, WORST_SHOWN * best.value) for trial in result.timed])
        axes.plot(at, times, ".", color=GREY, markersize=3)
        axes.plot(range(len(values)), [times[at == rank].min() for rank in range(len(values))], "-o", color=BLUE, markersize=3)
        axes.plot(values.index(best.params[knob]), best.value, "*", color=ORANGE, markersize=11)
        axes.set_title(knob, fontsize=10)
        axes.set_xticks(
            range(len(values)), [short(value) for value in values], fontsize=7, rotation=90 if len(values) > 14 else 0
        )
        axes.tick_params(axis="y", labelsize=8)
    figure.supylabel("time, relative to the reference", fontsize=9)
    return save(figure, path)


def short(value):
    """16777216 as 16M."""
    for unit, name in ((1 << 20, "M"), (1 << 10, "K")):
        if value >= unit and value % unit == 0:
            return f"{value // unit}{name}"
    return str(value)


def importance(result, path):
    """How much each knob decides whether a trial is among the best tenth, by PED-ANOVA."""
    if not result.importance:
        return None
    knobs = list(result.importance)[::-1]
    figure, axes = plt.subplots(figsize=(6, 0.45 + 0.32 * len(knobs)), layout="constrained")
    bars = axes.barh(knobs, [100 * result.importance[knob] for knob in knobs], color=BLUE)
    axes.bar_label(bars, fmt="%.0f %%", padding=3, fontsize=8)
    axes.set_xlim(0, 115 * max(result.importance.values()) + 1e-9)
    axes.set_xlabel("share of importance, %")
    axes.spines[["top", "right"]].set_visible(False)
    return save(figure, path)


def pairs(result, path):
    """For each pair of the most important knobs, the least time that was found at each combination."""
    varied = [knob for knob in result.importance if len({trial.params[knob] for trial in result.timed}) > 1][:MOST_IN_PAIRS]
    chosen = list(itertools.combinations(varied, 2))
    if not chosen:
        return None
    columns = min(3, len(chosen))
    rows = -(-len(chosen) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(3.6 * columns, 3 * rows), layout="constrained", squeeze=False)
    best = result.best()
    for axes in grid.flat[len(chosen) :]:
        axes.set_visible(False)
    for (first, second), axes in zip(chosen, grid.flat):
        across, up = (sorted({trial.params[knob] for trial in result.timed}) for knob in (first, second))
        least = np.full((len(up), len(across)), np.nan)
        for trial in result.timed:
            cell = up.index(trial.params[second]), across.index(trial.params[first])
            least[cell] = np.fmin(least[cell], trial.value)
        image = axes.imshow(least, origin="lower", aspect="auto", cmap="viridis_r", vmin=best.value, vmax=1.5 * best.value)
        axes.plot(across.index(best.params[first]), up.index(best.params[second]), "*", color=ORANGE, markersize=11)
        axes.set_xticks(range(len(across)), map(short, across), fontsize=7, rotation=90 if len(across) > 10 else 0)
        axes.set_yticks(range(len(up)), map(short, up), fontsize=7)
        axes.set_xlabel(first, fontsize=9), axes.set_ylabel(second, fontsize=9)
    bar = figure.colorbar(image, ax=grid, shrink=0.8, extend="max")
    bar.set_label("least time, relative to the reference", fontsize=9)
    return save(figure, path)
