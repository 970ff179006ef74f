"""Stage: kernels with other numbers of warps, keys a block and stages, made beside the shipped ones, against each other in turns."""

import ctypes
import os

import numpy as np

from calls import Library, libraries, loaded
from timings import ROUNDS, SETS, attention_tensors, medians, replay

SHAPES = {64: [(4, 16, 16, 4096, 4096, 64, 1), (4, 16, 16, 4096, 4096, 64, 0)],
          128: [(1, 16, 16, 4096, 4096, 128, 1), (1, 16, 16, 4096, 4096, 128, 0), (1, 16, 16, 16384, 16384, 128, 1)],
          256: [(1, 16, 16, 4096, 4096, 256, 1)]}
SMALL = {64: [(1, 2, 2, 70, 70, 64, 1)], 128: [(1, 2, 2, 70, 70, 128, 1)]}
UNIT = 2.0**-8  # of bf16: results and weights are rounded to it
MOST_UNITS = 12  # apart: weights of blocks of other sizes are relative to other maxima, and rounded elsewhere


def distance(bits, expected):
    """The largest difference from what the shipped kernel gave, in units of the last place of that and of a typical result."""
    return float((np.abs(loaded(bits, "bf16") - expected) / (UNIT * (np.abs(expected) + expected.std()))).max())


def measure(driver, options, say, dim, shape):
    shipped = libraries(options, driver, kernels="gyre")
    sets = [attention_tensors(driver, shape, "bf16", np.random.default_rng(dim)) for _ in range(SETS)]

    def timed(library):
        return replay(driver, [library.attention(t, causal=shape[-1]) for t in sets])

    candidates, apart = {f"shipped {target}": timed(library) for target, library in shipped.items()}, {}
    expected = loaded(sets[0]["out"].bits(), "bf16")
    for name in sorted(name[len("lib"):-len(".so")] for name in os.listdir(options.variants) if name.endswith(f"_d{dim}.so")):
        target = "cuda_90a" if name.startswith("cuda_90a") else "cuda"
        if target not in shipped:
            continue
        try:
            ctypes.CDLL(os.path.join(options.variants, f"lib{name}.so"), mode=ctypes.RTLD_GLOBAL)  # registers itself
            candidates[name] = timed(Library(options.library, driver, kernels=name, target=target))
            apart[name] = distance(sets[0]["out"].bits(), expected)
        except (OSError, RuntimeError) as error:
            say({"variant": name, "ok": False, "error": str(error)})
    for name, us in medians(candidates, ROUNDS).items():
        say({"variant": name, "shape": shape, "ok": apart.get(name, 0.0) < MOST_UNITS, "us": us, "from_shipped": apart.get(name, 0.0)})


def run(driver, options, say):
    for dim, shapes in (SMALL if options.small else SHAPES).items():
        for shape in shapes:
            measure(driver, options, say, dim, shape)
