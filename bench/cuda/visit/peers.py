"""PyTorch on the driver's stream: its fused attention and its matrix product, as functions that give one time."""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
PRODUCT = 8192

if not torch.cuda.is_available():
    raise ImportError("PyTorch sees no device")


def replay(driver, calls):
    stream = torch.cuda.ExternalStream(driver.stream.value)
    with torch.cuda.stream(stream):
        for call in calls:
            call()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for call in calls:
                call()

    def measure():
        with torch.cuda.stream(stream):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record(stream)
            graph.replay()
            end.record(stream)
            end.synchronize()
        return 1e3 * begin.elapsed_time(end) / len(calls)

    measure()
    return measure


def ceilings(driver):
    a, b = (torch.randn(PRODUCT, PRODUCT, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    measure = replay(driver, [lambda: a @ b])
    us = sorted(measure() for _ in range(15))[7]
    return {"mma_tflop_s": 2 * PRODUCT**3 / us / 1e6, "torch": torch.__version__}


def drawn(shape, dtype, sets, **options):
    batch, heads, key_heads, queries, keys, dim, _ = shape
    extents = [(batch, heads, queries, dim), (batch, key_heads, keys, dim), (batch, key_heads, keys, dim)]
    return [[torch.randn(extent, device="cuda", dtype=DTYPES[dtype], **options) for extent in extents] for _ in range(sets)]


def gradients(driver, shape, dtype, sets):
    """The backends that take this shape."""
    tensors, found = drawn(shape, dtype, sets, requires_grad=True), {}
    grouped = shape[1] != shape[2]
    stream = torch.cuda.ExternalStream(driver.stream.value)  # gradients are formed on the stream of the forward calls
    for name, backend in BACKENDS.items():
        try:
            with sdpa_kernel([backend]), torch.cuda.stream(stream):
                outs = [scaled_dot_product_attention(*t, is_causal=bool(shape[-1]), enable_gqa=grouped) for t in tensors]
                grads = [torch.randn_like(out) for out in outs]
            stream.synchronize()
            found[name] = replay(driver, [lambda o=o, t=t, g=g: torch.autograd.grad(o, t, g, retain_graph=True)
                                          for o, t, g in zip(outs, tensors, grads)])
        except RuntimeError:
            torch.cuda.synchronize()
    return found


def attention(driver, shape, dtype, sets):
    """The backends that take this shape."""
    _, heads, key_heads, _, _, _, causal = shape
    tensors, found = drawn(shape, dtype, sets), {}
    for name, backend in BACKENDS.items():
        def call(q, k, v, backend=backend):
            with sdpa_kernel([backend]):
                return scaled_dot_product_attention(q, k, v, is_causal=bool(causal), enable_gqa=heads != key_heads)

        try:
            found[name] = replay(driver, [lambda t=t: call(*t) for t in tensors])
        except RuntimeError:
            torch.cuda.synchronize()
    return found
