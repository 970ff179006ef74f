"""Times attention beside PyTorch's and onnxruntime's, which are optional: what is not installed is named and left out.

    python compare.py [--library build/lib/libgyre.so] [--rotation plain|rope|roper] [--threads 1 2] [--json FILE] …

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
from gyre import Gyre

HEADS = {(512, 64): 16, (1024, 64): 8, (4096, 64): 2, (512, 128): 8, (1024, 128): 8, (4096, 128): 2}
TOLERANCE = 2e-5  # f32 against f32, summed in different orders


def available_peers(threads):
    found = []
    for peer in (peers.Torch, peers.OnnxRuntime):
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


def compare(gyre, others, shape, causal, rotation, rounds):
    random = np.random.default_rng(1)
    q, k, v = (random.standard_normal(shape).astype(np.float32) for _ in range(3))
    out = np.full(shape, np.nan, np.float32)
    calls = {"gyre": gyre.attention(q, k, v, out, causal, rotation)}
    calls["gyre"]()
    for other in others:
        call = other.attention(q, k, v, causal, rotation)
        error = np.abs(call() - out).max()
        if not error <= TOLERANCE:
            sys.exit(f"{other.name} and gyre differ by {error:.1e} at {shape}, causal {causal}, {rotation}")
        calls[other.name] = call
    return minima(calls, rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="build/lib/libgyre.so")
    parser.add_argument("--rotation", choices=["plain", "rope", "roper"], default="plain")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 1024, 4096], choices=[512, 1024, 4096])
    parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 128], choices=[64, 128])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", metavar="FILE", help="write the results, too")
    options = parser.parse_args()
    if not os.path.exists(options.library):
        parser.error(f"--library {options.library}: no such file; `cmake/go build` makes it")

    results = []
    for threads in options.threads:
        others = available_peers(threads)
        if not others:
            print("nothing to compare with: python3 -m pip install torch onnxruntime onnx")
            return
        gyre = Gyre(os.path.abspath(options.library), threads)
        versions = ", ".join(f"{other.name} {other.version}" for other in others)
        print(f"{options.rotation} attention, f32, milliseconds, {threads} thread(s); {versions}")
        print(f"{'length':>6} {'head_dim':>8} {'heads':>5} {'causal':>6} {'gyre':>8}"
              + "".join(f"{other.name:>12} {'ratio':>5}" for other in others))
        for length in options.lengths:
            for head_dim in options.head_dims:
                for causal in (False, True):
                    heads = HEADS[length, head_dim]
                    best = compare(gyre, others, (1, heads, length, head_dim), causal, options.rotation, options.rounds)
                    print(f"{length:6} {head_dim:8} {heads:5} {'yes' if causal else 'no':>6} {best['gyre']:8.3f}"
                          + "".join(f"{best[o.name]:12.3f} {best[o.name] / best['gyre']:5.2f}" for o in others), flush=True)
                    results.append({"rotation": options.rotation, "threads": threads, "length": length, "heads": heads,
                                    "head_dim": head_dim, "causal": causal, "kernel": gyre.selected_kernel(),
                                    "milliseconds": best})
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
