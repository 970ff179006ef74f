"""Times attention forward and backward beside PyTorch's autograd, and compares the gradients.

    python backward.py [--library build/lib/libgyre.so] [--rotation plain|rope|roper] [--dtype f32|f16|bf16] [--threads 1] [--short] …

All run in one process and take turns, because machines change their speed from second to second. Gyre is called through its C API with
arguments that are formed once. PyTorch is timed in two forms: its fused attention, and two products with a softmax between them. Printed
are medians of milliseconds of Gyre and of PyTorch's form that takes less in both passes, and PyTorch's time / ours: of both passes, and of
the backward pass alone, each with the form that takes less in it. PyTorch's rotations are eager, as models write them. Gradients are
compared before anything is timed.
"""

import argparse
import json
import sys

import numpy as np
from alternate import alternate, clock_of
from measured_library import add_library, use_library

HEADS = {512: 16, 1024: 8, 2048: 4, 4096: 2}
SHORT = [20, 49, 64, 77, 128, 197, 256]  # Swin's windows, CLIP's texts, ViT's pictures, and texts
TOLERANCE = {"f32": 2e-5, "f16": 0.005, "bf16": 0.04}  # of the largest gradient: summed in different orders, and rounded


def by_products(q, k, v, causal):
    """Two products with a softmax between them."""
    group = q.shape[1] // k.shape[1]
    if group > 1:
        k, v = (x.repeat_interleave(group, 1) for x in (k, v))
    scores = q * q.shape[-1] ** -0.5 @ k.transpose(-1, -2)
    if causal:
        scores = scores.masked_fill(scores.new_ones(scores.shape[-2:]).bool().triu(1), float("-inf"))
    return scores.softmax(-1) @ v


def fused(causal):
    """PyTorch's attention, also of heads that share keys."""
    from torch.nn.functional import scaled_dot_product_attention as attention

    return lambda q, k, v: attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])


def of_torch(tensors, out_grad, causal, rotation):
    """Forward and backward with autograd, of each form."""
    import torch
    from rotated_calls import rotated

    def pair(form):
        attend = rotated(form, rotation, tensors[0])
        leaves = [x.clone().requires_grad_() for x in tensors]
        state = {}

        def forward():
            state["out"] = attend(*leaves)

        def backward():
            return torch.autograd.grad(state["out"], leaves, out_grad, retain_graph=True)

        return forward, backward

    return {"fused": pair(fused(causal)), "products": pair(lambda q, k, v: by_products(q, k, v, causal))}


def of_gyre(context, tensors, out_grad, causal, rotation):
    """Forward and backward, of arguments that are formed once."""
    import model_ours
    import torch
    from rotated_calls import options_of

    q, _, v = tensors
    out = q.new_empty(q.shape[:-1] + v.shape[-1:])
    grads = [x.new_empty(x.shape) for x in tensors]
    lse = q.new_empty(q.shape[:-1], dtype=torch.float32)
    forward = model_ours.prepare(context, *tensors, out, options_of(rotation, causal), lse)
    backward = model_ours.prepare_backward(context, forward, out_grad, grads)
    return forward, lambda: backward() or grads


def measure(shape, kv_heads, causal, context, options, dtype):
    """Milliseconds of forward and backward, of Gyre and of PyTorch's forms."""
    import torch

    torch.manual_seed(1)
    of_keys = shape[0], kv_heads, *shape[2:]
    q, k, v, out_grad = (torch.randn(size).to(dtype) for size in (shape, of_keys, of_keys, shape))
    pairs = {"gyre": of_gyre(context, (q, k, v), out_grad, causal, options.rotation), **of_torch((q, k, v), out_grad, causal, options.rotation)}
    for forward, _ in pairs.values():
        forward()
    for name, mine, theirs in zip("qkv", pairs["gyre"][1](), pairs["fused"][1]()):
        error = ((mine.float() - theirs.float()).abs().max() / theirs.float().abs().max()).item()
        if not error <= TOLERANCE[options.dtype]:
            sys.exit(f"gradients of {name} differ by {error:.1e} of the largest at {shape}, causal {causal}")
    runs = {f"{name} {side}": run for name, pair in pairs.items() for side, run in zip(("forward", "backward"), pair)}
    times = alternate(runs, clock_of(options.threads), options.seconds, dict.fromkeys(runs, options.threads))
    return {name: [1e3 * float(np.median(times[f"{name} {side}"])) for side in ("forward", "backward")] for name in pairs}


def ratios(ms):
    """Of both passes, and of the backward pass alone."""
    torch_forms = [ms[name] for name in ("fused", "products")]
    return min(map(sum, torch_forms)) / sum(ms["gyre"]), min(b for _, b in torch_forms) / ms["gyre"][1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_library(parser)
    parser.add_argument("--rotation", choices=["plain", "rope", "roper"], default="plain")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtype", choices=TOLERANCE, default="f32")
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 1024, 4096])
    parser.add_argument("--short", action="store_const", dest="lengths", const=SHORT, help="short sequences: " + " ".join(map(str, SHORT)))
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--group", type=int, default=1, help="query heads that share a key head")
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
    print(f"{'length':>6} {'head_dim':>8} {'heads':>5} {'causal':>6} {'gyre':>18} {'torch':>18} {'form':>8} {'both':>6} {'backward':>8}")
    results = []
    for length in options.lengths:
        for head_dim in options.head_dims:
            for causal in (False, True):
                shape = (options.batch, HEADS.get(length, 8), length, head_dim)
                ms = measure(shape, shape[1] // options.group, causal, context, options, model_torch.DTYPES[options.dtype])
                form = min(("fused", "products"), key=lambda name: sum(ms[name]))
                times = {name: f"{f:8.3f} + {b:7.3f}" for name, (f, b) in ms.items()}
                both, backward = ratios(ms)
                print(f"{length:6} {head_dim:8} {shape[1]:5} {'yes' if causal else 'no':>6} {times['gyre']:>18} {times[form]:>18} {form:>8} "
                      f"{both:6.2f} {backward:8.2f}", flush=True)
                results.append({"rotation": options.rotation, "dtype": options.dtype, "threads": options.threads, "shape": shape,
                                "group": options.group, "causal": causal, "kernel": context.selected_kernel, "milliseconds": ms})
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
