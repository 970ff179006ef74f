#!/usr/bin/env python3
"""Draws the curves of runs, a PNG a task: the mean over seeds, between the lowest and the highest.

    python3 curves.py results          reads results/*.csv, writes results/<task>.png; needs matplotlib
"""

import collections
import csv
import glob
import os
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
import matplotlib.pyplot as plt  # noqa: E402

COLORS = {
    "roper": "tab:red",
    "rope": "tab:blue",
    "values": "tab:orange",
    "alibi": "tab:green",
    "t5": "tab:cyan",
    "sin": "tab:purple",
    "learned": "tab:pink",
    "none": "tab:gray",
}
PARTS = {"exact_match": "exact match, held out", "longer_exact_match": "exact match, longer than trained on"}


def read(folder):
    """task -> encoding -> rows of every seed"""
    runs = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in sorted(glob.glob(os.path.join(folder, "*.csv"))):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        if rows:
            runs[rows[0]["task"]][rows[0]["encoding"]].append(rows)
    return runs


def draw(task, by_encoding, path):
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    for axis, (part, title) in zip(axes, PARTS.items()):
        for encoding, color in COLORS.items():
            seeds = by_encoding.get(encoding, [])
            if not seeds:
                continue
            length = min(len(rows) for rows in seeds)
            steps = [int(row["step"]) for row in seeds[0][:length]]
            values = [[float(rows[i][part]) for rows in seeds] for i in range(length)]
            mean = [sum(v) / len(v) for v in values]
            axis.plot(steps, mean, color=color, label=f"{encoding}, {len(seeds)} seed{'s' * (len(seeds) > 1)}")
            axis.fill_between(steps, [min(v) for v in values], [max(v) for v in values], color=color, alpha=0.2, lw=0)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("step")
        axis.set_ylim(0, 1.02)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel(task)
    axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def main():
    folder = sys.argv[1]
    runs = read(folder)
    if not runs:
        sys.exit(f"{folder}: no curves; expected <task>-<encoding>-<seed>.csv")
    for task, by_encoding in runs.items():
        path = os.path.join(folder, f"{task}.png")
        draw(task, by_encoding, path)
        print(path)


if __name__ == "__main__":
    main()
