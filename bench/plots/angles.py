"""Draws the angles position * inv_freq[pair] as colours: gyre plot angles.

    python angles.py DATA.npy PICTURE.png      DATA: float64, [length, pairs], radians in [0, 2 pi)
"""

import math
import sys

from picture import new_picture, save


def main():
    numbers, figure, axes = new_picture(sys.argv[1])
    image = axes.imshow(numbers.T, aspect="auto", origin="lower", cmap="twilight", vmin=0, vmax=2 * math.pi,
                        interpolation="nearest")
    axes.set_title("Rotation angle of every feature pair at every position")
    axes.set_xlabel("position m in tokens")
    axes.set_ylabel("feature pair i")
    bar = figure.colorbar(image, ax=axes, label="angle m·θᵢ modulo one turn, in radians")
    bar.set_ticks([quarter * math.pi / 2 for quarter in range(5)], labels=["0", "π/2", "π", "3π/2", "2π"])
    save(figure, sys.argv[2])


if __name__ == "__main__":
    main()
