"""Reads the phases of a task.yaml."""

from datetime import UTC, datetime

from scoring.definition import Phase
from scoring.definition.dates import read_moment
from scoring.definition.yaml_values import Value, one_of


def read_phase(value: Value) -> Phase:
    keys = value.keys()
    slug = keys.need("slug", Value.slug, "")
    runs, contrastive = keys.read("runs_per_track", Value.integer, None), keys.read("slots", _contrastive, None)
    if contrastive is not None:
        if runs is not None:
            value.at("runs_per_track").wrong("nothing beside slots, which say how many runs there are")
        runs = 1 + contrastive
    phase = Phase(
        slug=slug,
        title=keys.read("title", Value.text, slug),
        opens=keys.need("opens", read_moment, datetime.max.replace(tzinfo=UTC)),
        closes=keys.read("closes", read_moment, None),
        split=keys.read("split", Value.text, "test"),
        runs_per_track=runs,
        contrastive=contrastive,
        runs_per_day=keys.read("runs_per_day", Value.integer, None),
        scores=keys.need("scores", one_of("at-once", "on-release", "never"), "never"),
        released=keys.read("released", read_moment, None),
        official=keys.need("official", one_of("best", "last", "chosen", "all"), "best"),
        run_numbers=keys.read("run_numbers", one_of("once", "free"), "once"),
        team_names=keys.read("team_names", one_of("shown", "on-release"), "shown"),
        ladder_step=keys.read("ladder_step", Value.number, None),
    )
    keys.close()
    return phase


def _contrastive(value: Value) -> int:
    """How many runs there may be beside the one primary run."""
    keys = value.keys()
    keys.need("primary", one_of("1"), "1")
    count = keys.need("contrastive", Value.integer, 0)
    keys.close()
    return count
