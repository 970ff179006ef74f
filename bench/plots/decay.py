"""Draws how the dot product of two equal rotated vectors falls with their distance: gyre plot decay.

    python decay.py DATA.npy PICTURE.png      DATA: float64, [2, length]: dot product; mean |S_j|; both 1 at distance 0
"""

import sys

import drawing
from picture import new_picture, save


def main():
    numbers, figure, axes = new_picture(sys.argv[1])
    drawing.decay(figure, axes, numbers)
    save(figure, sys.argv[2])


if __name__ == "__main__":
    main()
