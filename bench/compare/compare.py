"""Times attention beside PyTorch's and onnxruntime's, which are optional: what is not installed is named and left out.

    python compare.py [--library build/lib/libgyre.so] [--rotation plain|rope|roper] [--dtype f32|f16|bf16] [--threads 1 2] …
    python compare.py --decode [--lengths 4096 16384] [--dtype bf16] …        one query of 32 heads on 4, and GB/s of keys and values
    python compare.py --decode --dtype bf16 --value-blocks …                  also with values in blocks (gyre_value_order)

All run in one process and take turns, because machines change their speed from second to second; compared are minima. Every
result is checked against the others before it is timed.
"""

import argparse
import json
import os
import sys
import time

import numpy as np
import peers
from gyre import Gyre, to_bf16, to_f32, values_in_blocks

HEADS = {(512, 64): 16, (1024, 64): 8, (4096, 64): 2, (512, 128): 8, (1024, 128): 8, (4096, 128): 2}
DECODE_HEADS, DECODE_KV_HEADS = 32, 4
TOLERANCE = {"f32": 2e-5, "f16": 0.004, "bf16": 0.03}  # summed in different orders, and rounded


def available_peers(threads, only_torch):
    found = []
    for peer in (peers.Torch,) if only_torch else (peers.Torch, peers.OnnxRuntime):
        try:
            found.append(peer(threads))
        except ImportError as error:
            print(f"without {peer.name}: {error}", file=sys.stderr)
    return found


def minima(calls, rounds):
    """Milliseconds of each call, the least of so many rounds in which each has its turn."""
    best = {name: float("inf") for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(0.005)  # the threads of the one before fall asleep
            call()
            begin = time.perf_counter()
            call()
            best[name] = min(best[name], 1e3 * (time.perf_counter() - begin))
    return best


def compare(gyre, others, q_shape, kv_shape, causal, options):
    random = np.random.default_rng(1)
    q, k, v = (random.standard_normal(shape).astype(np.float32) for shape in (q_shape, kv_shape, kv_shape))
    if options.dtype != "f32":
        narrow = to_bf16 if options.dtype == "bf16" else np.float16
        q, k, v = (narrow(x) for x in (q, k, v))
    out, rotation = np.zeros_like(q), options.rotation
    calls = {"gyre": gyre.attention(q, k, v, out, causal, rotation)}
    calls["gyre"]()
    if options.value_blocks:
        blocks, out_of_blocks = values_in_blocks(v), np.zeros_like(q)
        calls["blocks"] = gyre.attention(q, k, blocks, out_of_blocks, causal, rotation, value_order=1)
        calls["blocks"]()
        if not np.array_equal(out, out_of_blocks):
            sys.exit(f"values in blocks give other bits than rows at {q_shape}, {kv_shape}, causal {causal}")
    for other in others:
        call = other.attention(q, k, v, causal, rotation)
        error = np.abs(call() - to_f32(out)).max()
        if not error <= TOLERANCE[options.dtype]:
            sys.exit(f"{other.name} and gyre differ by {error:.1e} at {q_shape}, {kv_shape}, causal {causal}, {rotation}")
        calls[other.name] = call
    return minima(calls, options.rounds)


def cases(options):
    """(length, head_dim, heads, shape of the queries, of keys and values, causal)"""
    for length in options.lengths or ([4096, 16384] if options.decode else [512, 1024, 4096]):
        for head_dim in options.head_dims:
            if options.decode:
                heads = DECODE_HEADS
                yield length, head_dim, heads, (1, heads, 1, head_dim), (1, DECODE_KV_HEADS, length, head_dim), False
                continue
            heads = HEADS.get((length, head_dim), 8)
            for causal in (False, True):
                yield length, head_dim, heads, *[(1, heads, length, head_dim)] * 2, causal


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="build/lib/libgyre.so")
    parser.add_argument("--rotation", choices=["plain", "rope", "roper"], default="plain")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--dtype", choices=["f32", "f16", "bf16"], default="f32")
    parser.add_argument("--decode", action="store_true")
    parser.add_argument("--value-blocks", action="store_true")
    parser.add_argument("--lengths", type=int, nargs="+")
    parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", metavar="FILE", help="write the results, too")
    options = parser.parse_args()
    if options.value_blocks and not (options.decode and options.dtype == "bf16"):
        parser.error("--value-blocks: needs --decode and --dtype bf16")
    if not os.path.exists(options.library):
        parser.error(f"--library {options.library}: no such file; `cmake/go build` makes it")

    results = []
    for threads in options.threads:
        others = available_peers(threads, options.decode or options.dtype != "f32")
        if not others:
            print("nothing to compare with: python3 -m pip install torch onnxruntime onnx")
            return
        gyre = Gyre(os.path.abspath(options.library), threads)
        versions = ", ".join(f"{other.name} {other.version}" for other in others)
        print(f"{options.rotation} attention, {options.dtype}, milliseconds, {threads} thread(s); {versions}")
        print(f"{'length':>6} {'head_dim':>8} {'heads':>5} {'causal':>6} {'gyre':>8}"
              + "".join(f"{other.name:>12} {'ratio':>5}" for other in others))
        for length, head_dim, heads, q_shape, kv_shape, causal in cases(options):
            best = compare(gyre, others, q_shape, kv_shape, causal, options)
            line = f"{length:6} {head_dim:8} {heads:5} {'yes' if causal else 'no':>6} {best['gyre']:8.3f}"
            line += "".join(f"{best[other.name]:12.3f} {best[other.name] / best['gyre']:5.2f}" for other in others)
            if options.decode:
                read = 2 * np.prod(kv_shape) * (4 if options.dtype == "f32" else 2)
                line += f" {read / best['gyre'] / 1e6:6.1f} GB/s"
                if options.value_blocks:
                    line += f", in blocks {best['blocks']:.3f} ms {read / best['blocks'] / 1e6:.1f} GB/s"
            print(line, flush=True)
            results.append({"rotation": options.rotation, "dtype": options.dtype, "threads": threads, "length": length,
                            "heads": heads, "head_dim": head_dim, "causal": causal, "decode": options.decode,
                            "kernel": gyre.selected_kernel(), "milliseconds": best})
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
