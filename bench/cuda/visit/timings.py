"""Stage: times on the device by replayed graphs, beside PyTorch's fused attention where there is PyTorch, in turns in one process.

Tensors take turns, so that none is in the L2 cache. The ceilings, a copy and a large product, are measured in the same turns.
"""

import statistics

import numpy as np

from calls import Library, OnDevice, stored

SHAPES = [  # batch, heads, key heads, queries, keys, head_dim, causal
    (1, 16, 16, 4096, 4096, 128, 0), (1, 16, 16, 4096, 4096, 128, 1), (1, 16, 16, 16384, 16384, 128, 1),
    (4, 16, 16, 4096, 4096, 64, 1), (1, 16, 16, 4096, 4096, 256, 1), (1, 32, 8, 1, 32768, 128, 0),
    (8, 32, 8, 1, 8192, 128, 0), (64, 32, 8, 1, 4096, 128, 0), (16, 64, 8, 4, 8192, 64, 0)]
SMALL = [(1, 2, 2, 70, 70, 64, 1), (1, 4, 2, 1, 130, 64, 0)]
SETS = 3  # of tensors that take turns
ROUNDS = 15


def attention_tensors(driver, shape, dtype, random):
    batch, heads, key_heads, queries, keys, dim, _ = shape
    extents = {"q": (batch, queries, heads, dim), "k": (batch, keys, key_heads, dim), "v": (batch, keys, key_heads, dim)}
    tensors = {name: OnDevice(driver, stored(random.standard_normal(extent, np.float32), dtype)[0], dtype)
               for name, extent in extents.items()}
    tensors["out"] = OnDevice(driver, np.zeros_like(tensors["q"].like), dtype)
    return tensors


def medians(candidates, rounds):
    """candidates: name → function that gives one time. Each is called once a round."""
    times = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, measure in candidates.items():
            times[name].append(measure())
    return {name: statistics.median(found) for name, found in times.items()}


def replay(driver, calls):
    """A function that replays `calls` once and gives the time of one of them."""
    for call in calls:
        call()  # loads kernels, which a capture cannot
    driver.synchronize()
    graph = driver.capture(calls)
    driver.replay_us(graph)
    return lambda: driver.replay_us(graph) / len(calls)


def attention_calls(driver, library, sets, shape):
    causal, decode = shape[-1], shape[3] <= 16
    rotations = {"plain": {}, "rope": {"rope": True}, "roper": {"rope": True, "value_rope": True}}
    return {name: replay(driver, [library.attention(t, causal=causal, from_cache=decode, **rotation) for t in sets])
            for name, rotation in rotations.items()}


def run(driver, options, say):
    random = np.random.default_rng(1)
    library = Library(options.library, driver)
    peers = None
    try:
        import peers  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        say({"peers": "none", "ok": True, "why": str(error)})
    size = 1 << (22 if options.small else 30)
    source, target = driver.allocate(size), driver.allocate(size)
    copy_us = medians({"copy": replay(driver, [lambda: driver.copy(target, source, size)])}, ROUNDS)["copy"]
    driver.free(source), driver.free(target)
    ceilings = {"copy_gb_s": 2 * size / copy_us / 1e3}
    if peers:
        ceilings.update(peers.ceilings(driver))
    say({"ceilings": True, "ok": True, **ceilings})
    for dtype in ("bf16", "f16"):
        for shape in SMALL if options.small else SHAPES:
            batch, heads, _, queries, keys, dim, causal = shape
            label = {"dtype": dtype, "shape": shape}
            try:
                sets = [attention_tensors(driver, shape, dtype, random) for _ in range(SETS)]
                candidates = attention_calls(driver, library, sets, shape)
                if peers:
                    candidates.update(peers.attention(driver, shape, dtype, SETS))
                found = medians(candidates, ROUNDS)
            except RuntimeError as error:
                say({**label, "ok": False, "error": str(error)})
                continue
            seen = 0.5 if causal and queries == keys else 1
            read = sum(t.like.nbytes for t in sets[0].values())
            say({**label, "ok": True, "us": found, "tflop_s": 4 * batch * heads * queries * keys * dim * seen / found["plain"] / 1e6,
                 "gb_s": read / found["plain"] / 1e3})
