"""Draws what models.py recorded: a dot a call, a row a kind of call, further right is faster than the other library.

    python model_chart.py FIGURES.json PICTURE.svg [--threads 1]
"""

import argparse
import json
import math
from xml.sax.saxutils import escape

from model_calls import CALLS
from model_report import PEERS, groups, summary

COLOURS = {"f32": "#1f6fb4", "f16": "#2a9d52", "bf16": "#d95f02"}
NAMES = {"torch": "PyTorch", "vllm": "vLLM"}
LEFT, WIDTH, RIGHT = 250, 560, 20
TOP, ROW, FOOT = 66, 36, 44
LEAST, MOST = 1 / 32, 32
TICKS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16)

KINDS = (
    ("decoding with ALiBi, bias, cap or sinks", lambda c: c.queries == 1 and (c.alibi or c.relative_bias or c.softcap or c.sinks)),
    ("decoding, each head has keys of its own", lambda c: c.queries == 1 and c.group == 1),
    ("decoding, heads share keys", lambda c: c.queries == 1),
    ("chunks, drafts and few tokens", lambda c: c.queries < c.keys / 2 and c.causal or c.mask == "tree" or c.queries < 32),
    ("ALiBi, bias, cap or sinks", lambda c: c.alibi or c.relative_bias or c.softcap or c.sinks),
    ("padded batches, documents, prefixes", lambda c: c.padding or c.mask),
    ("windows", lambda c: c.window),
    ("rotated in the call", lambda c: c.rope),
    ("prompts", lambda c: c.causal),
    ("head sizes 40, 72, 80, 160", lambda c: c.head_dim in (40, 72, 80, 160)),
    ("encoders of text, images, speech", lambda c: True),
)


def kind_of(call):
    return next(number for number, (_, belongs) in enumerate(KINDS) if belongs(call))


def place(ratio):
    """Pixels from the left."""
    share = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + share * WIDTH


def text(x, y, words, more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" {more}>{escape(words)}</text>'


def axis(bottom):
    yield f'<rect x="{LEFT}" y="{TOP}" width="{place(1) - LEFT:.0f}" height="{bottom - TOP}" fill="#f6e3e0"/>'
    for tick in TICKS:
        x = place(tick)
        yield f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="{"#333" if tick == 1 else "#ccc"}"/>'
        yield text(x, bottom + 16, f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}", 'text-anchor="middle"')
    yield text(place(1) - 6, bottom + 34, "the other is faster", 'text-anchor="end"')
    yield text(place(1) + 6, bottom + 34, "Gyre is faster: time of the other / time of Gyre")


def dot(result, peer, y):
    colour = COLOURS[result["dtype"]]
    fill = colour if peer == "torch" else "none"
    title = escape(f"{result['call']}, {result['dtype']}: {NAMES[peer]} / Gyre {result[peer]:.2f}")
    return (f'<circle cx="{place(result[peer]):.1f}" cy="{y:.1f}" r="3.2" fill="{fill}" fill-opacity="0.75" stroke="{colour}">'
            f"<title>{title}</title></circle>")


def legend(results_by_type):
    x = LEFT
    for dtype, results in results_by_type.items():
        means = ", ".join(f"{NAMES[peer]} {summary(results, peer)[0]:.2f}" for peer in PEERS if summary(results, peer))
        yield f'<circle cx="{x + 4}" cy="52" r="4" fill="{COLOURS[dtype]}"/>'
        yield text(x + 13, 56, f"{dtype} (mean: {means})")
        x += 190


def draw(record, threads):
    by_type = {dtype: results for (dtype, number), results in groups(record["results"]).items() if number == threads}
    kinds = {call.name: kind_of(call) for call in CALLS}
    bottom = TOP + ROW * len(KINDS)
    width, height = LEFT + WIDTH + RIGHT, bottom + FOOT
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif" font-size="12">')
    yield f'<rect width="{width}" height="{height}" fill="white"/>'
    yield text(12, 20, f"Attention calls of models: {record['processor']}, {threads} thread{'s' if threads > 1 else ''}, target "
                       f"{record['target']}, {record['date']}", 'font-size="14" font-weight="bold"')
    yield text(12, 38, f"full: PyTorch {record['torch'].split('+')[0]}, its best form of each call" +
               (f"; hollow: {record['vllm'].split(',')[0]}" if record["vllm"] else ""))
    yield from legend(by_type)
    yield from axis(bottom)
    for number, (name, _) in enumerate(KINDS):
        y = TOP + ROW * number
        yield text(LEFT - 10, y + ROW / 2 + 4, name, 'text-anchor="end"')
        yield f'<path d="M{LEFT} {y + ROW}h{WIDTH}" stroke="#ddd"/>'
        for line, results in enumerate(by_type.values(), 1):
            height_of_line = y + ROW * line / (len(by_type) + 1)
            for result in results:
                if kinds.get(result["call"]) == number:
                    yield from (dot(result, peer, height_of_line) for peer in reversed(PEERS) if peer in result)
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures")
    parser.add_argument("picture")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    with open(options.figures, encoding="utf-8") as file:
        record = json.load(file)
    with open(options.picture, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in draw(record, options.threads))


if __name__ == "__main__":
    main()
