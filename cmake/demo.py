"""The main job on .npy tensors: rotary embedding, RoPE attention and RoPER attention through the command line, checked against
NumPy in double precision, timed beside this machine's peak; and two pictures.

    python demo.py GYRE FOLDER
"""

import json
import os
import subprocess
import sys

import numpy as np

BATCH, HEADS, KV_HEADS, LENGTH, HEAD_DIM, THETA = 1, 8, 2, 1024, 64, 10000.0
TOLERANCE = 2e-6  # of f32, for inputs of unit variance


def rotate(x, direction=1):
    """Section 3.2.2 of RoFormer, arXiv:2104.09864, pairs (i, i + D/2); x: [batch, heads, seqlen, D]."""
    angles = np.arange(x.shape[2])[:, None] * THETA ** (-np.arange(HEAD_DIM // 2) / (HEAD_DIM // 2))
    cos, sin = np.cos(angles), direction * np.sin(angles)
    first, second = np.split(x, 2, axis=3)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=3)


def attention(q, k, v, rotate_values):
    """softmax(R q (R k)^T / sqrt(D)) v, causal; with rotated values R^-1 softmax(…) R v."""
    k, v = (np.repeat(x, HEADS // KV_HEADS, axis=1) for x in (k, v))
    scores = rotate(q) @ rotate(k).swapaxes(2, 3) / np.sqrt(HEAD_DIM)
    scores[..., ~np.tri(LENGTH, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    weights /= weights.sum(axis=3, keepdims=True)
    return rotate(weights @ rotate(v), direction=-1) if rotate_values else weights @ v


class Program:
    """The program gyre, run inside the demo's folder."""

    def __init__(self, path, folder):
        self.path, self.folder = os.path.abspath(path), folder

    def run(self, *words):
        print("$ gyre", *words)
        environment = dict(os.environ, GYRE_PYTHON=sys.executable)
        done = subprocess.run([self.path, *words], cwd=self.folder, env=environment, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"demo: gyre {words[0]} ended with exit code {done.returncode}")
        return done.stdout

    def json(self, *words):
        return json.loads(self.run(*words, "--json"))


def check(gyre, title, words, expected, bench):
    """Runs one command and its benchmark; returns a line of the table."""
    report = gyre.json(*words, "--out", "out.npy")
    error = np.abs(np.load(os.path.join(gyre.folder, "out.npy")) - expected).max() / max(1.0, np.abs(expected).max())
    timing = gyre.json("bench", words[0], *bench)
    if not error <= TOLERANCE:
        sys.exit(f"demo: {title} by {report['kernel']}: error {error:.1e}, expected at most {TOLERANCE:.0e}")
    rate = timing["gbytes_per_s" if timing["peak_unit"] == "GB/s" else "gflops"]
    peak = f"{timing['percent_of_peak']:.0f} % of {timing['peak_name']}" if timing["percent_of_peak"] else "peak not known"
    return (title, report["kernel"], str(report["threads"]), f"{error:.1e}", f"{timing['median_us'] / 1000:.3f} ms",
            f"{rate:.0f} {timing['peak_unit']}", peak)


def main():
    folder = sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    gyre = Program(sys.argv[1], folder)
    random = np.random.default_rng(1)
    tensors = {}
    for name, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
        tensors[name] = random.standard_normal((BATCH, heads, LENGTH, HEAD_DIM)).astype(np.float32)
        np.save(os.path.join(folder, f"{name}.npy"), tensors[name])
    q, k, v = (tensor.astype(np.float64) for tensor in tensors.values())

    print(gyre.run("info"))
    shape = f"b={BATCH},h={HEADS},hkv={KV_HEADS},lq={LENGTH},d={HEAD_DIM}"
    inputs = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"]
    rope = ["--causal", "bottom_right", "--rotary-dim", str(HEAD_DIM)]
    roper = [*rope, "--rotary-v-dim", str(HEAD_DIM)]
    rows = [
        ("operation", "kernel", "threads", "max error", "time", "rate", "of this machine's peak"),
        check(gyre, "rotary embedding", ["rotary", "--x", "q.npy"], rotate(q), ["--shape", shape]),
        check(gyre, "RoPE attention", ["attention", *inputs, *rope], attention(q, k, v, False), ["--shape", shape, *rope]),
        check(gyre, "RoPER attention", ["attention", *inputs, *roper], attention(q, k, v, True), ["--shape", shape, *roper]),
    ]
    pictures = [f"{name}.png" for name in ("angles", "decay")]
    for picture in pictures:
        gyre.run("plot", picture[:-4], "--out", picture)

    print(f"\nq [{BATCH}, {HEADS}, {LENGTH}, {HEAD_DIM}], k and v [{BATCH}, {KV_HEADS}, {LENGTH}, {HEAD_DIM}], float32, causal; "
          "errors against NumPy in double")
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    print("pictures:", *(os.path.join(folder, picture) for picture in pictures))


if __name__ == "__main__":
    main()
