"""A roofline of one core: what kernels reach, under what the core's arithmetic and its memory allow.

    python roofline.py measure BUILD/bin/gyre     runs every call in turns, keeps the best of each in gallery/roofline.json, and draws
    python roofline.py draw                       draws gallery/roofline.png again

A call is at (operations for each byte that it has to read or write, operations a second). The ceilings are the peaks that
`gyre bench` measures between its runs; the slope is a copy that is larger than every cache.
"""

import argparse
import json
import pathlib
import subprocess

from picture import plt, save

GALLERY = pathlib.Path(__file__).parent / "gallery"
ROUNDS = 3
PREFILL = [(f"prompt, head size {d}", ["attention", "--causal"], f"h=8,hkv=2,lq={n},d={d}") for d in (64, 128) for n in (128, 512, 2048)]
DECODE = [
    (f"decoding, {group} queries a key head", ["attention"], f"h=16,hkv={16 // group},lq=1,lk=32768,d=128") for group in (1, 4, 16)
]
OTHERS = [
    ("linear attention", ["linear-attention", "--causal"], "h=8,lq=4096,d=64"),
    ("rotary", ["rotary"], "h=16,lq=16384,d=64"),
]
TYPES = ("f32", "bf16")
COLOURS = {"f32": "tab:blue", "bf16": "tab:orange"}
MARKS = {"prompt": "o", "decoding": "s", "linear": "^", "rotary": "D"}


def bench(program, operation, dtype, shape):
    words = [program, "bench", *operation, "--shape", shape, "--dtype", dtype, "--threads", "1", "--json"]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def measure(program):
    """The fastest run of each call, and the highest of each peak."""
    calls, peaks = {}, {}
    for _ in range(ROUNDS):
        for name, operation, shape in PREFILL + DECODE + OTHERS:
            for dtype in TYPES:
                told = bench(program, operation, dtype, shape)
                share = told["median_us"] / told["min_us"]
                call = {
                    "name": name,
                    "shape": shape,
                    "dtype": dtype,
                    "kernel": told["kernel"],
                    "gflops": told["gflops"] * share,
                    "intensity": told["gflops"] / told["gbytes_per_s"],
                }
                before = calls.get((name, shape, dtype))
                if not before or call["gflops"] > before["gflops"]:
                    calls[name, shape, dtype] = call
                peak = (told["peak_name"], told["peak_unit"])
                peaks[peak] = max(peaks.get(peak, 0), told["peak"])
    return {
        "calls": list(calls.values()),
        "peaks": [{"name": name, "unit": unit, "rate": rate} for (name, unit), rate in peaks.items()],
    }


def draw(measured):
    figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
    slope = max(peak["rate"] for peak in measured["peaks"] if peak["unit"] == "GB/s")
    ceilings = sorted((peak for peak in measured["peaks"] if peak["unit"] == "GFLOP/s"), key=lambda peak: peak["rate"])
    least = 0.5 * min(call["intensity"] for call in measured["calls"])
    most = 2 * max(call["intensity"] for call in measured["calls"])
    for peak in ceilings:
        turn = peak["rate"] / slope
        axes.plot([least, turn, most], [least * slope, peak["rate"], peak["rate"]], color="0.3", linewidth=1)
        axes.annotate(f"{peak['name']}: {peak['rate']:.0f} GFLOP/s", (most, peak["rate"]), ha="right", va="bottom", fontsize=8)
    axes.annotate(f"copy: {slope:.0f} GB/s", (2 * least, 2.4 * least * slope), rotation=48, ha="center", va="center", fontsize=8)
    told = set()
    for call in measured["calls"]:
        kind = call["name"].split(",")[0].split()[0]
        label = f"{call['name'].split(',')[0]}, {call['dtype']}"
        axes.plot(
            call["intensity"],
            call["gflops"],
            MARKS[kind],
            color=COLOURS[call["dtype"]],
            label=None if label in told else label,
        )
        told.add(label)
    axes.set_xscale("log"), axes.set_yscale("log")
    axes.set_xlabel("operations for each byte that has to be read or written")
    axes.set_ylabel("GFLOP/s, one core")
    axes.set_title("What kernels reach, under what the core and its memory allow")
    axes.legend(fontsize=8, loc="lower right")
    axes.grid(alpha=0.3)
    save(figure, GALLERY / "roofline.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("measure").add_argument("program")
    commands.add_parser("draw")
    options = parser.parse_args()
    record = GALLERY / "roofline.json"
    if options.command == "measure":
        record.write_text(json.dumps(measure(options.program), indent=1) + "\n", encoding="utf-8")
    draw(json.loads(record.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
