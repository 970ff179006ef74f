"""How long attention's main loop takes by a model of a multiprocessor, where there is no device to ask. Nothing here was measured.

One turn of a block of threads multiplies its rows by a block of keys. A multiprocessor takes the longest of these for it:

    tensor      products by its tensor cores
    shared      bytes that tiles are loaded from and copied into shared memory by, 128 a cycle
    issue       instructions of its warps, one a cycle for each of four schedulers

and what warps do beside products, loads of tiles and copies, mostly the softmax, which they do at the same time, between barriers: only
other blocks of the same multiprocessor multiply meanwhile. Products of warpgroups (wgmma) read their right operand from shared memory
themselves. Counts are of machine code (tests/cuda/budgets_test.py).
"""

import dataclasses

SCHEDULERS = 4
SHARED_BYTES = 128  # a cycle
WARP_BYTES = 32 * 16  # that a load of four tiles, or a copy of 16 bytes a lane, moves
PRODUCT = 16 * 8 * 16  # multiply-adds of one mma
WARPGROUP = 4  # warps
COLUMN = 64 * 16  # multiply-adds of one column of a warpgroup's product
COLUMN_BYTES = 16 * 2  # that it reads
RESERVED_SHARED = 1024  # of each block
LATENCY = 800  # cycles of a load from device memory
WAITS = 3  # for such loads before the first turn: of lists, queries, and the first keys and values


@dataclasses.dataclass(frozen=True)
class Device:
    name: str
    multiprocessors: int
    ghz: float
    products: int  # multiply-adds a cycle of a multiprocessor, by mma
    registers: int = 65536
    shared: int = 167936
    threads: int = 2048
    of_warpgroups: int = 0  # likewise, by wgmma


# mma reaches 65 % of an H100's peak, which only wgmma has.
A100 = Device("A100", 108, 1.41, 1024)
H100 = Device("H100", 132, 1.755, 1336, shared=233472, of_warpgroups=2048)
DEVICES = {"sm_80": A100, "sm_90": H100, "sm_90a": H100}


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
    columns: int = 0  # of products of a warpgroup, 64 x 16 multiply-adds each
    around: int = 0  # instructions before and after the loop; 0: not known
    queries: int = 0  # numbers of a block's queries, likewise

    def multiply_adds(self):
        """Of a block of threads."""
        return self.products * self.warps * PRODUCT + self.columns * COLUMN * self.warps // WARPGROUP


def blocks_at_once(loop, device):
    """Blocks of threads that a multiprocessor has room for."""
    of_warp = -(-loop.registers // 8) * 8 * 32
    return max(min(device.registers // (of_warp * loop.warps), device.shared // (loop.shared + RESERVED_SHARED),
                   device.threads // (32 * loop.warps)), 1)


def cycles(loop, device):
    """Cycles of a multiprocessor for one turn of a block: {what: cycles, "turn": all}."""
    groups = loop.warps / WARPGROUP
    of_column = COLUMN * groups / device.of_warpgroups if loop.columns else 0
    read = loop.columns * groups * COLUMN_BYTES
    parts = {
        "tensor": loop.products * loop.warps * PRODUCT / device.products + loop.columns * of_column,
        "shared": ((loop.tiles + loop.copies) * loop.warps * WARP_BYTES + read) / SHARED_BYTES,
        "issue": loop.instructions * loop.warps / SCHEDULERS,
    }
    beside = (loop.instructions - loop.products - loop.tiles - loop.copies) * loop.warps / SCHEDULERS
    parts["exposed"] = beside / blocks_at_once(loop, device)
    return {**parts, "turn": max(parts["tensor"], parts["shared"], parts["issue"]) + parts["exposed"]}


def whole(loop, turns, device):
    """Cycles of a multiprocessor for a block with so many turns, and what is around them: that and what it waits for only other blocks hide."""
    beside = loop.around * loop.warps / SCHEDULERS + WAITS * LATENCY
    return turns * cycles(loop, device)["turn"] + beside / blocks_at_once(loop, device)


def whole_tflop_s(loop, turns, device):
    return 2 * loop.multiply_adds() * turns / whole(loop, turns, device) * device.multiprocessors * device.ghz / 1e3


def tflop_s(loop, device):
    """Of all multiprocessors in the loop; what is around it is left out."""
    return 2 * loop.multiply_adds() / cycles(loop, device)["turn"] * device.multiprocessors * device.ghz / 1e3


def waits_of_merge(parts, few_rows):
    """How many loads a thread of a kernel that merges waits for, one after the other (generators/attention/merge/merge_schedule_cuda.cpp): two of the
    lse of parts that it has a share of, and one of each part's feature, or of a share of them."""
    lanes, shares = (32, 8) if few_rows else (16, 1)
    return 2 * -(-parts // lanes) + -(-parts // shares)


def told(loop, device):
    """One line."""
    found = cycles(loop, device)
    parts = ", ".join(f"{name} {count:.0f}" for name, count in found.items() if name != "turn")
    return (f"{device.name}: {found['turn']:.0f} cycles a turn ({parts}), {blocks_at_once(loop, device)} blocks at once, "
            f"{tflop_s(loop, device):.0f} TFLOP/s by the model")
