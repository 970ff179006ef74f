"""Draws what each head of attention looks at: gyre plot attention.

    python attention.py DATA.npy PICTURE.png ROWS      DATA: float64, [rows, heads, seqlen_q, seqlen_kv], probabilities
"""

import sys

from picture import new_pictures, save


def main():
    maps, figure, axes = new_pictures(sys.argv[1])
    for row, of_row in enumerate(maps):
        for head, probabilities in enumerate(of_row):
            axis = axes[row][head]
            image = axis.imshow(probabilities, cmap="magma", vmin=0, vmax=1, interpolation="nearest")
            axis.set_title(f"{sys.argv[3]} {row}, head {head}", fontsize=11)
            axis.label_outer()
    for axis in axes[-1]:
        axis.set_xlabel("key j")
    for of_row in axes:
        of_row[0].set_ylabel("query i")
    figure.colorbar(image, ax=axes, label="probability P_ij", shrink=0.9)
    save(figure, sys.argv[2])


if __name__ == "__main__":
    main()
