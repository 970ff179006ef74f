"""Times what options cost: calls with them beside the same call without, alternated in one process. It needs NumPy, and for bf16 ml_dtypes.

    python option_costs.py [--library build/lib/libgyre.so] [--dtype bf16] [--target x86_64_avx2] [--threads 1] [--only padded]

Printed is the time with the option divided by that without: the median of the rounds' ratios, half of the distance between their
quartiles in percent, and the ratio of the minima. Results of masks that hide nothing are compared with those of the plain call first.
"""

import argparse
import sys

import numpy as np
from alternate import alternate, clock_of, ratio
from element_types import TYPES, element_type
from measured_library import add_library, use_library
from option_cases import SHAPES, variants

TOLERANCE = {"f32": 1e-5, "f16": 4e-3, "bf16": 4e-2}


class Tensors:
    """Queries, keys, values, and two results of a shape, normally distributed."""

    def __init__(self, shape, kind):
        random = np.random.default_rng(1)
        extents = ((shape.heads, shape.queries), (shape.kv_heads, shape.keys), (shape.kv_heads, shape.keys))
        self.q, self.k, self.v = (random.standard_normal((shape.batch, heads, length, shape.head_dim), np.float32).astype(kind)
                                  for heads, length in extents)
        self.plain, self.out = np.empty_like(self.q), np.empty_like(self.q)


def measure(name, shape, variant, options, context, kind):
    """The ratios of one variant, or None where this build has no kernel for it."""
    import gyre
    import model_ours

    t = Tensors(shape, kind)
    given = variant.options(shape, lambda x: x.astype(kind))
    if variant.prepared:
        given["prepared_mask"] = gyre.prepare_mask(given["mask"], t.q, t.k, causal=given.get("causal", False), layout="bhsd")
    runs = {"plain": model_ours.prepare(context, t.q, t.k, t.v, t.plain, {"causal": shape.causal, "layout": "bhsd"}),
            "with": model_ours.prepare(context, t.q, t.k, t.v, t.out, given)}
    runs["plain"]()
    try:
        runs["with"]()
    except NotImplementedError as problem:
        print(f"{name}: left out: {problem}", file=sys.stderr)
        return None
    kernel = context.selected_kernel
    if variant.changes_nothing:
        error = float(np.abs(t.out.astype(np.float64) - t.plain.astype(np.float64)).max())
        if not error <= TOLERANCE[options.dtype]:
            sys.exit(f"{name}: differs by {error:.1e} from the plain call")
    times = alternate(runs, clock_of(options.threads), options.seconds, dict.fromkeys(runs, options.threads), most=options.rounds)
    return (*ratio(times["with"], times["plain"]), times["with"].min() / times["plain"].min(), 1e3 * times["plain"].min(), kernel)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_library(parser)
    parser.add_argument("--dtype", choices=TYPES, default="bf16")
    parser.add_argument("--target", help="such as x86_64_avx2")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[""], help="options and shapes whose names have one of these in them")
    parser.add_argument("--seconds", type=float, default=0.5, help="of rounds for an option")
    parser.add_argument("--rounds", type=int, default=60, help="at most")
    options = parser.parse_args()
    use_library(parser, options.library)
    import gyre

    context = gyre.Context(threads=options.threads, target=options.target)
    kind = element_type(options.dtype)
    print(f"{options.dtype}: with / without, noise in percent, of minima, ms without (least)")
    for shape in SHAPES:
        for variant in variants(shape):
            name = f"{shape.name}: {variant.name}"
            if not any(part in name for part in options.only):
                continue
            found = measure(name, shape, variant, options, context, kind)
            if found:
                middle, noise, least, ms, kernel = found
                print(f"{name:82} {middle:5.2f} {100 * noise:3.0f} {least:5.2f} {ms:9.4f}  {kernel}", flush=True)


if __name__ == "__main__":
    main()
