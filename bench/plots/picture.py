"""What the plots share: their numbers, an empty picture, and an exit code of their own for a missing package."""

import sys

NO_MATPLOTLIB = 3  # the program gyre knows what it means

try:
    import matplotlib

    matplotlib.use("Agg")  # no display needed
    import matplotlib.pyplot as plt
    import numpy as np
except ImportError:
    sys.exit(NO_MATPLOTLIB)


def new_picture(data):
    """The numbers in a file, and a figure with one pair of axes."""
    figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
    return np.load(data), figure, axes


def new_pictures(data, size_of):
    """The numbers in a file, [rows, columns, …], and a figure with a pair of axes for each row and column, size_of(rows, columns) inches."""
    numbers = np.load(data)
    rows, columns = numbers.shape[:2]
    figure, axes = plt.subplots(rows, columns, figsize=size_of(rows, columns), layout="constrained", squeeze=False)
    return numbers, figure, axes


def save(figure, path):
    figure.savefig(path, dpi=120)
