"""How much faster the calls of model_calls.py are with several threads, alternated in one process: a context's own threads, a program's
OpenMP threads (parallel_for), and beside them how much faster several threads read the call's keys and values. It needs NumPy, a C compiler,
and for bf16 ml_dtypes.

    chrt -f 1 python model_threads.py [--library build/lib/libgyre.so] [--threads 2] [--dtype f32 bf16] [--only BERT] [--least 200]
"""

import argparse
import sys
import time

import numpy as np
from alternate import TURN, alternate, ratio, repeats_of
from element_types import TYPES, element_type
from measured_library import add_library, use_library
from model_arrays import Inputs
from model_calls import CALLS

MOST_TRIES = 60  # of a turn; other programs may keep a processor for seconds


def formed_runs(contexts, call, dtype, readers):
    """{name: function} of a call in each context, and of reading its keys and values; the arrays of results."""
    import model_ours

    kind = element_type(dtype)
    inputs = Inputs(call, dtype)
    q, k, v = (x.astype(kind) for x in (inputs.q, inputs.k, inputs.v))
    outs = {name: np.empty((*q.shape[:3], call.value_dim), kind) for name in contexts}
    keywords = model_ours.keywords(call, inputs, lambda x: x.astype(kind))
    runs = {name: model_ours.prepare(context, q, k, v, outs[name], keywords) for name, context in contexts.items()}
    return {**runs, **{name: reader([k, v]) for name, reader in readers.items()}}, outs


def line(speeds, ms, read, reading, name, kernel):
    columns = "".join(f"{speed:6.2f} {100 * noise:3.0f}" for speed, noise in speeds)
    return f"{name:50}{columns} {ms:9.4f} {read / 1e6:7.2f} {read / reading / 1e9:6.1f}  {kernel}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_library(parser)
    parser.add_argument("--dtype", choices=TYPES, nargs="+", default=["f32"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--target", help="such as x86_64_avx2")
    parser.add_argument("--only", nargs="+", default=[""], help="calls whose names have one of these in them")
    parser.add_argument("--least", type=float, default=0, help="microseconds of one thread that a call takes at least")
    parser.add_argument("--seconds", type=float, default=0.5, help="of rounds for a call")
    options = parser.parse_args()
    use_library(parser, options.library)
    import gyre
    from openmp_pool import OpenMP

    openmp = OpenMP()
    contexts = {"one": gyre.Context(threads=1, target=options.target),
                "own": gyre.Context(threads=options.threads, target=options.target),
                "OpenMP": openmp.context(options.threads, options.target)}
    readers = {f"reading {threads}": lambda arrays, n=threads: openmp.reader(arrays, n) for threads in (1, options.threads)}
    threads = {name: 1 if name in ("one", "reading 1") else options.threads for name in (*contexts, *readers)}
    for dtype in options.dtype:
        found = []
        for call in CALLS:
            if not any(part in call.name for part in options.only):
                continue
            runs, outs = formed_runs(contexts, call, dtype, readers)
            if TURN / repeats_of(runs["one"], time.perf_counter) < 1e-6 * options.least:
                continue
            times = alternate(runs, time.perf_counter, options.seconds, threads, tries=MOST_TRIES)
            if any(not np.array_equal(outs["one"].view(np.uint8), out.view(np.uint8)) for out in outs.values()):
                sys.exit(f"{call.name}: bits depend on the threads")
            one, reading = times["one"], times["reading 1"]
            speeds = [ratio(one, times["own"]), ratio(one, times["OpenMP"]), ratio(reading, times[f"reading {options.threads}"])]
            read = (call.head_dim + call.value_dim) * call.batch * call.kv_heads * call.keys * (4 if dtype == "f32" else 2)
            found.append((speeds, 1e3 * float(np.median(one)), read, float(np.median(reading)), call.name, contexts["one"].selected_kernel))
            print(line(*found[-1]), file=sys.stderr, flush=True)
        print(f"{dtype}: speed with {options.threads} threads / with 1 (noise in percent): own, OpenMP's, reading keys and values; "
              "ms with 1; MB read, GB/s of 1 that reads")
        print("\n".join(line(*each) for each in sorted(found)), flush=True)


if __name__ == "__main__":
    main()
