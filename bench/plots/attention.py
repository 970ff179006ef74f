"""Draws what each head of attention looks at: gyre plot attention.

    python attention.py DATA.npy PICTURE.png ROWS      DATA: float64, [rows, heads, seqlen_q, seqlen_kv], probabilities
"""

import sys

import drawing
from picture import new_pictures, save


def main():
    maps, figure, axes = new_pictures(sys.argv[1], drawing.size_of_maps)
    drawing.attention(figure, axes, maps, sys.argv[3])
    save(figure, sys.argv[2])


if __name__ == "__main__":
    main()
