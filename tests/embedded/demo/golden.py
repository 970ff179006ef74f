"""Writes what the demo expects, computed in double: python3 golden.py golden.h

Attention over rotated values by the identity R(-i) sum_j P_ij R(j) v_j = sum_j P_ij R(j - i) v_j: nothing here is computed
in the order in which the library does it.
"""
import math
import sys

TOKENS, PREFILL, HEADS, KV_HEADS, HEAD_DIM = 36, 20, 4, 2, 64
ROTARY_DIM, ROTARY_OFFSET, ROTARY_V_DIM, FIRST_POSITION, THETA = 32, 16, 64, 131000, 10000.0
SOFTCAP = 0.5  # scores are up to 0.9
Q, K, V, X = range(4)  # tensors, as in inputs.h


def element(tensor, index):
    """In [-1, 1), a multiple of 2^-10: exact in f16."""
    h = (index * 4 + tensor + 1) * 0x9E3779B1 & 0xFFFFFFFF
    h = (h ^ h >> 16) * 0x45D9F3B & 0xFFFFFFFF
    h = (h ^ h >> 16) * 0x45D9F3B & 0xFFFFFFFF
    return (h >> 21) / 1024 - 1


def vector(tensor, token, head, heads):
    return [element(tensor, (token * heads + head) * HEAD_DIM + d) for d in range(HEAD_DIM)]


def rotate(x, position, rotary_dim, offset=0, interleaved=False):
    out, pairs = list(x), rotary_dim // 2
    for i in range(pairs):
        p, q = (2 * i, 2 * i + 1) if interleaved else (i, i + pairs)
        angle = position * THETA ** (-2 * i / rotary_dim)
        c, s = math.cos(angle), math.sin(angle)
        out[offset + p] = x[offset + p] * c - x[offset + q] * s
        out[offset + q] = x[offset + q] * c + x[offset + p] * s
    return out


def attention(cap=None):
    rows = []
    keys = [[vector(K, j, g, KV_HEADS) for j in range(TOKENS)] for g in range(KV_HEADS)]
    values = [[vector(V, j, g, KV_HEADS) for j in range(TOKENS)] for g in range(KV_HEADS)]
    for i in range(TOKENS):
        for head in range(HEADS):
            group = head * KV_HEADS // HEADS
            q = vector(Q, i, head, HEADS)
            scores = [sum(a * b for a, b in zip(rotate(q, i - j, ROTARY_DIM), keys[group][j])) / math.sqrt(HEAD_DIM)
                      for j in range(i + 1)]
            if cap:
                scores = [cap * math.tanh(s / cap) for s in scores]
            weights = [math.exp(s - max(scores)) for s in scores]
            row = [0.0] * HEAD_DIM
            for j, weight in enumerate(weights):
                value = rotate(values[group][j], j - i, ROTARY_V_DIM, interleaved=True)
                row = [r + weight * v / sum(weights) for r, v in zip(row, value)]
            rows.append(row)
    return rows


def rotary(interleaved):
    return [rotate(vector(X, token, head, HEADS), FIRST_POSITION + token, ROTARY_DIM, ROTARY_OFFSET, interleaved)
            for token in range(2) for head in range(HEADS)]


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write("/* Written by golden.py. */\nenum {\n")
        for name in ("TOKENS", "PREFILL", "HEADS", "KV_HEADS", "HEAD_DIM", "ROTARY_DIM", "ROTARY_OFFSET", "ROTARY_V_DIM",
                     "FIRST_POSITION"):
            out.write(f"    {name} = {globals()[name]},\n")
        out.write("};\n")
        out.write(f"#define SOFTCAP {SOFTCAP}f\n")
        out.write(f"#define FAR_COS {math.cos(1048575):.9g}f\n#define FAR_SIN {math.sin(1048575):.9g}f\n")
        for name, rows in (("attention", attention()), ("capped", attention(SOFTCAP)), ("half", rotary(False)), ("interleaved", rotary(True))):
            out.write(f"static const float golden_{name}[{len(rows)}][HEAD_DIM] = {{\n")
            for row in rows:
                out.write("{" + ", ".join(f"{x:.9e}f" for x in row) + "},\n")
            out.write("};\n")


if __name__ == "__main__":
    main()
