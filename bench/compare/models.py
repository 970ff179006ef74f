"""Times the attention calls of model_calls.py beside PyTorch's best form of each, and beside vLLM's, onnxruntime's and oneDNN's where they have it.

    python models.py [--library build/lib/libgyre.so] [--dtype f32 f16 bf16] [--threads 1] [--target native] [--only BERT] [--odd]
    python models.py --drawn 200 --seed 7 ...

Everything runs in one process and takes turns. Each result is compared with rows in double precision before it is timed. Printed are
medians of the rounds' ratios, slowest first. README.md tells how to install the others, and what --target holds them to.
"""

import argparse
import itertools
import os
import sys

import numpy as np
from alternate import alternate, clock_of, fastest, ratio
from measured_library import add_library, use_library
from drawn_calls import drawn_calls
from model_arrays import Inputs, sampled_rows
from model_calls import CALLS
from model_report import machine, print_tables, write
from odd_calls import ODD_CALLS

# Gyre's target, what holds PyTorch and its libraries to the same instructions, and vLLM's library.
TARGETS = {
    "native": ("", {}, ""),
    "amx": ("x86_64_amx", {}, "amx"),
    "avx512_bf16": ("x86_64_avx512_bf16", {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16", "MKL_ENABLE_INSTRUCTIONS": "AVX512_E3"}, "avx512"),
    "avx512": ("x86_64_avx512", {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE", "MKL_ENABLE_INSTRUCTIONS": "AVX512"}, "avx512"),
    "avx2": ("x86_64_avx2",
             {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}, "avx2"),
}
# Largest errors of rows of about unit variance. The peers round more often.
TOLERANCE = {"f32": 1e-5, "f16": 4e-3, "bf16": 4e-2}
OF_PEERS = 3
MOST_BYTES_OF_LAYERS = 256 << 20  # keys and values as f32, of which each library may have copies of its own


def error(out, rows):
    return max(float(np.abs(out[place].astype(np.float64) - row).max()) for place, row in rows)


class Peers:
    """PyTorch, Gyre with a context of its own, and the others that are wanted. The environment is set before this is made."""

    def __init__(self, options):
        import gyre
        import model_ours
        import model_torch

        target, _, vllm_kind = TARGETS[options.target]
        self.torch, self.ours = model_torch, model_ours
        self.torch.set_up(options.threads)
        self.context = gyre.Context(threads=options.threads, target=target or None)
        self.vllm = None
        if not options.no_vllm:
            self.load_vllm(vllm_kind or kind_of(gyre.info()["features"]))
        self.onnxruntime = None
        if options.onnxruntime:
            import model_onnxruntime

            self.onnxruntime = model_onnxruntime
        self.onednn = None
        if options.onednn:
            import model_onednn

            self.onednn = model_onednn.OneDnn(options.onednn)

    def load_vllm(self, kind):
        try:
            import model_vllm

            self.vllm = model_vllm.Vllm(kind)
        except (ImportError, RuntimeError) as problem:
            print(f"without vLLM: {problem}", file=sys.stderr)


def kind_of(features):
    """vLLM's library for a processor with these."""
    if any(feature.startswith("amx") for feature in features):
        return "amx"
    return "avx512" if any(feature.startswith("avx512") for feature in features) else "avx2"


def checked_runs(call, inputs, dtype, peers):
    """By name, functions whose results are right, and all errors. Errors: RuntimeError, if ours is wrong."""
    q, k, v = peers.torch.tensors(inputs, dtype)
    out = peers.torch.results(inputs, dtype)
    options = peers.ours.keywords(call, inputs, lambda x: peers.torch.narrow(x, dtype))
    runs = {"gyre": peers.ours.prepare(peers.context, q, k, v, out, options)}
    rows = sampled_rows(inputs)
    runs["gyre"]()
    errors = {"gyre": error(out.float().numpy(), rows)}
    if not errors["gyre"] <= TOLERANCE[dtype]:
        raise RuntimeError(f"{call.name}, {dtype}: Gyre is off by {errors['gyre']:.1e}")
    others = {f"torch {form}": run for form, run in peers.torch.forms(call, inputs, dtype).items()}
    if peers.onnxruntime:
        forms = peers.onnxruntime.forms(call, inputs, dtype, peers.context.threads)
        others.update({f"onnxruntime {form}": run for form, run in forms.items()})
    alone = {name: peer.form(call, inputs, dtype) for name, peer in (("vllm", peers.vllm), ("onednn", peers.onednn)) if peer}
    others.update({name: run for name, run in alone.items() if run})
    for name, run in others.items():
        try:
            errors[name] = error(run().float().numpy(), rows)
        except RuntimeError as problem:
            print(f"{call.name}, {dtype}: left out, {name}: {problem}", file=sys.stderr)
            continue
        if errors[name] <= OF_PEERS * TOLERANCE[dtype]:
            runs[name] = run
        else:
            print(f"{call.name}, {dtype}: left out, {name} is off by {errors[name]:.1e}", file=sys.stderr)
    return runs, errors


def best_forms(runs, clock):
    """By library, the run of its fastest form; and the name of PyTorch's."""
    by_library = {}
    for name, run in runs.items():
        library, _, form = name.partition(" ")
        by_library.setdefault(library, {})[form] = run
    best = {library: fastest(forms, clock) for library, forms in by_library.items()}
    return {library: by_library[library][form] for library, form in best.items()}, best.get("torch", "")


def in_turn(runs):
    """Each of them once, again and again; a lone one without what taking turns costs, which short calls would notice."""
    if len(runs) == 1:
        return runs[0]
    steps = itertools.cycle(runs)
    return lambda: next(steps)()


def runs_of_layers(call, dtype, options, peers):
    """checked_runs() of tensors that many layers have, in turn: what a layer reads has left the caches by the time it is its turn again."""
    in_tokens = options.order == "tokens"
    first = Inputs(call, dtype, heads_in_tokens=in_tokens)
    fitting = MOST_BYTES_OF_LAYERS // (first.k.nbytes + first.v.nbytes)
    others = [Inputs(call, dtype, seed, in_tokens) for seed in range(2, 1 + min(options.layers, fitting))]
    layers = [checked_runs(call, inputs, dtype, peers) for inputs in (first, *others)]
    runs = {name: in_turn([runs[name] for runs, _ in layers]) for name in set.intersection(*(set(runs) for runs, _ in layers))}
    return runs, {name: max(errors[name] for _, errors in layers if name in errors) for name in layers[0][1]}


def measure(call, dtype, options, peers):
    """One call's figures."""
    runs, errors = runs_of_layers(call, dtype, options, peers)
    found = {"call": call.name, "dtype": dtype, "threads": peers.context.threads, "kernel": peers.context.selected_kernel,
             "error": errors["gyre"], "errors_of_others": max((errors[name] for name in errors.keys() - {"gyre"}), default=0.0)}
    clock = clock_of(peers.context.threads)
    runs, found["form"] = best_forms(runs, clock)
    times = alternate(runs, clock, options.seconds, dict.fromkeys(runs, peers.context.threads))
    found["ms"] = {name: 1e3 * float(np.median(each)) for name, each in times.items()}
    for name in times.keys() - {"gyre"}:
        found[name], found[f"{name}_noise"] = (float(x) for x in ratio(times[name], times["gyre"]))
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_library(parser)
    parser.add_argument("--dtype", choices=TOLERANCE, nargs="+", default=["bf16"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target", choices=TARGETS, default="native")
    parser.add_argument("--only", nargs="+", default=[""], help="calls whose names have one of these in them")
    parser.add_argument("--odd", action="store_true", help="the calls of odd_calls.py instead")
    parser.add_argument("--drawn", type=int, default=0, metavar="COUNT", help="calls drawn at random (drawn_calls.py) instead")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn")
    parser.add_argument("--order", choices=["heads", "tokens"], default="heads",
                        help="how queries, keys and values lie: a head's tokens side by side, or a token's heads")
    parser.add_argument("--layers", type=int, default=1, help="how many tensors of a kind are taken in turn, as layers have: decoding then reads "
                        "keys and values from memory; fewer where they are large")
    parser.add_argument("--seconds", type=float, default=1.0, help="of rounds for a call")
    parser.add_argument("--no-vllm", action="store_true")
    parser.add_argument("--onnxruntime", action="store_true", help="beside its operators, too, which have f32 and f16")
    parser.add_argument("--onednn", metavar="LIBDNNL", help="beside the Graph API of this libdnnl.so, too")
    parser.add_argument("--json", metavar="FILE", help="write the results, too")
    options = parser.parse_args()
    use_library(parser, options.library)
    return options


def listed(options):
    if options.drawn:
        return drawn_calls(options.drawn, options.seed)
    return ODD_CALLS if options.odd else CALLS


def main():
    options = arguments()
    os.environ.update(TARGETS[options.target][1])
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    calls = [call for call in listed(options) if any(part in call.name for part in options.only)]
    try:
        peers = Peers(options)
    except ImportError as problem:
        print(f"nothing to compare with: {problem}; README.md beside this program tells how to install it")
        return
    except NotImplementedError as problem:
        sys.exit(f"--target {options.target}: {problem}")
    results = []
    for dtype in options.dtype:
        for number, call in enumerate(calls, 1):
            results.append(measure(call, dtype, options, peers))
            print(f"{number} of {len(calls)}, {dtype}: {call.name}", file=sys.stderr, flush=True)
    record = {**machine(), "target": options.target, "order": options.order, "layers": options.layers, "torch": peers.torch.version(), "vllm": peers.vllm.name if peers.vllm else "",
              "results": results}
    print_tables(record)
    if options.json:
        write(record, options.json)


if __name__ == "__main__":
    main()
