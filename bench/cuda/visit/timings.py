"""Stage: times on the device by replayed graphs, beside PyTorch's fused attention where there is PyTorch, in turns in one process.

Tensors take turns, so that none is in the L2 cache. The ceilings, a copy and a large product, are measured in the same turns.
"""

import statistics
import time

import numpy as np

import machine
from calls import OnDevice, libraries, stored

SHAPES = [  # batch, heads, key heads, queries, keys, head_dim, causal
    (1, 16, 16, 4096, 4096, 128, 0), (1, 16, 16, 4096, 4096, 128, 1), (1, 16, 16, 16384, 16384, 128, 1),
    (4, 16, 16, 4096, 4096, 64, 1), (1, 16, 16, 4096, 4096, 256, 1), (1, 32, 8, 1, 32768, 128, 0),
    (8, 32, 8, 1, 8192, 128, 0), (64, 32, 8, 1, 4096, 128, 0), (16, 64, 8, 4, 8192, 64, 0), (1, 32, 8, 512, 512, 128, 1),
    (1, 32, 8, 8192, 8192, 128, 1), (1, 32, 8, 1, 2048, 128, 0), (1, 8, 1, 1, 32768, 256, 0)]
SMALL = [(1, 2, 2, 70, 70, 64, 1), (1, 4, 2, 1, 130, 64, 0)]
HOPPER_HEAD_DIMS = (64, 128, 256)
MOST_DECODED = 16  # queries of a call of decoding
LAYER = (1, 16384, 32, 128)  # of the rotary embedding: batch, tokens, heads, head_dim
DRAWN = 1 << 18
SETS = 3  # of tensors that take turns
ROUNDS = 15
QUEUED = 200  # calls


def attention_tensors(driver, shape, dtype, random):
    batch, heads, key_heads, queries, keys, dim, _ = shape
    extents = {"q": (batch, queries, heads, dim), "k": (batch, keys, key_heads, dim), "v": (batch, keys, key_heads, dim)}
    tensors = {name: OnDevice(driver, drawn(extent, dtype, random), dtype) for name, extent in extents.items()}
    tensors["out"] = OnDevice(driver, np.zeros_like(tensors["q"].like), dtype)
    return tensors


def drawn(extent, dtype, random):
    """Normal numbers; of large tensors many times the same, which costs a machine with little time less of it."""
    return np.resize(stored(random.standard_normal(DRAWN + int(random.integers(DRAWN)), np.float32), dtype)[0], extent)


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


def find_peers(say):
    """PyTorch's kernels, the module peers; None where there is no PyTorch."""
    try:
        import peers  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        say({"peers": "none", "ok": True, "why": str(error)})
        return None
    return peers


def is_decoding(shape):
    return shape[3] <= MOST_DECODED


def taking(of_targets, shape):
    """The libraries by target, but not those whose target takes the kernels of "cuda" for this shape."""
    hopper = shape[5] in HOPPER_HEAD_DIMS and not is_decoding(shape)
    return {target: library for target, library in of_targets.items() if target == "cuda" or hopper}


def attention_calls(driver, of_targets, sets, shape):
    causal, decode = shape[-1], is_decoding(shape)
    rotations = {"plain": {}, "rope": {"rope": True}, "roper": {"rope": True, "value_rope": True}}
    return {f"{target} {name}": replay(driver, [library.attention(t, causal=causal, from_cache=decode, **rotation) for t in sets])
            for name, rotation in rotations.items()
            for target, library in taking(of_targets, shape).items()}


def rotation_gb_s(driver, library, dtype, random):
    """Of a rotary embedding, bytes read and written."""
    sets = [[OnDevice(driver, drawn(LAYER, dtype, random), dtype) for _ in range(2)] for _ in range(SETS)]
    us = medians({"us": replay(driver, [library.rotary(*pair) for pair in sets])}, ROUNDS)["us"]
    return 2 * sets[0][0].like.nbytes / us / 1e3


def queueing_us(driver, library, random):
    """Of the processor, for a call that is small on the device."""
    tensors = attention_tensors(driver, (1, 8, 8, 1, 128, 64, 0), "bf16", random)
    call = library.attention(tensors)
    call()
    driver.synchronize()
    begin = time.perf_counter()
    for _ in range(QUEUED):
        call()
    us = (time.perf_counter() - begin) / QUEUED * 1e6
    driver.synchronize()
    return us


def run(driver, options, say):
    random = np.random.default_rng(1)
    of_targets = libraries(options, driver)
    peers = find_peers(say)
    size = 1 << (22 if options.small else 30)
    source, target = driver.allocate(size), driver.allocate(size)
    copy_us = medians({"copy": replay(driver, [lambda: driver.copy(target, source, size)])}, ROUNDS)["copy"]
    driver.free(source), driver.free(target)
    ceilings = {"copy_gb_s": 2 * size / copy_us / 1e3}
    if peers:
        ceilings.update(peers.ceilings(driver))
    say({"ceilings": True, "ok": True, **ceilings})
    say({"queueing": True, "ok": True, "queueing_us": queueing_us(driver, of_targets["cuda"], random)})
    for dtype in () if options.small else ("f32", "bf16"):
        say({"rotary": dtype, "ok": True, "gb_s": rotation_gb_s(driver, of_targets["cuda"], dtype, random)})
    for dtype in ("bf16", "f16"):
        for shape in SMALL if options.small else SHAPES:
            batch, heads, _, queries, keys, dim, causal = shape
            label = {"dtype": dtype, "shape": shape}
            try:
                sets = [attention_tensors(driver, shape, dtype, random) for _ in range(SETS)]
                candidates = attention_calls(driver, of_targets, sets, shape)
                if peers:
                    candidates.update(peers.attention(driver, shape, dtype, SETS))
                found = medians(candidates, ROUNDS)
            except RuntimeError as error:
                say({**label, "ok": False, "error": str(error)})
                continue
            best = min(us for name, us in found.items() if name.endswith("plain"))
            seen = 0.5 if causal and queries == keys else 1
            read = sum(t.like.nbytes for t in sets[0].values())
            say({**label, "ok": True, "us": found, "tflop_s": 4 * batch * heads * queries * keys * dim * seen / best / 1e6,
                 "gb_s": read / best / 1e3, "clock": machine.clock()})
