"""gyre_attention() beside PyTorch's fused attention, by the backends that it has for this device: flash and cuDNN."""

SHAPES = [  # batch, heads, key heads, queries, keys, head_dim, causal
    (1, 16, 16, 4096, 4096, 128, False), (1, 16, 16, 4096, 4096, 128, True), (1, 16, 16, 16384, 16384, 128, True),
    (4, 16, 16, 4096, 4096, 64, True), (1, 16, 16, 4096, 4096, 256, True), (1, 32, 8, 1, 32768, 128, False),
    (8, 32, 8, 1, 8192, 128, False), (64, 32, 8, 1, 4096, 128, False), (16, 64, 8, 4, 8192, 64, False)]
ROTATIONS = ("plain", "rope", "roper")
SETS = 4  # of tensors that take turns


def exact(torch, q, k, v, causal):
    """In double precision, a head at a time."""
    out = torch.empty(q.shape, device="cuda", dtype=torch.float64)
    group = q.shape[1] // k.shape[1]
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            scores = q[b, h].double() @ k[b, h // group].double().T / q.shape[-1] ** 0.5
            if causal:
                hidden = torch.ones(scores.shape, dtype=torch.bool, device="cuda").triu(k.shape[2] - q.shape[2] + 1)
                scores = scores.masked_fill(hidden, float("-inf"))
            out[b, h] = scores.softmax(-1) @ v[b, h // group].double()
    return out


def make_tensors(torch, dtype, shape):
    batch, heads, key_heads, queries, keys, dim, _ = shape
    extents = [(batch, heads, queries, dim), (batch, key_heads, keys, dim), (batch, key_heads, keys, dim)]
    q, k, v = (torch.randn(extent, device="cuda").to(dtype) for extent in extents)
    return q, k, v, torch.empty_like(q)


def peer_us(torch, median_us, backend, tensors, shape):
    """None: it does not take this."""
    from torch.nn.attention import sdpa_kernel  # pylint: disable=import-outside-toplevel
    attend = torch.nn.functional.scaled_dot_product_attention
    grouped, causal = shape[1] != shape[2], shape[-1]

    def call(q, k, v, _):
        with sdpa_kernel([backend]):
            return attend(q, k, v, is_causal=causal, enable_gqa=grouped)

    try:
        return median_us([lambda t=t: call(*t) for t in tensors])
    except RuntimeError:
        return None


def measure_attention(torch, calls, median_us, dtype, shape):
    """`median_us`: of calls that take turns."""
    from torch.nn.attention import SDPBackend  # pylint: disable=import-outside-toplevel
    batch, heads, _, queries, keys, dim, causal = shape
    tensors = [make_tensors(torch, dtype, shape) for _ in range(SETS)]
    q, k, v, out = tensors[0]
    few = 2 if queries * keys > 1 << 22 else heads  # heads that are compared
    calls.attention(q, k, v, out, causal, "plain")()
    group = heads // k.shape[1]
    expected = exact(torch, q[:1, :few], k[:1, :max(few // group, 1)], v[:1, :max(few // group, 1)], causal)
    error = (out[:1, :few].double() - expected).abs().max().item()
    if not error <= (0.02 if dtype == torch.bfloat16 else 0.004):
        raise SystemExit(f"attention {dtype} {shape} is off by {error}")
    result = {"operation": "attention", "dtype": str(dtype).replace("torch.", ""), "shape": shape, "error": error,
              "flops": 4 * batch * heads * queries * keys * dim * (0.5 if causal and queries == keys else 1),
              "bytes": sum(t.numel() * t.element_size() for t in tensors[0])}
    for rotation in ROTATIONS:
        result[f"{rotation}_us"] = median_us([calls.attention(*t, causal, rotation) for t in tensors])
    for name, backend in (("flash", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION)):
        result[f"{name}_us"] = peer_us(torch, median_us, backend, tensors, shape)
    return result


def print_attention(results):
    print(f"\n{'attention':9} {'shape':34} {'us':>9} {'TFLOP/s':>8} {'GB/s':>6} {'rope':>6} {'roper':>6} {'flash':>6} {'cudnn':>6}")
    for r in results:
        us = r["plain_us"]
        ratios = (f"{r[name] / us:6.2f}" if r[name] else "     -" for name in ("rope_us", "roper_us", "flash_us", "cudnn_us"))
        print(f"{r['dtype']:9} {'x'.join(map(str, r['shape'])):34} {us:9.1f} {r['flops'] / us / 1e6:8.1f} "
              f"{r['bytes'] / us / 1e3:6.0f} {' '.join(ratios)}")
