"""The page of gyre tune report: plain HTML that holds its pictures and needs nothing else."""

import base64
import html

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.6rem; } h3 { font-size: 1.05rem; margin-top: 2rem; }
h2 { font-size: 1.3rem; border-top: 2px solid #ccc; padding-top: 1rem; margin-top: 2.5rem; }
table { border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; border-bottom: 1px solid #eee; }
td.number { text-align: right; font-variant-numeric: tabular-nums; } code { font-size: 13px; }
img { max-width: 100%; } figure { margin: 1rem 0; } figcaption { color: #555; font-size: 13px; }
.accepted { color: #176f2c; font-weight: 600; }
"""

CAPTIONS = {
    "comparison": "Speed in the sessions that decided, all parts taking turns in one process; higher is better.",
    "curves": "The best value so far, in time relative to the reference knobs, over the minutes that the search took.",
    "effects": "Each knob: grey, every timed trial; blue, the least time for each value; star, the best trial.",
    "importance": "How much each knob decides whether a trial is among the best tenth (PED-ANOVA).",
    "pairs": "The most important knobs in pairs: the least time found at each combination; white: not tried; star: the best.",
}


def escape(value):
    return html.escape(str(value))


def picture(path, kind):
    if path is None:
        return ""
    with open(path, "rb") as file:
        data = base64.b64encode(file.read()).decode()
    caption = escape(CAPTIONS[kind])
    return f'<figure><img alt="{caption}" src="data:image/png;base64,{data}"><figcaption>{caption}</figcaption></figure>\n'


def table(header, rows):
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    cell = '<td class="number">{}</td>', "<td>{}</td>"
    body = "".join(
        "<tr>" + "".join(cell[not isinstance(value, (int, float))].format(escape(number(value))) for value in row) + "</tr>\n"
        for row in rows
    )
    return f"<table><tr>{head}</tr>\n{body}</table>\n"


def number(value):
    return f"{value:.4g}" if isinstance(value, float) else value


def study(result, pictures):
    best, verdict = result.best(), result.verdict
    parts = [
        f"<h3>{escape(result.name)}</h3>\n<p>{len(result.trials)} trials in {result.minutes():.1f} minutes over "
        f"{result.kernel['points']} points; {escape(result.identity['--sampler'])}, seed {result.identity['--seed']}; "
        f"{result.identity['--threads']} thread(s); "
        f"{escape(result.identity['--shape'])}; {escape(result.machine)}.</p>\n"
    ]
    if verdict:
        kind = ' class="accepted"' if verdict["accepted"] else ""
        parts.append(f"<p{kind}>Measured again in the end: {escape(verdict['text'])}.</p>\n")
    if best:
        chosen = (verdict or {}).get("knobs") or best.params
        parts.append(
            table(
                ["knob", "best", "reference" if not result.autoscheduler else "default", "meaning"],
                [
                    [
                        name,
                        chosen[name],
                        (result.reference if not result.autoscheduler else result.kernel["defaults"])[name],
                        result.kernel["meanings"][name],
                    ]
                    for name in result.knobs
                ],
            )
        )
    parts += [picture(pictures[kind], kind) for kind in ("effects", "importance", "pairs")]
    parts.append(
        "<p>How trials ended:</p>\n"
        + table(
            ["outcome", "trials", "for example"],
            [
                [
                    outcome,
                    len(trials),
                    next(
                        (trial.user_attrs["record"]["text"][:300] for trial in trials if trial.user_attrs["record"]["text"]), ""
                    ),
                ]
                for outcome, trials in result.outcomes().items()
            ],
        )
    )
    return "".join(parts)


def page(sections):
    """sections: (title, results, pictures) of every kernel."""
    body = [
        "<h1>Tuning</h1>\n<p>Every candidate was compared with oracles in double precision, then timed in turns with "
        "the reference, whose time is 1; less is better.</p>\n"
    ]
    for title, results, pictures in sections:
        body.append(f"<h2>{escape(title)}</h2>\n")
        body += [picture(pictures[kind], kind) for kind in ("comparison", "curves")]
        body += [study(result, pictures[result.name]) for result in results]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>gyre tune report</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{''.join(body)}</body>\n</html>\n"
    )
