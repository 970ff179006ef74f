"""The study of one kernel of a campaign: that which `gyre tune KERNEL --shape … --study campaign-…` would make."""

from dataclasses import dataclass

from options import parse
from provenance import digest
from setup import Setup, sources_of
from tuning_file import TuningFile

PASSED_ON = (
    "build", "studies", "tuning", "runner", "threads", "minutes", "limit_seconds", "limit_memory", "trial_seconds", "final_seconds"
)
LIKE_IT = 6  # kernels whose knobs a study tries first


@dataclass(frozen=True)
class Place:
    """A kernel in the order of the work."""

    kernel: str  # with its target behind "__"
    shapes: list


def setup_of(place, options, recipes):
    """options: the campaign's."""
    name, target = place.kernel.rsplit("__", 1)
    recipe = recipes.get(name, target)
    database = TuningFile(options.tuning or recipes.tuning, target)
    # What the stored knobs were found on is timed, too, so that nothing of it is lost.
    shapes = dict.fromkeys([*place.shapes, *(shape.replace(" ", ",") for shape in database.shapes(recipe))])
    # A study keeps to what it began with: with other sources, knobs or shapes another one begins.
    begun_with = digest(sources_of(recipes.generators, recipe.operation), str(database.knobs(recipe)), *shapes)
    words = [name, "--target", target, *(word for shape in shapes for word in ("--shape", shape)), "--study", f"campaign-{begun_with}"]
    words += ["--sampler", "near"]  # what is stored is seldom far from the best
    for option in PASSED_ON:
        if getattr(options, option) is not None:
            words += ["--" + option.replace("_", "-"), str(getattr(options, option))]
    return Setup(parse(words, options.build), recipes, recipe)


def like_it(setup):
    """Knobs that the target's kernels of the same family have, and its kernel is worth trying with: those most like it first."""
    family, *parts = setup.recipe.variant.split("_")
    found = []
    for name, entry in setup.database.content["kernels"].items():
        operation, other_family, *others = name.split("_")
        if (operation, other_family) == (setup.recipe.operation, family):
            found.append((len(set(parts) & set(others)), name, setup.space.complete(entry["knobs"])))
    found = [knobs for *_, knobs in sorted(found, key=lambda each: (-each[0], each[1])) if is_worth_trying(setup, knobs)]
    return [knobs for place, knobs in enumerate(found) if knobs not in found[:place]][:LIKE_IT]


def is_worth_trying(setup, knobs):
    return knobs != setup.start and set(knobs) == set(setup.space.names) and setup.space.row(knobs) is not None
