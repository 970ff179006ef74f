"""The picture that sets the best of every study beside the stored knobs, the defaults and the machine's peak."""

import matplotlib.pyplot as plt
import numpy as np
from report_figures import BLUE, GREEN, GREY, label, save


def comparison(results, path):
    """Times of the defaults, the stored knobs and each study's best, beside the machine's peak, from the sessions that decided."""
    rows = comparison_rows(results)
    if not rows:
        return None
    figure, axes = plt.subplots(figsize=(8, 0.8 + 0.42 * len(rows)), layout="constrained")
    names, ratios, colours = zip(*((name, ratio, colour) for name, ratio, _, colour in rows))
    bars = axes.barh(range(len(rows)), [1 / ratio for ratio in ratios], color=colours)
    axes.bar_label(
        bars,
        [f"{1 / ratio:.3f}" + ("" if percent is None else f"   {percent:.0f} % of peak") for _, ratio, percent, _ in rows],
        padding=4,
        fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )
    axes.set_yticks(range(len(rows)), names, fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.35 * max(1 / ratio for ratio in ratios))
    axes.axvline(1, color="black", linewidth=0.7, linestyle=":", zorder=0)
    axes.set_xlabel("speed, relative to the stored knobs in the same session")
    axes.spines[["top", "right"]].set_visible(False)
    return save(figure, path)


def comparison_rows(results):
    """(name, time relative to the stored knobs, percent of peak or None, colour)"""
    rows = []
    for result in results:
        for part, colour in (("stored", GREY), ("default", GREY), ("best", BLUE if not result.autoscheduler else GREEN)):
            measured = [session for session in result.sessions if part in session["parts"]]
            if not measured or (part != "best" and any(name == part for name, *_ in rows)):
                continue
            ratio = np.exp(np.mean([np.log(session["parts"][part]["to_stored"]) for session in measured]))
            percents = [
                1e8 * session["work"] / session["parts"][part]["us"][1] / session["peak"]
                for session in measured
                if session["peak"]
            ]
            name = part if part != "best" else f"best of {label(result)}"
            rows.append((name, ratio, float(np.mean(percents)) if percents else None, colour))
    return rows
