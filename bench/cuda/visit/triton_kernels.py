"""Stage: PyTorch's flex attention, whose kernels Triton makes on the spot, on two of the shapes of timings."""

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import peers
from timings import ROUNDS, SETS, medians

SHAPES = [(1, 16, 16, 4096, 4096, 128, 1), (4, 16, 16, 4096, 4096, 64, 1)]


def run(driver, options, say):
    compiled = torch.compile(flex_attention, dynamic=False)
    for shape in SHAPES:
        queries, keys = shape[3:5]
        mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, queries, keys, device="cuda")
        calls = [lambda t=t: compiled(*t, block_mask=mask) for t in peers.drawn(shape, "bf16", SETS)]
        say({"shape": shape, "ok": True, "us": medians({"triton": peers.replay(driver, calls)}, ROUNDS)["triton"]})
