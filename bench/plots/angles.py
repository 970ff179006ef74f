"""Draws the angles position * inv_freq[pair] as colours: gyre plot angles.

    python angles.py DATA.npy PICTURE.png      DATA: float64, [length, pairs], radians in [0, 2 pi)
"""

import sys

import drawing
from picture import new_picture, save


def main():
    numbers, figure, axes = new_picture(sys.argv[1])
    drawing.angles(figure, axes, numbers)
    save(figure, sys.argv[2])


if __name__ == "__main__":
    main()
