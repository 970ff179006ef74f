"""Times plain, rotated and decoding attention beside PyTorch's and onnxruntime's, of which the second may be missing.

    python compare.py [--library build/lib/libgyre.so] [--rotation plain|rope|roper] [--dtype f32|f16|bf16] [--threads 1 2] …
    python compare.py --decode [--lengths 4096 16384] [--dtype bf16] …        one query of 32 heads on 4, and GB/s of keys and values
    python compare.py --decode --dtype bf16 --value-blocks …                  also with values in blocks (gyre_value_order)

All run in one process and take turns, because machines change their speed from second to second. Printed are medians of
milliseconds, and medians of the rounds' ratios. Every result is checked against the others before it is timed.
"""

import argparse
import json
import sys

import numpy as np
from alternate import alternate, ratio, clock_of
from measured_library import add_library, use_library

HEADS = {(512, 64): 16, (1024, 64): 8, (4096, 64): 2, (512, 128): 8, (1024, 128): 8, (4096, 128): 2}
DECODE_HEADS, DECODE_KV_HEADS = 32, 4
TOLERANCE = {"f32": 2e-5, "f16": 0.004, "bf16": 0.03}  # summed in different orders, and rounded
BLOCK = 32  # GYRE_VALUE_BLOCK


def cases(options):
    """(length, head_dim, heads, key heads, queries, causal)"""
    for length in options.lengths or ([4096, 16384] if options.decode else [512, 1024, 4096]):
        for head_dim in options.head_dims:
            if options.decode:
                yield length, head_dim, DECODE_HEADS, DECODE_KV_HEADS, 1, False
                continue
            heads = HEADS.get((length, head_dim), 8)
            for causal in (False, True):
                yield length, head_dim, heads, heads, length, causal


def in_blocks(v):
    """gyre_value_order: of every 32 tokens of [batch, heads, tokens, v_head_dim] the transpose, in the same shape."""
    batch, heads, tokens, dim = v.shape
    return v.reshape(batch, heads, tokens // BLOCK, BLOCK, dim).transpose(3, 4).contiguous().reshape(v.shape)


def runs_of(case, context, options, dtype):
    """By library, functions without arguments that return the result, which are near each other."""
    import torch
    from rotated_calls import of_gyre, of_onnxruntime, of_torch

    length, head_dim, heads, kv_heads, queries, causal = case
    torch.manual_seed(1)
    q, k, v = (torch.randn(1, n, tokens, head_dim).to(dtype) for n, tokens in ((heads, queries), (kv_heads, length), (kv_heads, length)))
    call = causal, options.rotation
    runs = {"gyre": of_gyre(context, q, k, v, *call), "torch": of_torch(q, k, v, *call)}
    if options.value_blocks:
        runs["blocks"] = of_gyre(context, q, k, in_blocks(v), *call, value_order="blocks")
    if options.dtype == "f32" and not options.decode:
        try:
            runs["onnxruntime"] = of_onnxruntime(q, k, v, *call, context.threads)
        except ImportError as problem:
            print(f"without onnxruntime: {problem}", file=sys.stderr)
    expected = runs["gyre"]().float()
    for name, run in runs.items():
        error = (run().float() - expected).abs().max().item()
        if not error <= (0 if name == "blocks" else TOLERANCE[options.dtype]):
            sys.exit(f"{name} and gyre differ by {error:.1e} in {case}, {options.rotation}")
    return runs


def measure(case, context, options, dtype):
    length, head_dim, heads, kv_heads, _, causal = case
    runs = runs_of(case, context, options, dtype)
    kernel = context.selected_kernel
    times = alternate(runs, clock_of(context.threads), options.seconds, dict.fromkeys(runs, context.threads))
    ms = {name: 1e3 * float(np.median(found)) for name, found in times.items()}
    ratios = {name: float(ratio(found, times["gyre"])[0]) for name, found in times.items() if name != "gyre"}
    line = f"{length:6} {head_dim:8} {heads:5} {'yes' if causal else 'no':>6} {ms['gyre']:8.3f}"
    line += "".join(f"{name:>12} {ms[name]:8.3f} {ratios[name]:5.2f}" for name in ratios)
    if options.decode:
        read = 2 * kv_heads * length * head_dim * dtype.itemsize
        line += "".join(f"  {name} {read / ms[name] / 1e6:.1f} GB/s" for name in ms if name != "torch")
    print(line, flush=True)
    return {"rotation": options.rotation, "dtype": options.dtype, "threads": context.threads, "length": length, "heads": heads,
            "head_dim": head_dim, "causal": causal, "decode": options.decode, "kernel": kernel, "milliseconds": ms, "ratios": ratios}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_library(parser)
    parser.add_argument("--rotation", choices=["plain", "rope", "roper"], default="plain")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--dtype", choices=TOLERANCE, default="f32")
    parser.add_argument("--decode", action="store_true")
    parser.add_argument("--value-blocks", action="store_true")
    parser.add_argument("--lengths", type=int, nargs="+")
    parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--seconds", type=float, default=1, help="of rounds for a case")
    parser.add_argument("--json", metavar="FILE", help="write the results, too")
    options = parser.parse_args()
    if options.value_blocks and not (options.decode and options.dtype == "bf16"):
        parser.error("--value-blocks: needs --decode and --dtype bf16")
    if options.decode and options.rotation != "plain":
        parser.error("--rotation: is of full and causal attention, without --decode")
    use_library(parser, options.library)
    try:
        import model_torch
    except ImportError as problem:
        print(f"nothing to compare with: {problem}")
        return
    import gyre

    results = []
    for threads in options.threads:
        model_torch.set_up(threads)
        context = gyre.Context(threads=threads)
        print(f"{options.rotation} attention, {options.dtype}, milliseconds, {threads} thread(s); PyTorch {model_torch.version()}")
        print(f"{'length':>6} {'head_dim':>8} {'heads':>5} {'causal':>6} {'gyre':>8}  others, and their time divided by Gyre's")
        try:
            results += [measure(case, context, options, model_torch.DTYPES[options.dtype]) for case in cases(options)]
        except NotImplementedError as problem:  # values in blocks, on a target without matrix tiles
            sys.exit(str(problem))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
