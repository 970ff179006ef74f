"""Times the linear layer with GELU beside PyTorch's, in turns in one process, one thread each: processor time, minima.

    cmake --build build && python measure.py build/libmatmul_shared.so [--target x86_64_avx512_bf16] [--size 1024]

Needs PyTorch. The library is the target matmul_shared of this project.
"""

import argparse
import ctypes
import os
import time

os.environ["HL_NUM_THREADS"] = "1"  # of Halide's runtime

import torch
from torch.nn import functional


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Dimension(ctypes.Structure):
    _fields_ = [("min", ctypes.c_int32), ("extent", ctypes.c_int32), ("stride", ctypes.c_int32), ("flags", ctypes.c_uint32)]


class Buffer(ctypes.Structure):
    """halide_buffer_t of a dense tensor."""

    _fields_ = [("device", ctypes.c_uint64), ("interface", ctypes.c_void_p), ("host", ctypes.c_void_p), ("flags", ctypes.c_uint64),
                ("type", Type), ("dimensions", ctypes.c_int32), ("dim", ctypes.POINTER(Dimension)), ("padding", ctypes.c_void_p)]

    def __init__(self, tensor):
        kinds = {torch.float32: Type(2, 32, 1), torch.bfloat16: Type(4, 16, 1)}
        self.extents = (Dimension * tensor.dim())(*(Dimension(0, n, s, 0) for n, s in zip(tensor.shape[::-1], tensor.stride()[::-1])))
        super().__init__(0, None, tensor.data_ptr(), 0, kinds[tensor.dtype], tensor.dim(), self.extents, None)


def kernel(path, target, tensors):
    call = getattr(ctypes.CDLL(os.path.abspath(path)), f"matmul__{target}_argv")
    buffers, context = [Buffer(tensor) for tensor in tensors], ctypes.c_void_p()
    arguments = (ctypes.c_void_p * 5)(ctypes.addressof(context), *map(ctypes.addressof, buffers))

    def run(_keep=(buffers, context)):
        if call(arguments):
            raise SystemExit("the kernel failed")

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--target", default="x86_64_avx512_bf16")
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    n = options.size
    x, w = torch.randn(n, n).bfloat16(), (torch.randn(n, n) / n**0.5).bfloat16()
    bias, out = torch.randn(n).bfloat16().float(), torch.empty(n, n, dtype=torch.bfloat16)
    rows = {
        "gyre: linear + GELU": kernel(options.library, options.target, (x, w, bias, out)),
        "torch: linear + GELU": lambda: functional.gelu(functional.linear(x, w, bias.bfloat16())),
        "torch: linear + GELU by tanh": lambda: functional.gelu(functional.linear(x, w, bias.bfloat16()), approximate="tanh"),
        "torch: linear": lambda: functional.linear(x, w, bias.bfloat16()),
        "torch: product": lambda: x @ w.t(),
    }
    seconds = {name: [] for name in rows}
    with torch.inference_mode():
        for run in rows.values():
            run()
        exact = functional.gelu(functional.linear(x.double(), w.double(), bias.double()))
        print(f"largest error of gyre's results: {(out.double() - exact).abs().max():.2e}")
        for _ in range(options.rounds):
            for name, run in rows.items():
                begin = time.process_time()
                run()
                seconds[name].append(time.process_time() - begin)
    ours = min(seconds["gyre: linear + GELU"])
    for name, times in seconds.items():
        print(f"{name:30} {2e-9 * n**3 / min(times):7.0f} GFLOP/s   gyre's time is {ours / min(times):.2f} of it")


if __name__ == "__main__":
    main()
