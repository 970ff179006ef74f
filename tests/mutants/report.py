"""What came of the mutants, by area."""

STATES = ("killed", "survived", "does not build", "not run")


def table(mutants, results):
    """A table of Markdown. Survivors that are equivalent to the original stand apart."""
    areas = sorted({mutant["area"] for mutant in mutants})
    lines = ["| area | mutants | killed | survived | equivalent | does not build | not run |", "|---|---|---|---|---|---|---|"]
    total = [0] * 6
    for area in areas:
        own = [mutant for mutant in mutants if mutant["area"] == area]
        counts = count(own, results)
        total = [a + b for a, b in zip(total, counts)]
        lines.append(f"| {area} | " + " | ".join(map(str, counts)) + " |")
    lines.append("| all | " + " | ".join(map(str, total)) + " |")
    run = total[1] + total[2]
    if run:
        lines.append(f"\nkilled: {total[1]} of {run} that are no equivalents, {100 * total[1] / run:.1f} %")
    return "\n".join(lines)


def count(mutants, results):
    states = [results.get(mutant["name"], {}).get("status", "not run") for mutant in mutants]
    equivalent = sum(state == "survived" and "equivalent" in mutant for state, mutant in zip(states, mutants))
    killed, survived, broken, not_run = (states.count(state) for state in STATES)
    return [len(mutants), killed, survived - equivalent, equivalent, broken, not_run]
