"""Stage: forward and backward calls by replayed graphs, beside PyTorch's gradients of the same calls."""

import ctypes
import os

import numpy as np

from calls import Library, OnDevice
from timings import ROUNDS, SETS, attention_tensors, drawn, find_peers, medians, replay

SHAPES = [(4, 16, 16, 2048, 2048, 64, 1), (2, 16, 16, 4096, 4096, 128, 1), (1, 32, 8, 8192, 8192, 128, 1)]  # as those of timings
LIBRARY = "gradients"


def with_gradients(driver, shape, random):
    tensors = attention_tensors(driver, shape, "bf16", random)
    batch, heads, _, queries, _, dim, _ = shape
    tensors["lse"] = OnDevice(driver, np.zeros((batch, heads, queries), np.float32), "f32")
    tensors["out_grad"] = OnDevice(driver, drawn((batch, queries, heads, dim), "bf16", random), "bf16")
    for name in ("q", "k", "v"):
        tensors[f"{name}_grad"] = OnDevice(driver, np.zeros_like(tensors[name].like), "bf16")
    return tensors


def run(driver, options, say):
    random = np.random.default_rng(2)
    peers = find_peers(say)
    for path in (options.library, os.path.join(options.variants, f"lib{LIBRARY}.so")):  # which registers itself with the first
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    library = Library(options.library, driver, kernels=LIBRARY)
    for shape in SHAPES:
        try:
            sets = [with_gradients(driver, shape, random) for _ in range(SETS)]
            candidates = {"forward": replay(driver, [library.attention(t, causal=1) for t in sets]),
                          "backward": replay(driver, [library.backward(t, causal=1) for t in sets])}
            kernel = library.selected()
            if peers:
                candidates.update(peers.gradients(driver, shape, "bf16", SETS))
            found = medians(candidates, ROUNDS)
        except RuntimeError as error:
            say({"shape": shape, "ok": False, "error": str(error)})
            continue
        batch, heads, _, queries, keys, dim, _ = shape
        # Gradients take five products at least: the rate counts these.
        say({"kernel": kernel, "shape": shape, "ok": True, "us": found,
             "tflop_s": 5 * batch * heads * queries * keys * dim / found["backward"] / 1e6})
