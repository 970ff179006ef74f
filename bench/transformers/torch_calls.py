"""What a call of gyre.torch costs on one token, beside an empty operator and PyTorch's attention.

    python torch_calls.py [--rounds 200] [--calls 200]

Needs PyTorch, gyre.torch (runtime/python) and a C++ compiler, which makes the empty operator: it takes the arguments of a short call and gives q back.
Calls take turns on one thread. Printed are each call's shortest and middle time, in microseconds, and how much longer than the empty operator it takes.
"""

import argparse
import pathlib
import statistics
import subprocess
import tempfile
import time

import gyre.torch
import torch
import torch.nn.functional as F

EMPTY = """
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>
using torch::stable::Tensor;
Tensor same(const Tensor &q, const Tensor &, const Tensor &, double, bool, int64_t) { return q; }
STABLE_TORCH_LIBRARY(gyre_bench, m) { m.def("same(Tensor q, Tensor k, Tensor v, float scale, bool causal, int layout) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(gyre_bench, CPU, m) { m.impl("same", TORCH_BOX(&same)); }
"""


def empty_operator():
    package = pathlib.Path(torch.__file__).parent
    with tempfile.TemporaryDirectory(prefix="gyre-bench-") as folder:
        source, library = pathlib.Path(folder) / "empty.cpp", pathlib.Path(folder) / "empty.so"
        source.write_text(EMPTY)
        subprocess.run(["c++", "-std=c++20", "-O2", "-fPIC", "-shared", "-DTORCH_TARGET_VERSION=0x020a000000000000", f"-I{package}/include",
                        str(source), "-o", str(library), f"{package}/lib/libtorch_cpu.so", "-Wl,--allow-shlib-undefined"], check=True)
        torch.ops.load_library(str(library))
    return torch.ops.gyre_bench.same.default


def calls():
    """The calls by name; the first is the empty operator."""
    q, k, v = (torch.randn(1, 1, 1, 64) for _ in range(3))
    halves = [x.bfloat16() for x in (q, k, v)]
    rope, held, empty, attention = gyre.Rope(), torch.tensor([1], dtype=torch.int32), empty_operator(), gyre.torch.attention

    return {
        "empty operator": lambda: empty(q, k, v, 0.0, True, 1),
        "attention, f32": lambda: attention(q, k, v, causal=True),
        "attention, bf16": lambda: attention(*halves, causal=True),
        "with softcap": lambda: attention(q, k, v, causal=True, softcap=3.0),
        "with rope": lambda: attention(q, k, v, causal=True, rope=rope),
        "with rope, seqused_k, keys_rotated": lambda: attention(q, k, v, causal=True, rope=rope, seqused_k=held, keys_rotated=True),
        "with lse": lambda: attention(q, k, v, causal=True, return_lse=True),
        "PyTorch's, f32": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "PyTorch's, bf16": lambda: F.scaled_dot_product_attention(*halves, is_causal=True),
    }


def times_of(functions, rounds, count):
    """Microseconds a call, a list of rounds each."""
    times = [[] for _ in functions]
    for _ in range(rounds):
        for function, of_function in zip(functions, times):
            start = time.perf_counter_ns()
            for _ in range(count):
                function()
            of_function.append((time.perf_counter_ns() - start) / count / 1000)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--calls", type=int, default=200, help="in a round")
    options = parser.parse_args()
    torch.set_num_threads(1)
    named = calls()
    found = [(min(times), statistics.median(times)) for times in times_of(list(named.values()), options.rounds, options.calls)]
    print(f"{'':36} shortest  middle  above the empty operator")
    for name, (shortest, middle) in zip(named, found):
        print(f"{name:36} {shortest:8.2f} {middle:7.2f} {shortest - found[0][0]:8.2f} {middle - found[0][1]:7.2f}")


if __name__ == "__main__":
    main()
