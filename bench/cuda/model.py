"""How long attention's main loop takes by a model of a multiprocessor, where there is no device to ask. Nothing here was measured.

One turn of a block of threads multiplies its rows by a block of keys. A multiprocessor takes the longest of these for it:

    tensor      products by its tensor cores
    shared      bytes that tiles are loaded from and copied into shared memory by, 128 a cycle
    issue       instructions of its warps, one a cycle for each of four schedulers

and what warps do beside products, loads of tiles and copies, mostly the softmax, which they do at the same time, between barriers: only
other blocks of the same multiprocessor multiply meanwhile. Counts are of machine code (tests/cuda/budgets_test.py).
"""

import dataclasses

SCHEDULERS = 4
SHARED_BYTES = 128  # a cycle
WARP_BYTES = 32 * 16  # that a load of four tiles, or a copy of 16 bytes a lane, moves
PRODUCT = 16 * 8 * 16  # multiply-adds of one mma
RESERVED_SHARED = 1024  # of each block


@dataclasses.dataclass(frozen=True)
class Device:
    name: str
    multiprocessors: int
    ghz: float
    products: int  # multiply-adds a cycle of a multiprocessor, by mma
    registers: int = 65536
    shared: int = 167936
    threads: int = 2048


# mma reaches 65 % of an H100's peak, which only wgmma has.
A100 = Device("A100", 108, 1.41, 1024)
H100 = Device("H100", 132, 1.755, 1336, shared=233472)
DEVICES = {"sm_80": A100, "sm_90": H100}


@dataclasses.dataclass(frozen=True)
class Loop:
    """What one warp executes in a turn, and what its block of threads is."""

    instructions: int
    products: int  # mma
    tiles: int  # loads of four tiles
    copies: int  # of 16 bytes a lane
    warps: int
    registers: int  # of a thread
    shared: int  # bytes of a block


def blocks_at_once(loop, device):
    """Blocks of threads that a multiprocessor has room for."""
    of_warp = -(-loop.registers // 8) * 8 * 32
    return max(min(device.registers // (of_warp * loop.warps), device.shared // (loop.shared + RESERVED_SHARED),
                   device.threads // (32 * loop.warps)), 1)


def cycles(loop, device):
    """Cycles of a multiprocessor for one turn of a block: {what: cycles, "turn": all}."""
    parts = {
        "tensor": loop.products * loop.warps * PRODUCT / device.products,
        "shared": (loop.tiles + loop.copies) * loop.warps * WARP_BYTES / SHARED_BYTES,
        "issue": loop.instructions * loop.warps / SCHEDULERS,
    }
    beside = (loop.instructions - loop.products - loop.tiles - loop.copies) * loop.warps / SCHEDULERS
    parts["exposed"] = beside / blocks_at_once(loop, device)
    return {**parts, "turn": max(parts["tensor"], parts["shared"], parts["issue"]) + parts["exposed"]}


def tflop_s(loop, device):
    """Of all multiprocessors in the loop; what is around it is left out."""
    flop = 2 * loop.products * loop.warps * PRODUCT
    return flop / cycles(loop, device)["turn"] * device.multiprocessors * device.ghz / 1e3


def told(loop, device):
    """One line."""
    found = cycles(loop, device)
    parts = ", ".join(f"{name} {count:.0f}" for name, count in found.items() if name != "turn")
    return (f"{device.name}: {found['turn']:.0f} cycles a turn ({parts}), {blocks_at_once(loop, device)} blocks at once, "
            f"{tflop_s(loop, device):.0f} TFLOP/s by the model")
