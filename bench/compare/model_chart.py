"""Draws what models.py recorded: a dot a call, a row a kind of call, further right is faster than the other library; and a table of it.

    python model_chart.py                                   writes figures/models.svg and .md again, from .json
    python model_chart.py FIGURES.json … --out PICTURE.svg [--threads 1]
"""

import argparse
import math
import pathlib
from xml.sax.saxutils import escape

from model_calls import CALLS
from model_report import PEERS, groups, read, summary

FIGURES = pathlib.Path(__file__).parent / "figures"
COLOURS = {"f32": "#1f6fb4", "f16": "#2a9d52", "bf16": "#d95f02"}
DRAWN = ("torch", "vllm")
LEFT, WIDTH, RIGHT = 270, 560, 20
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
    title = escape(f"{result['call']}, {result['dtype']}: {PEERS[peer]} {result[peer]:.2f}")
    return f'<circle cx="{place(result[peer]):.1f}" cy="{y:.1f}" r="3"><title>{title}</title></circle>'


def dots(results, peer, kinds, line):
    """Those of one type and peer; `line`: their share of a row's height."""
    colour = COLOURS[results[0]["dtype"]]
    yield f'<g stroke="{colour}" fill="{colour if peer == "torch" else "none"}" fill-opacity="0.75">'
    for result in results:
        if peer in result and result["call"] in kinds:
            yield dot(result, peer, TOP + ROW * (kinds[result["call"]] + line))
    yield "</g>"


def legend(results_by_type):
    for number, (dtype, results) in enumerate(results_by_type.items()):
        x = 16 + 280 * number
        means = ", ".join(f"{PEERS[peer]} {summary(results, peer)[0]:.2f}" for peer in DRAWN if summary(results, peer))
        yield f'<circle cx="{x}" cy="52" r="4" fill="{COLOURS[dtype]}"/>'
        yield text(x + 9, 56, f"{dtype}: {means}")


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
               (f"; hollow: {record['vllm'].split(',')[0]}" if record["vllm"] else "") + "; below: geometric means")
    yield from legend(by_type)
    yield from axis(bottom)
    for number, (name, _) in enumerate(KINDS):
        y = TOP + ROW * number
        yield text(LEFT - 10, y + ROW / 2 + 4, name, 'text-anchor="end"')
        yield f'<path d="M{LEFT} {y + ROW}h{WIDTH}" stroke="#ddd"/>'
    for line, results in enumerate(by_type.values(), 1):
        for peer in reversed(DRAWN):
            yield from dots(results, peer, kinds, line / (len(by_type) + 1))
    yield "</svg>"


def table(record, threads):
    """Every call in Markdown, that which loses most first."""
    by_type = {dtype: {result["call"]: result for result in results}
               for (dtype, number), results in groups(record["results"]).items() if number == threads}
    columns = [(dtype, peer) for dtype in by_type for peer in DRAWN]
    rows = {}
    for dtype, peer in columns:
        for name, result in by_type[dtype].items():
            rows.setdefault(name, []).append(result.get(peer))
    yield (f"Time of the other divided by Gyre's, {record['processor']}, {threads} thread{'s' if threads > 1 else ''}, target "
           f"{record['target']}, {record['date']}, PyTorch {record['torch']}, {record['vllm']}. `model_chart.py` writes this file.\n")
    yield "| call | " + " | ".join(f"{dtype}: {PEERS[peer]}" for dtype, peer in columns) + " |"
    yield "|---|" + "---|" * len(columns)
    for name, ratios in sorted(rows.items(), key=lambda row: min(ratio for ratio in row[1] if ratio)):
        yield f"| {name} | " + " | ".join(f"{ratio:.2f}" if ratio else "" for ratio in ratios) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", default=[FIGURES / "models.json"])
    parser.add_argument("--out", default=FIGURES / "models.svg")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    record = read(options.figures)
    for path, lines in ((options.out, draw), (pathlib.Path(options.out).with_suffix(".md"), table)):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines(record, options.threads))


if __name__ == "__main__":
    main()
