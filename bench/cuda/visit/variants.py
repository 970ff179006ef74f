"""Stage: kernels with other numbers of warps, keys a block and stages, made beside the shipped ones, against each other in turns."""

import ctypes
import os

import numpy as np

from calls import Library, device_targets, loaded
from timings import ROUNDS, SETS, attention_tensors, medians, replay

SHAPES = {64: (4, 16, 16, 4096, 4096, 64, 1), 128: (1, 16, 16, 4096, 4096, 128, 1)}
SMALL = {64: (1, 2, 2, 70, 70, 64, 1), 128: (1, 2, 2, 70, 70, 128, 1)}


def run(driver, options, say):
    shipped = Library(options.library, driver)
    targets = device_targets(options.library)
    names = sorted(name for name in os.listdir(options.variants) if name.endswith(".so"))
    for dim, shape in (SMALL if options.small else SHAPES).items():
        random = np.random.default_rng(dim)
        sets = [attention_tensors(driver, shape, "bf16", random) for _ in range(SETS)]
        candidates, kernels = {"shipped": replay(driver, [shipped.attention(t, causal=1) for t in sets])}, {}
        expected = loaded(sets[0]["out"].bits(), "bf16")
        for name in names:
            variant = name[len("lib"):-len(".so")]
            if not variant.endswith(f"_d{dim}"):
                continue
            of_target = "cuda_90a" if variant.startswith("cuda_90a") else "cuda"
            if of_target not in targets:
                continue
            try:
                ctypes.CDLL(os.path.join(options.variants, name), mode=ctypes.RTLD_GLOBAL)  # registers itself
                library = Library(options.library, driver, kernels=variant, target=of_target)
                candidates[variant] = replay(driver, [library.attention(t, causal=1) for t in sets])
                kernels[variant] = float(np.abs(loaded(sets[0]["out"].bits(), "bf16") - expected).max())
            except (OSError, RuntimeError) as error:
                say({"variant": variant, "ok": False, "error": str(error)})
        for name, us in medians(candidates, ROUNDS).items():
            say({"variant": name, "head_dim": dim, "ok": kernels.get(name, 0.0) < 0.03, "us": us, "from_shipped": kernels.get(name, 0.0)})
