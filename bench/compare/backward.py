"""Times attention forward and backward beside PyTorch's autograd, and compares the gradients.

    python backward.py [--library build/lib/libgyre.so] [--rotation plain|rope|roper] [--dtype f32|bf16] [--threads 1] …

Both run in one process and take turns, because machines change their speed from second to second; compared are minima. PyTorch's
rotations are eager, as models write them. Gradients are compared before anything is timed.
"""

import argparse
import json
import os
import sys
import time

import numpy as np
from gyre import Gyre, to_bf16, to_f32
from peers import angles

HEADS = {512: 16, 1024: 8, 2048: 4, 4096: 2}
TOLERANCE = {"f32": 2e-5, "bf16": 0.04}  # of the largest gradient: summed in different orders, and rounded


class Torch:
    """The faster of scaled_dot_product_attention and of two products with a softmax between them, with autograd."""

    def __init__(self, threads):
        import torch

        self.torch = torch
        torch.set_num_threads(threads)

    def tensor(self, array):
        if array.dtype != np.uint16:
            return self.torch.from_numpy(array.copy())
        return self.torch.from_numpy(array.view(np.int16).copy()).view(self.torch.bfloat16)

    def rotate(self, x, cos, sin):
        first, second = x.chunk(2, dim=-1)
        return self.torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)

    def by_products(self, queries, keys, values, causal):
        scores = queries * queries.shape[-1] ** -0.5 @ keys.transpose(-1, -2)
        if causal:
            hidden = self.torch.ones(scores.shape[-2:], dtype=self.torch.bool).triu(1)
            scores = scores.masked_fill(hidden, float("-inf"))
        return scores.softmax(-1) @ values

    def fused(self, queries, keys, values, causal):
        return self.torch.nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=causal)

    def attention_with_gradients(self, *call):
        """Of both forms the one that takes less time in a trial."""
        forms = {form: self.form_with_gradients(form, *call) for form in (self.fused, self.by_products)}
        best = minima({form: form_calls[:2] for form, form_calls in forms.items()}, 2)
        return forms[min(best, key=lambda form: sum(best[form]))]

    def form_with_gradients(self, form, q, k, v, out_grad, causal, rotation):
        torch = self.torch
        leaves = [self.tensor(x).requires_grad_() for x in (q, k, v)]
        grad = self.tensor(out_grad)
        cos, sin = (torch.from_numpy(x).to(grad.dtype) for x in angles(q.shape[2], q.shape[3]))
        state = {}

        def forward():
            queries, keys, values = leaves
            if rotation != "plain":
                queries, keys = self.rotate(queries, cos, sin), self.rotate(keys, cos, sin)
            if rotation == "roper":
                values = self.rotate(values, cos, sin)
            out = form(queries, keys, values, causal)
            state["out"] = self.rotate(out, cos, -sin) if rotation == "roper" else out

        def backward():
            state["grads"] = torch.autograd.grad(state["out"], leaves, grad)

        return forward, backward, lambda: [g.float().numpy() for g in state["grads"]]


def minima(pairs, rounds):
    """Milliseconds of each pair's forward and backward, the least of so many rounds in which each has its turn."""
    best = {name: [float("inf")] * 2 for name in pairs}
    for _ in range(rounds):
        for name, pair in pairs.items():
            time.sleep(0.005)  # the threads of the one before fall asleep
            for side, call in enumerate(pair):
                begin = time.perf_counter()
                call()
                best[name][side] = min(best[name][side], 1e3 * (time.perf_counter() - begin))
    return best


def compare(gyre, torch, shape, causal, options):
    random = np.random.default_rng(1)
    q, k, v, out_grad = (random.standard_normal(shape).astype(np.float32) for _ in range(4))
    if options.dtype == "bf16":
        q, k, v, out_grad = (to_bf16(x) for x in (q, k, v, out_grad))
    out, gradients = np.zeros_like(q), [np.zeros_like(q) for _ in range(3)]
    ours = gyre.attention_with_gradients(q, k, v, out, out_grad, gradients, causal, options.rotation)
    forward, backward, theirs = torch.attention_with_gradients(q, k, v, out_grad, causal, options.rotation)
    for call in (*ours, forward, backward):
        call()
    for name, mine, other in zip("qkv", gradients, theirs()):
        error = np.abs(to_f32(mine) - other).max() / np.abs(other).max()
        if not error <= TOLERANCE[options.dtype]:
            sys.exit(f"gradients of {name} differ by {error:.1e} of the largest at {shape}, causal {causal}")
    return minima({"gyre": ours, "torch": (forward, backward)}, options.rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="build/lib/libgyre.so")
    parser.add_argument("--rotation", choices=["plain", "rope", "roper"], default="plain")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 1024, 4096])
    parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", metavar="FILE", help="write the results, too")
    options = parser.parse_args()
    if not os.path.exists(options.library):
        parser.error(f"--library {options.library}: no such file; `cmake/go build` makes it")
    try:
        torch = Torch(options.threads)
    except ImportError as error:
        print(f"nothing to compare with ({error}): python3 -m pip install torch")
        return
    gyre = Gyre(os.path.abspath(options.library), options.threads)
    print(f"{options.rotation} attention, {options.dtype}, milliseconds forward + backward, {options.threads} thread(s); "
          f"torch {torch.torch.__version__}")
    print(f"{'length':>6} {'head_dim':>8} {'heads':>5} {'causal':>6} {'gyre':>18} {'torch':>18} {'ratio':>6}")
    results = []
    for length in options.lengths:
        for head_dim in options.head_dims:
            for causal in (False, True):
                shape = (1, HEADS.get(length, 8), length, head_dim)
                best = compare(gyre, torch, shape, causal, options)
                times = {name: f"{f:8.2f} + {b:7.2f}" for name, (f, b) in best.items()}
                ratio = sum(best["torch"]) / sum(best["gyre"])
                print(f"{length:6} {head_dim:8} {shape[1]:5} {'yes' if causal else 'no':>6} {times['gyre']:>18} "
                      f"{times['torch']:>18} {ratio:6.2f}", flush=True)
                results.append({"rotation": options.rotation, "dtype": options.dtype, "threads": options.threads,
                                "shape": shape, "causal": causal, "kernel": gyre.selected_kernel(), "milliseconds": best})
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
