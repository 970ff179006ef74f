"""A small decoder with random weights in int8, as C tables, and what it computes in double.

    python model.py OUT.h

x[token] = embedding, then two layers of x += O attention(x) and x += D relu(U x)^2, each of x / rms(x), and logits of x / rms(x).
Attention is RoPER's: queries, keys and values are rotated by their positions, the results back.
"""

import math
import operator
import random
import sys

D_MODEL, HEAD_DIM, HEADS, LAYERS, HIDDEN, VOCABULARY = 128, 64, 2, 2, 256, 64
PROMPT, TOKENS, THETA = 12, 32, 10000.0
# name: rows, columns, scale. A row's sum is multiplied by the scale, a power of two: no rounding tells C from Python here.
LAYER = {
    "q": (D_MODEL, D_MODEL, 2.0**-9),
    "k": (HEAD_DIM, D_MODEL, 2.0**-10),
    "v": (HEAD_DIM, D_MODEL, 2.0**-10),
    "o": (D_MODEL, D_MODEL, 2.0**-10),
    "up": (HIDDEN, D_MODEL, 2.0**-10),
    "down": (D_MODEL, HIDDEN, 2.0**-11),
}
EMBEDDING_SCALE, LOGIT_SCALE = 2.0**-8, 2.0**-8


def matrix(rows, columns, source):
    return [[int(source.random() * 255) - 127 for _ in range(columns)] for _ in range(rows)]


def times(weights, scale, x):
    return [scale * sum(map(operator.mul, row, x)) for row in weights]


def normed(x):
    rms = math.sqrt(sum(value * value for value in x) / len(x) + 1e-5)
    return [value / rms for value in x]


def rotated(x, position, direction):
    """A head with pairs (i, i + HEAD_DIM / 2)."""
    pairs, out = HEAD_DIM // 2, list(x)
    for i in range(pairs):
        angle = direction * position * THETA ** (-2 * i / HEAD_DIM)
        out[i] = x[i] * math.cos(angle) - x[i + pairs] * math.sin(angle)
        out[i + pairs] = x[i + pairs] * math.cos(angle) + x[i] * math.sin(angle)
    return out


def in_8_bits(x):
    """A row as gyre_embedded_quantize() keeps it."""
    scale = max(map(abs, x)) / 127
    return [scale * round(value / scale) for value in x]


def exact(x):
    return x


def attention(q, keys, values, position):
    q = rotated(q, position, 1)
    weights = [math.exp(sum(map(operator.mul, q, key)) / math.sqrt(HEAD_DIM)) for key in keys]
    mixed = [sum(map(operator.mul, weights, column)) / sum(weights) for column in zip(*values)]
    return rotated(mixed, position, -1)


def step(layers, embedding, output, caches, token, position, kept):
    """The logits after a token, whose keys and values join the caches as `kept` makes them."""
    x = [EMBEDDING_SCALE * value for value in embedding[token]]
    for weights, (keys, values) in zip(layers, caches, strict=True):
        of = {name: (weights[name], LAYER[name][2]) for name in LAYER}
        h = normed(x)
        q = times(*of["q"], h)
        keys.append(kept(rotated(times(*of["k"], h), position, 1)))
        values.append(kept(rotated(times(*of["v"], h), position, 1)))
        heads = [attention(q[i : i + HEAD_DIM], keys, values, position) for i in range(0, D_MODEL, HEAD_DIM)]
        x = list(map(operator.add, x, times(*of["o"], sum(heads, []))))
        hidden = [max(value, 0) ** 2 for value in times(*of["up"], normed(x))]
        x = list(map(operator.add, x, times(*of["down"], hidden)))
    return times(output, LOGIT_SCALE, normed(x))


def likeliest(logits):
    return max(range(VOCABULARY), key=logits.__getitem__)


def table(type_name, name, rows, form):
    body = ",\n".join("{" + ", ".join(map(form, row)) + "}" for row in rows)
    return f"static const {type_name} {name}[{len(rows)}][{len(rows[0])}] = {{\n{body}}};\n"


def main():
    source = random.Random(10)
    embedding, output = matrix(VOCABULARY, D_MODEL, source), matrix(VOCABULARY, D_MODEL, source)
    layers = [{name: matrix(rows, columns, source) for name, (rows, columns, _) in LAYER.items()} for _ in range(LAYERS)]
    tokens, logits, change = [int(source.random() * VOCABULARY) for _ in range(PROMPT)], [], 0.0
    caches, exact_caches = ([([], []) for _ in range(LAYERS)] for _ in range(2))
    for position in range(TOKENS):
        logits.append(step(layers, embedding, output, caches, tokens[position], position, in_8_bits))
        with_exact = step(layers, embedding, output, exact_caches, tokens[position], position, exact)
        change = max(change, *(abs(a - b) for a, b in zip(logits[-1], with_exact, strict=True)))
        if position + 1 >= PROMPT:  # the likeliest token comes next
            tokens.append(likeliest(logits[-1]))
            assert tokens[-1] == likeliest(with_exact)
    print(f"logits up to {max(map(max, logits)):.2f}, changed by at most {change:.3f} by a cache in int8")

    text = "/* Written by model.py. */\n#include <stdint.h>\n\n" + table("int8_t", "embedding", embedding, str)
    text += table("int8_t", "output", output, str)
    for name in LAYER:
        for layer in range(LAYERS):
            text += table("int8_t", f"{name}_{layer}", layers[layer][name], str)
    text += table("uint8_t", "golden_tokens", [tokens], str)
    text += table("float", "golden_logits", logits, lambda value: f"{value:.9e}f")
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(text)


if __name__ == "__main__":
    main()
