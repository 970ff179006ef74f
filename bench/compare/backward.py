"""Times attention forward and backward beside PyTorch's autograd, and compares the gradients.

    python backward.py [--library build/lib/libgyre.so] [--rotation plain|rope|roper] [--dtype f32|bf16] [--threads 1] …

Both run in one process and take turns, because machines change their speed from second to second. Printed are medians of milliseconds,
and the ratio of their sums. PyTorch's rotations are eager, as models write them. Gradients are compared before anything is timed.
"""

import argparse
import json
import sys

import numpy as np
from alternate import alternate, fastest, clock_of
from measured_library import add_library, use_library

HEADS = {512: 16, 1024: 8, 2048: 4, 4096: 2}
TOLERANCE = {"f32": 2e-5, "bf16": 0.04}  # of the largest gradient: summed in different orders, and rounded


def by_products(q, k, v, causal):
    """Two products with a softmax between them."""
    scores = q * q.shape[-1] ** -0.5 @ k.transpose(-1, -2)
    if causal:
        scores = scores.masked_fill(scores.new_ones(scores.shape[-2:]).bool().triu(1), float("-inf"))
    return scores.softmax(-1) @ v


def of_torch(tensors, out_grad, causal, rotation):
    """Forward and backward with autograd, of the form that takes less time in a trial."""
    import torch
    from rotated_calls import fused, rotated

    def pair(form):
        attend = rotated(form, rotation, tensors[0])
        leaves = [x.clone().requires_grad_() for x in tensors]
        state = {}

        def forward():
            state["out"] = attend(*leaves)

        def backward():
            return torch.autograd.grad(state["out"], leaves, out_grad, retain_graph=True)

        return forward, backward

    pairs = {"fused": pair(fused(causal)), "products": pair(lambda q, k, v: by_products(q, k, v, causal))}
    best = fastest({name: lambda both=both: (both[0](), both[1]()) for name, both in pairs.items()}, clock_of(1))
    return pairs[best]


def of_gyre(context, tensors, out_grad, causal, rotation):
    """Forward and backward."""
    import gyre
    from rotated_calls import options_of

    options = {"context": context, **options_of(rotation, causal)}
    state = {}

    def forward():
        state["results"] = gyre.attention(*tensors, return_lse=True, **options)

    def backward():
        return gyre.attention_backward(out_grad, *tensors, *state["results"], **options)

    return forward, backward


def measure(shape, causal, context, options, dtype):
    """Milliseconds of both libraries' forward and backward."""
    import torch

    torch.manual_seed(1)
    *tensors, out_grad = (torch.randn(shape).to(dtype) for _ in range(4))
    pairs = {"gyre": of_gyre(context, tensors, out_grad, causal, options.rotation), "torch": of_torch(tensors, out_grad, causal, options.rotation)}
    for forward, _ in pairs.values():
        forward()
    for name, mine, theirs in zip("qkv", pairs["gyre"][1](), pairs["torch"][1]()):
        error = ((mine.float() - theirs.float()).abs().max() / theirs.float().abs().max()).item()
        if not error <= TOLERANCE[options.dtype]:
            sys.exit(f"gradients of {name} differ by {error:.1e} of the largest at {shape}, causal {causal}")
    runs = {f"{name} {side}": run for name, pair in pairs.items() for side, run in zip(("forward", "backward"), pair)}
    times = alternate(runs, clock_of(options.threads), options.seconds, dict.fromkeys(runs, options.threads))
    return {name: [1e3 * float(np.median(times[f"{name} {side}"])) for side in ("forward", "backward")] for name in pairs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_library(parser)
    parser.add_argument("--rotation", choices=["plain", "rope", "roper"], default="plain")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtype", choices=TOLERANCE, default="f32")
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 1024, 4096])
    parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--seconds", type=float, default=1, help="of rounds for a case")
    parser.add_argument("--json", metavar="FILE", help="write the results, too")
    options = parser.parse_args()
    use_library(parser, options.library)
    try:
        import model_torch
        import torch
    except ImportError as problem:
        print(f"nothing to compare with: {problem}")
        return
    import gyre

    torch.set_num_threads(options.threads)
    context = gyre.Context(threads=options.threads)
    print(f"{options.rotation} attention, {options.dtype}, milliseconds forward + backward, {options.threads} thread(s); "
          f"PyTorch {model_torch.version()}")
    print(f"{'length':>6} {'head_dim':>8} {'heads':>5} {'causal':>6} {'gyre':>18} {'torch':>18} {'ratio':>6}")
    results = []
    for length in options.lengths:
        for head_dim in options.head_dims:
            for causal in (False, True):
                shape = (1, HEADS.get(length, 8), length, head_dim)
                ms = measure(shape, causal, context, options, model_torch.DTYPES[options.dtype])
                times = {name: f"{f:8.2f} + {b:7.2f}" for name, (f, b) in ms.items()}
                print(f"{length:6} {head_dim:8} {shape[1]:5} {'yes' if causal else 'no':>6} {times['gyre']:>18} {times['torch']:>18} "
                      f"{sum(ms['torch']) / sum(ms['gyre']):6.2f}", flush=True)
                results.append({"rotation": options.rotation, "dtype": options.dtype, "threads": options.threads, "shape": shape,
                                "causal": causal, "kernel": context.selected_kernel, "milliseconds": ms})
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
