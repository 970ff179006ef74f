"""Stage: one call of each of the shapes that are timed, for a profiler around it."""

import numpy as np

from calls import libraries
from timings import SHAPES, SMALL, attention_tensors, is_decoding, taking


def run(driver, options, say):
    random = np.random.default_rng(3)
    of_targets = libraries(options, driver)
    for shape in SMALL if options.small else SHAPES:
        tensors = attention_tensors(driver, shape, "bf16", random)
        for library in taking(of_targets, shape).values():
            library.attention(tensors, causal=shape[-1], from_cache=is_decoding(shape))()
            driver.synchronize()
            say({"shape": shape, "kernel": library.selected(), "ok": True})
