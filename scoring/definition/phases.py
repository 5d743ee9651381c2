"""Phases in task.yaml: time windows with their own limits and score release."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from scoring.definition.dates import MOMENT
from scoring.definition.keys import Key, Values, declare, mapping
from scoring.definition.kinds import SLUG, SPLIT, TEXT, WHOLE, converted, limited, number, one_of
from scoring.definition.tracks import slug_of
from scoring.definition.yaml_values import Value

SLOTS = converted(
    mapping(
        [
            Key("primary", one_of(1), "Always 1: the official run of the team on the track."),
            Key("contrastive", WHOLE, "Number of additional runs that a team may upload for the track."),
        ],
        Values,
    ),
    lambda slots: int(slots["contrastive"]),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A time window [opens, closes) with its own rules. If `closes` is None, the phase stays open."""

    slug: str = declare(SLUG, "Short name of the phase in URLs and exports.")
    title: str = declare(limited(TEXT, 120), "Name of the phase in lists and headings.", default=slug_of)
    opens: datetime = declare(MOMENT, "When the phase starts to accept runs.")
    closes: datetime | None = declare(
        MOMENT, "When the phase stops accepting runs. Without it, the phase stays open.", default=None
    )
    split: str = declare(SPLIT, "Split whose items and gold standards the phase uses.", default="test")
    contrastive: int | None = declare(
        SLOTS,
        "Slots for one primary run per track, which is the official run, and for contrastive runs. Use it instead of "
        "`runs_per_track`, with `official: chosen`. The first run is the primary run unless the team chooses "
        "otherwise. Teams can choose another run until the phase closes.",
        default=None,
        name="slots",
    )
    runs_per_track: int | None = declare(
        WHOLE,
        "Number of runs that a team may upload for a track in the whole phase. Without it, there is no limit.",
        default=None,
    )
    runs_per_day: int | None = declare(
        WHOLE,
        "Number of runs that a team may upload for a track per day (UTC). Without it, there is no limit.",
        default=None,
    )
    scores: Literal["at-once", "on-release", "never"] = declare(
        one_of("at-once", "on-release", "never"), "When scores are public: immediately, from `released` on, or never."
    )
    released: datetime | None = declare(
        MOMENT,
        "With `scores: on-release`, when scores become public. Without it, scores stay hidden until you release them.",
        default=None,
    )
    official: Literal["best", "last", "chosen", "all"] = declare(
        one_of("best", "last", "chosen", "all"),
        "Which runs of a team are ranked: the best run, the last run, the run that the team chooses, or all runs.",
    )
    run_numbers: Literal["once", "free"] = declare(
        one_of("once", "free"), "Whether a team can use a run number only once or any number of times.", default="once"
    )
    team_names: Literal["shown", "on-release"] = declare(
        one_of("shown", "on-release"),
        "With `on-release`, boards show aliases instead of team names until `released`.",
        default="shown",
    )
    ladder_step: float | None = declare(
        number(above=0, example="0.01"),
        "Until the phase closes, a score is shown only if it beats the best score shown so far by more than this step, "
        "and is rounded to it; see [the ladder](for-organizers.md#a-ladder). With `scores: at-once` and "
        "`official: best` only.",
        default=None,
    )


def finish_phase(value: Value, values: Values) -> None:
    """Set the run limit from the slots."""
    if values["contrastive"] is None:
        return
    if values["runs_per_track"] is not None:
        value.at("runs_per_track").invalid("no runs_per_track, because slots set the number of runs")
    values["runs_per_track"] = 1 + values["contrastive"]
