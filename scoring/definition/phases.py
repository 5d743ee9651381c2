"""Phases in task.yaml: time windows, each with its own limits and its own rules for releasing scores."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from scoring.definition.dates import MOMENT
from scoring.definition.keys import Key, Values, declare, mapping
from scoring.definition.kinds import SLUG, SPLIT, TEXT, WHOLE, WORD, converted, limited, many, number, one_of, whole
from scoring.definition.tracks import Track, slug_of
from scoring.definition.yaml_values import Value

SLOTS = converted(
    mapping(
        [
            Key("primary", one_of(1), "Always 1. The primary run is the team's official run on the track."),
            Key("contrastive", WHOLE, "Number of additional runs that a team can upload for each track."),
        ],
        Values,
    ),
    lambda slots: int(slots["contrastive"]),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A time window [opens, closes) with its own rules. If `closes` is None, the phase remains open."""

    slug: str = declare(SLUG, "Short name of the phase in URLs and exports.")
    title: str = declare(limited(TEXT, 120), "Name of the phase in lists and headings.", default=slug_of)
    opens: datetime = declare(MOMENT, "When the phase starts accepting runs.")
    closes: datetime | None = declare(
        MOMENT, "When the phase stops accepting runs. If omitted, the phase never closes.", default=None
    )
    split: str = declare(SPLIT, "Split that determines which items and gold standards the phase uses.", default="test")
    tracks: tuple[str, ...] = declare(
        many(WORD, least=1, each_once=True),
        "Slugs of the tracks for which the phase accepts runs. Each must have items in the phase's split. If omitted, "
        "these are all tracks with items in the split.",
        default=(),
    )
    contrastive: int | None = declare(
        SLOTS,
        "Slots for one primary run per track, which is the official run, and for contrastive runs. Use slots "
        "instead of `runs_per_track`, and set `official: chosen`. By default, a team's first run is its primary "
        "run. Teams can choose a different primary run until the phase closes.",
        default=None,
        name="slots",
    )
    runs_per_track: int | None = declare(
        WHOLE,
        "Number of runs that a team can upload for each track during the entire phase. If omitted, there is no limit.",
        default=None,
    )
    max_submissions: int | None = declare(
        one_of(1),
        "With 1, each team has a single submission, which contains all of its runs. A later upload replaces the "
        "earlier one as soon as it is accepted, and `runs_per_track` limits the runs of each upload. Requires "
        "`run_numbers: free` and `scores: on-release` or `never`. If omitted, all uploads of a team count.",
        default=None,
        name="submissions",
    )
    runs_per_day: int | None = declare(
        WHOLE,
        "Number of runs that a team can upload for each track per day (UTC). If omitted, there is no limit.",
        default=None,
    )
    scores: Literal["at-once", "on-release", "never"] = declare(
        one_of("at-once", "on-release", "never"),
        "When scores become public: immediately, at the time set by `released`, or never. A phase that never shows "
        "scores needs `closes`.",
    )
    released: datetime | None = declare(
        MOMENT,
        "Only for `scores: on-release`. When scores become public. If omitted, scores are hidden until you release "
        "them.",
        default=None,
    )
    official: Literal["best", "last", "chosen", "all"] = declare(
        one_of("best", "last", "chosen", "all"),
        "Which of a team's runs are ranked: the best run, the most recent run, the run that the team chooses, or "
        "all runs.",
    )
    run_numbers: Literal["once", "free"] = declare(
        one_of("once", "free"),
        "Whether a team can use each run number only once or any number of times.",
        default="once",
    )
    team_names: Literal["shown", "on-release"] = declare(
        one_of("shown", "on-release"),
        "With `on-release`, leaderboards show aliases instead of team names until the time set by `released`.",
        default="shown",
    )
    round_days: int | None = declare(
        whole(366),
        "Repeats the phase in rounds of this many days, for practice and demos. `closes` is the deadline of the first "
        "round. At each deadline, the next round begins and the `runs_per_track` limit is reset. Runs stay "
        "on the leaderboard. Requires `scores: at-once`, `run_numbers: free` and `official: best`, `last` or `all`.",
        default=None,
    )
    ladder_step: float | None = declare(
        number("0.01"),
        "Until the phase closes, a score is shown only if it beats, by more than this step, every score already shown "
        "to the team or to the person who uploaded the run. Shown scores are rounded to the step. See [A ladder]"
        "(for-organizers.md#a-ladder). Requires `scores: at-once` and `official: best`.",
        default=None,
    )

    def accepts(self, track: Track) -> bool:
        """Return whether the phase accepts runs for this track."""
        return self.split in track.items and (not self.tracks or track.slug in self.tracks)


def finish_phase(value: Value, values: Values) -> None:
    """Set the run limit from the number of slots."""
    if values["contrastive"] is None:
        return
    if values["runs_per_track"] is not None:
        value.at("runs_per_track").invalid("no runs_per_track, because slots already set the number of runs")
    values["runs_per_track"] = 1 + values["contrastive"]
