"""Draws how the dot product of two equal rotated vectors falls with their distance: gyre plot decay.

    python decay.py DATA.npy PICTURE.png      DATA: float64, [2, length]: dot product; mean |S_j|; both 1 at distance 0
"""

import sys

from picture import new_picture, save


def main():
    (dot_product, partial_sums), figure, axes = new_picture(sys.argv[1])
    axes.plot(dot_product, label="dot product of a vector of ones, rotated to 0 and to m", color="tab:blue", linewidth=1)
    axes.plot(partial_sums, label="mean |Sⱼ(m)|, to which the bound of RoFormer, section 3.4.3, is proportional",
              color="tab:orange")
    axes.axhline(0, color="black", linewidth=0.5)
    axes.set_title("Long-term decay of the rotated dot product")
    axes.set_xlabel("distance m in tokens")
    axes.set_ylabel("relative to distance 0")
    axes.set_xlim(0, len(dot_product) - 1)
    axes.legend()
    save(figure, sys.argv[2])


if __name__ == "__main__":
    main()
