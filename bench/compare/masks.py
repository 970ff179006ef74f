"""Times attention with masks, as padded batches have them, beside PyTorch's and beside the call without a mask.

    python masks.py [--library build/lib/libgyre.so] [--dtype f32|bf16] [--threads 1] [--seconds 1]

All run in one process and take turns, because machines change their speed from second to second. Results are compared before anything is
timed. PyTorch gets key and value heads as they are stored (enable_gqa), and the mask in either form
that its kernels know: boolean, or 0 and -inf added in the type of the queries; the faster one counts.
"""

import argparse
import sys

import numpy as np
from alternate import alternate, clock_of, fastest, ratio
from measured_library import add_library, use_library

# name: batch, query heads, key heads, queries, keys, mask
CALLS = {
    "decode, key padding, 8 sequences": (8, 32, 8, 1, 2048, "right"),
    "decode, left padding, 8 sequences": (8, 32, 8, 1, 2048, "left"),
    "encoder, key padding, L 128": (8, 12, 12, 128, 128, "right"),
    "encoder, key padding, L 512": (4, 12, 12, 512, 512, "right"),
    "encoder, nothing hidden, L 512": (4, 12, 12, 512, 512, "none"),
    "causal and right padding in one, L 512": (4, 16, 4, 512, 512, "causal right"),
    "causal and left padding in one, L 512": (4, 16, 4, 512, 512, "causal left"),
    "any boolean mask, L 512": (4, 12, 12, 512, 512, "random"),
}
TOLERANCE = {"f32": 2e-5, "bf16": 0.04}


def mask_of(kind, batch, queries, keys):
    """[batch, 1, queries or 1, keys]: entry b has a share of b / (2 batch) of its keys hidden."""
    index = np.arange(keys)
    hidden = keys * np.arange(batch)[:, None] // (2 * batch)
    visible = np.ones((batch, keys), bool)
    if "right" in kind:
        visible = index < keys - hidden
    if "left" in kind:
        visible = index >= hidden
    mask = visible[:, None, None, :]
    if "causal" in kind:
        mask = mask & np.tri(queries, keys, keys - queries, dtype=bool)
    if kind == "random":
        mask = np.random.default_rng(2).random((batch, 1, queries, keys)) < 0.9
    return np.ascontiguousarray(mask)


def measure(shape, context, options):
    """Rounds of seconds of our call with and without the mask, and of PyTorch's better form."""
    import model_ours
    import torch

    batch, heads, kv_heads, queries, keys, kind = shape
    random = np.random.default_rng(1)
    dtype = torch.float32 if options.dtype == "f32" else torch.bfloat16
    q, k, v = (torch.from_numpy(random.standard_normal((batch, h, length, options.head_dim), np.float32)).to(dtype)
               for h, length in ((heads, queries), (kv_heads, keys), (kv_heads, keys)))
    mask = torch.from_numpy(mask_of(kind, batch, queries, keys))
    added = torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, float("-inf"))
    out, plain_out = torch.empty_like(q), torch.empty_like(q)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    causal = "causal" in kind

    runs = {"masked": model_ours.prepare(context, q, k, v, out, {"layout": "bhsd", "mask": mask}),
            "plain": model_ours.prepare(context, q, k, v, plain_out, {"layout": "bhsd", "causal": causal})}
    forms = {"boolean": lambda: sdpa(q, k, v, attn_mask=mask, enable_gqa=True), "added": lambda: sdpa(q, k, v, attn_mask=added, enable_gqa=True)}
    runs["masked"]()
    seen = mask.any(-1, keepdim=True).expand(batch, 1, queries, 1)  # PyTorch's rows that see nothing are NaN or means
    error = torch.where(seen, (out - forms["boolean"]()).abs(), 0).max().item()
    if error > TOLERANCE[options.dtype]:
        sys.exit(f"{kind}: results differ by {error}")
    clock = clock_of(options.threads)
    runs["torch"] = forms[fastest(forms, clock)]
    return alternate(runs, clock, options.seconds, dict.fromkeys(runs, options.threads))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_library(parser)
    parser.add_argument("--dtype", choices=TOLERANCE, default="bf16")
    parser.add_argument("--head-dim", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1, help="of rounds for a call")
    options = parser.parse_args()
    use_library(parser, options.library)
    try:
        import torch
    except ImportError as problem:
        print(f"nothing to compare with: {problem}")
        return
    import gyre

    torch.set_num_threads(options.threads)
    context = gyre.Context(threads=options.threads)
    print(f"{'call, ' + options.dtype:42s} {'ms':>8s} {'of the plain call':>18s} {'PyTorch / ours':>15s}")
    for name, shape in CALLS.items():
        times = measure(shape, context, options)
        masked, plain, peer = (times[run] for run in ("masked", "plain", "torch"))
        print(f"{name:42s} {1e3 * np.median(masked):8.3f} {ratio(masked, plain)[0]:18.2f} {ratio(peer, masked)[0]:15.2f}", flush=True)


if __name__ == "__main__":
    main()
