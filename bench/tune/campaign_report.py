"""The report of a campaign: a table for each target, in the order of the kernels' shares, in Markdown."""

from whole_file import write_whole


def write_report(path, journal, plans):
    """plans: {target: kernels}."""
    parts = [table(target, kernels, journal) for target, kernels in plans.items()]
    write_whole(path, "# Knobs by gyre tune campaign\n\n" + "\n\n".join(parts) + "\n")


def table(target, kernels, journal):
    lines = [
        f"## {target}",
        "",
        f"{summary(kernels, journal)} Share: of the calls' time. A ratio is the time of the best candidate divided by that of the "
        "stored knobs, alternated in one process; the second is the session that confirms the first.",
        "",
        "| share | kernel | outcome | ratios | noise | candidates | knobs | machine, date |",
        "|---|---|---|---|---|---|---|---|",
        *(line(kernel, journal.outcomes.get(kernel["kernel"])) for kernel in kernels),
    ]
    return "\n".join(lines)


def summary(kernels, journal):
    found = [journal.outcomes.get(kernel["kernel"]) for kernel in kernels]
    done = [outcome for outcome in found if outcome and "failed" not in outcome]
    changed = sum(outcome["changed"] for outcome in done)
    failed = sum(1 for outcome in found if outcome and "failed" in outcome)
    return f"{len(done)} of {len(kernels)} kernels are done: {changed} changed, {len(done) - changed} stayed. {failed} failed."


def line(kernel, outcome):
    begin = f"| {100 * kernel['share']:.1f} % | `{kernel['kernel']}` | "
    if outcome is None:
        return begin + "not begun | | | | | |"
    if "failed" in outcome:
        return begin + f"failed: {one_line(outcome['failed'])} | | | | | |"
    knobs = " ".join(f"{name}={value}" for name, value in outcome["entry"]["knobs"].items()) if outcome["changed"] else ""
    return begin + (
        f"{outcome['text']} | {ratios_of(outcome)} | {100 * outcome['noise']:.1f} % | {outcome['candidates']} | {knobs} | "
        f"{outcome['machine']}, {outcome['date']} |"
    )


def ratios_of(outcome):
    return ", ".join(f"{ratio:.3f}" for ratio in outcome["ratios"]) or "none came near"


def one_line(text):
    """A text that does not end a cell of a table."""
    return " ".join(text.replace("|", "/").split())
