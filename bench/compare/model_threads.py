"""How much faster the calls of model_calls.py are with several threads, alternated in one process. It needs NumPy, and for bf16 ml_dtypes.

    python model_threads.py [--library build/lib/libgyre.so] [--threads 2] [--dtype f32] [--only BERT]
"""

import argparse
import sys
import time

import numpy as np
from alternate import alternate, ratio
from element_types import TYPES, element_type
from measured_library import add_library, use_library
from model_arrays import Inputs
from model_calls import CALLS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_library(parser)
    parser.add_argument("--dtype", choices=TYPES, default="f32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--target", help="such as x86_64_avx2")
    parser.add_argument("--only", nargs="+", default=[""], help="calls whose names have one of these in them")
    parser.add_argument("--seconds", type=float, default=0.5, help="of rounds for a call")
    options = parser.parse_args()
    use_library(parser, options.library)
    import gyre
    import model_ours

    kind = element_type(options.dtype)
    contexts = {threads: gyre.Context(threads=threads, target=options.target) for threads in (1, options.threads)}
    found = []
    for call in CALLS:
        if not any(part in call.name for part in options.only):
            continue
        inputs = Inputs(call, options.dtype)
        q, k, v = (x.astype(kind) for x in (inputs.q, inputs.k, inputs.v))
        outs = {threads: np.empty((*q.shape[:3], call.value_dim), kind) for threads in contexts}
        keywords = model_ours.keywords(call, inputs, lambda x: x.astype(kind))
        runs = {threads: model_ours.prepare(context, q, k, v, outs[threads], keywords) for threads, context in contexts.items()}
        times = alternate(runs, time.perf_counter, options.seconds, {threads: threads for threads in runs})
        if not np.array_equal(outs[1].view(np.uint8), outs[options.threads].view(np.uint8)):
            sys.exit(f"{call.name}: bits depend on the number of threads")
        found.append((*ratio(times[1], times[options.threads]), 1e3 * float(np.median(times[1])), call.name,
                      contexts[1].selected_kernel))
        print(call.name, file=sys.stderr, flush=True)
    print(f"{options.dtype}: speed with {options.threads} threads / with 1, noise in percent, ms with 1")
    for speed, noise, ms, name, kernel in sorted(found):
        print(f"{name:50} {speed:5.2f} {100 * noise:3.0f} {ms:9.4f}  {kernel}")


if __name__ == "__main__":
    main()
