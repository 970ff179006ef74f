"""What a visit found, as a table that fits in the end of a log."""

import json

MOST = 12000  # characters


def line(result):
    fields = []
    for name, value in result.items():
        if name in ("stage", "ok") or value in (None, ""):
            continue
        if isinstance(value, float):
            value = f"{value:.4g}"
        elif isinstance(value, dict):
            value = " ".join(f"{key}={part:.4g}" if isinstance(part, float) else f"{key}={part}" for key, part in value.items())
        elif isinstance(value, list):
            value = "x".join(map(str, value))
        elif name == "error":
            value = " ".join(str(value).split())[-200:]
        fields.append(f"{name} {value}" if name not in ("kernel", "shape", "us") else str(value))
    return ("" if result.get("ok", True) else "FAILED ") + ", ".join(fields)


def table(path):
    """Every stage's end first, then what failed, then the rest as far as there is room."""
    with open(path, encoding="utf-8") as file:
        results = [json.loads(text) for text in file if text.strip()]
    ends = [f"{r['stage']:10} {'ok' if r['ended'] == 0 else r['ended']} {r['seconds']} s, "
            f"{sum(x['stage'] == r['stage'] and x.get('ok') is True for x in results)} ok, "
            f"{sum(x['stage'] == r['stage'] and x.get('ok') is False for x in results)} failed" for r in results if "ended" in r]
    failed = [f"{r['stage']}: {line(r)}" for r in results if r.get("ok") is False]
    order = {"timings": 0, "gradients": 1, "triton": 2, "variants": 3, "machine": 4, "counters": 5, "accuracy": 6}
    good = sorted((r for r in results if r.get("ok") is True), key=lambda r: order.get(r["stage"], 9))
    text, left = "\n".join(ends), 0
    for row in [*failed, *(f"{r['stage']}: {line(r)}" for r in good)]:
        if len(text) + len(row) + 40 < MOST:
            text += "\n" + row
        else:
            left += 1
    return text + (f"\n{left} more lines in visit.jsonl" if left else "")
