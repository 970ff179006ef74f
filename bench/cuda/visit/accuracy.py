"""Stage: every family of kernels against double precision at up to 64k keys, twice, whose bits must agree."""

import math

import numpy as np

import reference
from calls import OnDevice, libraries, loaded, stored

LARGEST_F32 = 128  # head size
SAMPLED = 24  # query rows that are compared, of each of two heads
# What makes a call take each family; shape: batch, query heads, key heads, queries (0: as many as keys).
FAMILIES = {
    "plain_as_stored": {"shape": (1, 2, 1, 0), "options": {"causal": 1}},
    "rotated": {"shape": (1, 2, 2, 0), "options": {"causal": 1, "rope": True, "value_rope": True}},  # in the call
    "window": {"shape": (1, 2, 1, 0), "options": {"causal": 1, "window_left": 100, "rope": True}},
    "paged": {"shape": (2, 4, 2, 17), "options": {"causal": 1}, "pages": 16},
    "split_as_stored": {"shape": (2, 8, 1, 1), "options": {"rope": True, "value_rope": True, "from_cache": True}},
    "general": {"shape": (1, 2, 2, 65), "options": {"softcap": 20.0}, "extra": ("bias", "mask", "sinks", "alibi")},
}


def cases(keys, head_dims):
    for name, family in FAMILIES.items():
        for dtype in ("bf16", "f16", "f32"):
            for dim in head_dims:
                if dtype != "f32" or (dim <= LARGEST_F32 and name != "paged"):
                    yield {"family": name, "dtype": dtype, "head_dim": dim, "keys": keys, **family}


def sampled_rows(queries, random):
    edges = {0, 1, 15, 16, 63, 64, 127, 128, queries // 2, queries - 2, queries - 1}
    drawn = random.integers(0, queries, SAMPLED).tolist()
    return np.array(sorted({row for row in edges | set(drawn) if 0 <= row < queries}))


def inputs(driver, case, random):
    """Tensors on the device, and what they hold as doubles."""
    batch, heads, key_heads, queries = case["shape"]
    keys, dim, dtype = case["keys"], case["head_dim"], case["dtype"]
    queries = min(queries or keys, keys)
    extents = {"q": (batch, queries, heads, dim), "k": (batch, keys, key_heads, dim), "v": (batch, keys, key_heads, dim)}
    tensors, held = {}, {}

    def add(name, values, dtype):
        bits, held[name] = stored(values, dtype)
        tensors[name] = OnDevice(driver, bits, dtype)

    for name, extent in extents.items():
        add(name, random.standard_normal(extent, np.float32), dtype)
    if "bias" in case.get("extra", ()):
        add("bias", random.standard_normal((1, heads, queries, keys), np.float32), "f32")
        add("mask", random.random((1, 1, 1, keys)) < 0.8, "bool")
        add("sinks", random.standard_normal(heads, np.float32), "f32")
        add("alibi", 2.0 ** -np.arange(1, heads + 1), "f32")
    if case.get("pages"):
        page, count = case["pages"], math.ceil(keys / case["pages"])
        places = random.permutation(batch * count).reshape(batch, count)
        for name in ("k", "v"):
            pool = np.zeros((batch * count, page, key_heads, dim))
            padded = np.zeros((batch, count * page, key_heads, dim))
            padded[:, :keys] = held[name]
            pool[places] = padded.reshape(batch, count, page, key_heads, dim)
            tensors[name] = OnDevice(driver, stored(pool, dtype)[0], dtype)
        add("page_table", places, "i32")
        add("seqused_k", np.full(batch, keys), "i32")
    # NaN where nothing is written.
    tensors["out"] = OnDevice(driver, stored(np.full(extents["q"], np.nan), dtype)[0], dtype)
    return tensors, held


def worst(case, held, out, random):
    """The largest error as a part of what is allowed."""
    batch, heads, key_heads, queries = held["q"].shape[0], held["q"].shape[2], held["k"].shape[2], held["q"].shape[1]
    rows, keys, largest = sampled_rows(queries, random), case["keys"], 0.0
    for b, h in {(0, 0), (batch - 1, heads - 1)}:
        extra = {}
        if "bias" in held:
            extra = {"bias": held["bias"][0, h, rows], "mask": held["mask"][0, 0, 0].astype(bool), "sink": held["sinks"][h],
                     "slope": held["alibi"][h]}
        key_head = h * key_heads // heads
        expected, allowance = reference.attention_rows(
            held["q"][b, rows, h], held["k"][b, :, key_head], held["v"][b, :, key_head], rows + keys - queries, case["dtype"],
            case["options"], extra)
        part = np.abs(out[b, rows, h] - expected) / allowance
        largest = max(largest, float(np.where(np.isfinite(part), part, np.inf).max()))
    return largest


def attention(driver, library, case):
    random = np.random.default_rng([case["keys"], case["head_dim"], len(case["family"])])
    tensors, held = inputs(driver, case, random)
    call = library.attention(tensors, **case["options"])
    call()
    first = tensors["out"].bits()
    call()
    again = tensors["out"].bits()
    error = worst(case, held, loaded(first, case["dtype"]), random)
    return {"kernel": library.selected(), "of_allowed": error, "same_bits": bool((first == again).all()),
            "ok": error <= 1 and bool((first == again).all())}


def rotation(driver, library, dtype, dim, tokens):
    random = np.random.default_rng([dim, tokens])
    bits, held = stored(random.standard_normal((1, tokens, 3, dim), np.float32), dtype)
    x, out = OnDevice(driver, bits, dtype), OnDevice(driver, np.zeros_like(bits), dtype)
    library.rotary(x, out)()
    rows = sampled_rows(tokens, random)
    found, held = loaded(out.bits(), dtype)[0, rows, 1], held[0, rows, 1]
    part = np.abs(found - reference.rotated(held, rows)) / reference.rotation_allowance(held, rows, dtype)
    error = float(np.where(np.isfinite(part), part, np.inf).max())
    return {"kernel": library.selected(), "of_allowed": error, "ok": error <= 1}


def run(driver, options, say):
    of_targets = libraries(options, driver)
    library = of_targets["cuda"]
    for keys in options.keys:
        for case in cases(keys, options.head_dims):
            for target, of_target in of_targets.items():
                label = {name: case[name] for name in ("family", "dtype", "head_dim", "keys")}
                try:
                    found = attention(driver, of_target, case)
                except (RuntimeError, MemoryError) as error:  # the next case may work
                    found = {"target": target, "ok": False, "error": str(error)}
                if target == "cuda" or target in found.get("kernel", target):  # else the kernel of "cuda" once more
                    say({**label, **found})
        for dtype in ("f32", "f16", "bf16"):
            say({"family": "rotary", "dtype": dtype, "head_dim": 128, "keys": keys, **rotation(driver, library, dtype, 128, keys)})
