"""Which kernels the calls of models reach, and what share of their time each has: the runtime is asked, by `gyre bench attention`.

The table of calls is that of bench/compare/model_calls.py, which models.py times beside other libraries.
"""

import json
import os
import subprocess
import tempfile

import numpy as np
from errors import RunError
from model_arrays import Inputs
from model_options import options_of
from shapes import SIZES

DTYPES = ("bf16", "f16", "f32")
REPEATS = 3  # of a call, the fastest of which counts
LONGEST = 20_000.0  # microseconds of a call that studies time
SHAPES = 3  # of a kernel's calls that its study times: those that take most time


def words_of(call, dtype, folder):
    """The call as options of `gyre bench attention`, its arrays as files in the folder."""
    sizes = {"b": call.batch, "h": call.heads, "hkv": call.kv_heads, "lq": call.queries, "lk": call.keys}
    sizes.update(d=call.head_dim, dv=call.value_dim)
    words = ["--shape", ",".join(f"{name}={size}" for name, size in sizes.items()), "--dtype", dtype]
    for name, value in options_of(call, Inputs(call, dtype)).items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, np.ndarray):
            path = os.path.join(folder, f"{name}.npy")
            np.save(path, value)
            words += [option, path]
        elif name == "window":
            words += ["--window-left", str(value[0]), "--window-right", str(value[1])]
        elif name == "rope":
            words += ["--rotary-dim", str(value.rotary_dim or call.head_dim)]
            words += ["--interleaved"] if value.pairing == "interleaved" else []
        elif value is True:
            words.append(option)
        elif value:
            words += [option, str(value)]
    return words


def asked(program, target, call, dtype):
    """The kernel that serves the call, with its target behind "__", and the call's microseconds."""
    with tempfile.TemporaryDirectory(prefix="gyre-campaign-") as folder:
        words = [program, "bench", "attention", *words_of(call, dtype, folder)]
        words += ["--target", target, "--threads", "1", "--repeat", str(REPEATS), "--json"]
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RunError(f"{call.name}, {dtype}: {ended.stderr.strip()}")
    told = json.loads(ended.stdout)
    return told["kernel"], told["min_us"]


def shape_of(call, microseconds):
    """As a study times it, which knows neither masks nor windows: a long call by some of its key heads, which are alike."""
    batch, kv_heads = call.batch, call.kv_heads
    while microseconds > LONGEST and batch * kv_heads > 1:
        batch, kv_heads = (batch // 2, kv_heads) if batch > 1 else (1, kv_heads // 2)
        microseconds /= 2
    sizes = (batch, kv_heads * call.group, kv_heads, call.queries, call.keys, call.head_dim, int(call.causal))
    return ",".join(f"{name}={size}" for name, size in zip(SIZES, sizes))


def reached(calls, owner, ask, progress):
    """The kernels whose knobs the calls depend on, heaviest first: {"kernel", "share", "calls", "shapes"}.

    owner: the kernel whose knobs a kernel has
    ask: (call, dtype) -> the kernel that serves the call, and its microseconds
    """
    found, whole = {}, 0.0
    for dtype in DTYPES:
        for number, call in enumerate(calls, 1):
            progress.show(f"asking which kernels serve the calls: {dtype}, {number} of {len(calls)}")
            kernel, microseconds = ask(call, dtype)
            found.setdefault(owner(kernel), []).append((microseconds, call.name, shape_of(call, microseconds)))
            whole += microseconds
    rows = [row_of(kernel, served, whole) for kernel, served in found.items()]
    return sorted(rows, key=lambda row: (-row["share"], row["kernel"]))


def row_of(kernel, served, whole):
    """served: (microseconds, call, shape) of the calls that have the kernel's knobs."""
    served = sorted(served, reverse=True)
    shapes = list(dict.fromkeys(shape for _, _, shape in served))
    share = sum(microseconds for microseconds, _, _ in served) / whole
    return {"kernel": kernel, "share": share, "calls": [name for _, name, _ in served], "shapes": shapes[:SHAPES]}
