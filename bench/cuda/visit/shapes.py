"""Stage: one call of each of the shapes that are timed, for a profiler around it."""

import numpy as np

from calls import Library, device_targets
from timings import HOPPER_HEAD_DIMS, SHAPES, SMALL, attention_tensors


def run(driver, options, say):
    random = np.random.default_rng(3)
    libraries = {target: Library(options.library, driver, target=target) for target in device_targets(options.library)}
    for shape in SMALL if options.small else SHAPES:
        tensors = attention_tensors(driver, shape, "bf16", random)
        decode = shape[3] <= 16
        for target, library in libraries.items():
            if target == "cuda" or (not decode and shape[5] in HOPPER_HEAD_DIMS):
                library.attention(tensors, causal=shape[-1], from_cache=decode)()
                driver.synchronize()
                say({"shape": shape, "kernel": library.selected(), "ok": True})
