"""A shared task's definition: task.yaml as frozen, checked objects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from scoring.reports.problems import Report


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One metric of a track: `f1:YES` has name `f1` and part `YES`; options are the metric's own parameters."""

    name: str
    part: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The name under which the score is reported."""
        return f"{self.name}:{self.part}" if self.part else self.name


@dataclass(frozen=True, slots=True)
class FormatSpec:
    """How a run file (or a gold file) is written: a kind from the registry of `scoring.formats` and its options."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Track:
    """One thing that can be ranked."""

    slug: str
    title: str
    description: str
    language: str | None
    format: FormatSpec
    hierarchy: Mapping[str, tuple[str, ...]] | None
    items: Mapping[str, Path]  # split → file of public ids, one a line
    optional_items: Mapping[str, Path]  # split → file of ids that a run may hold too, all or none
    metrics: tuple[MetricSpec, ...]
    rank_by: str  # key of the ranking metric
    decimals: int
    missing: Literal["reject", "default"]
    items_outside_gold: Literal["ignore", "count"]  # answers to items that a gold with covers: listed leaves out
    texts: Mapping[str, Path] = field(default_factory=dict)  # split → table of ids and `text`, to judge offsets by
    item_languages: Mapping[str, Path] = field(default_factory=dict)  # split → table of ids and `lang`, to score by
    ties: Literal["exact", "rounded", "earlier"] = "exact"  # who shares a rank: equal values, equal as printed, nobody

    @property
    def ranking_metric(self) -> MetricSpec:
        return next(spec for spec in self.metrics if spec.key == self.rank_by)


@dataclass(frozen=True, slots=True)
class Naming:
    """Rules that tie file names to team, track and run number; `None` means any name will do."""

    run: str
    archive: str | None
    track: str  # how the fields of a run's name spell the track's slug, e.g. "{task}-{context}"
    numbers: tuple[int, ...]  # empty: names hold no run number, the portal counts


@dataclass(frozen=True, slots=True)
class Phase:
    """A window [opens, closes) with its own rules; `closes` None stays open."""

    slug: str
    title: str
    opens: datetime
    closes: datetime | None
    split: str  # which items and gold it uses
    runs_per_track: int | None  # in the whole phase
    runs_per_day: int | None  # a track and UTC day
    scores: Literal["at-once", "on-release", "never"]
    released: datetime | None  # with on-release: when; None until an organizer releases
    official: Literal["best", "last", "chosen", "all"]
    contrastive: int | None = None  # runs beside the one primary run of a track; None: there are no such slots
    run_numbers: Literal["once", "free"] = "once"  # free: a number may be used again and again
    team_names: Literal["shown", "on-release"] = "shown"  # on-release: the board gives aliases until `released`
    ladder_step: float | None = None  # until it closes scores are told by `scoring.analysis.ladder`; None: as they are


@dataclass(frozen=True, slots=True)
class GoldFile:
    track: str
    split: str
    file: Path
    format: FormatSpec
    covers: Literal["all", "listed"] = "all"  # listed: items that the file leaves out are not judged
    published: bool = False  # once its scores are public, so are the answers to every item, the gold's and the runs'


@dataclass(frozen=True, slots=True)
class VotesFile:
    """Annotators' votes on the items of a split, as secret as its gold: only how far they agree is shown."""

    track: str
    split: str
    file: Path
    field: str | None  # where an item's votes stand in a JSON file
    none: str | None  # the label of a vote for none of the classes
    no_vote: tuple[str, ...]  # labels that are no votes; empty: UNKNOWN


@dataclass(frozen=True, slots=True)
class Dataset:
    slug: str
    title: str
    file: Path
    access: Literal["public", "registered", "approved", "password"]
    licence: str
    released: datetime | None = None  # nobody but organizers may have it before
    encrypted: bool = False  # handed out in a zip that the team's password opens


@dataclass(frozen=True, slots=True)
class Baseline:
    """An unranked row of the leaderboard: run files by pattern, or the gold standard itself (`files` None)."""

    name: str
    files: str | None  # e.g. "baselines/{split}/{track}/all-ones.csv"


@dataclass(frozen=True, slots=True)
class Overall:
    """Several tracks as one ranking, by the metric and the official runs that rank each."""

    slug: str
    title: str
    tracks: tuple[str, ...]
    by: Literal["mean-rank", "borda", "mean-score"]
    note: str = ""  # what a reader should know of it, e.g. whose ranking it is


@dataclass(frozen=True, slots=True)
class Question:
    """What the organizers ask of a new team; with `choices` the answer is one of them, else any text."""

    key: str
    label: str
    required: bool
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TeamRules:
    name: str  # regular expression that a team's name must match in full
    approval: Literal["automatic", "manual", "domains"]
    domains: tuple[str, ...] = ()  # with domains: whose mail address is at one of them is approved at once
    questions: tuple[Question, ...] = ()
    closes_with: str | None = None  # slug of the phase from whose opening on no one creates or joins a team


@dataclass(frozen=True, slots=True)
class Agreement:
    """The terms to sign before the data are given out; who signed another version signs again."""

    version: str
    file: Path


@dataclass(frozen=True, slots=True, repr=False)
class Definition:
    """A whole task.yaml; `folder` is where its relative paths start, `sha256` identifies its text."""

    slug: str
    title: str
    subtitle: str
    venue: str
    year: int
    languages: tuple[str, ...]
    sources: tuple[str, ...]
    team: TeamRules
    agreement: Agreement | None
    pages: Mapping[str, Path]  # overview, data, evaluation, terms → Markdown
    tracks: tuple[Track, ...]
    naming: Naming
    phases: tuple[Phase, ...]
    datasets: tuple[Dataset, ...]
    gold: tuple[GoldFile, ...]
    votes: tuple[VotesFile, ...]
    baselines: tuple[Baseline, ...]
    overall: tuple[Overall, ...]
    folder: Path
    sha256: str

    def __repr__(self) -> str:
        return f"Definition({self.slug}; tracks {', '.join(track.slug for track in self.tracks)})"

    def publishes_items(self, track: str, split: str) -> bool:
        """Whether the answers to every item, the gold's and the runs', become public with the scores."""
        return any(gold.published for gold in self.gold if (gold.track, gold.split) == (track, split))

    @property
    def files_of_rules(self) -> frozenset[Path]:
        """What runs are checked and compared by: the items of all tracks, their texts and languages."""
        tracks = self.tracks
        tables = [table for one in tracks for table in (one.items, one.optional_items, one.texts, one.item_languages)]
        return frozenset(path for table in tables for path in table.values())

    def track(self, slug: str) -> Track:
        """The track of that slug; KeyError names those there are."""
        for track in self.tracks:
            if track.slug == slug:
                return track
        raise KeyError(f"no track {slug!r}; there are {', '.join(track.slug for track in self.tracks)}")


class DefinitionError(Exception):
    """A task.yaml that cannot be used; `report` lists every fault."""

    def __init__(self, report: Report) -> None:
        super().__init__("\n".join(problem.message for problem in report))
        self.report = report
