"""A task's definition: the content of task.yaml as frozen, validated objects."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scoring.definition.data import Baseline, Dataset, GoldFile, VotesFile
from scoring.definition.files import each_file
from scoring.definition.keys import declare, part
from scoring.definition.kinds import (
    DECIMALS,
    FILE,
    MAIL_ADDRESS,
    SLUG,
    TEXT,
    TEXTS,
    WEB_ADDRESS,
    WHOLE,
    WORDS,
    by_name,
    either,
    limited,
    many,
    matching,
    one_of,
    whole,
)
from scoring.definition.phases import Phase, finish_phase
from scoring.definition.teams import Agreement, TeamRules, finish_team
from scoring.definition.tracks import HIERARCHIES, TRACK, Hierarchy, Track, slug_of
from scoring.reports.problems import Problem, Report

ALIAS = limited(
    matching(r"[^\s\[\]{}/\\]+", "characters without spaces, brackets and slashes, as E-C_en", "part of a name"), 50
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """The rules by which file names contain team, track and run number."""

    run: str = declare(
        TEXT,
        "Pattern of a run's file name, with `{team}`, `{number}` and `{track}`, or with your own placeholders. `[…]` "
        "is optional. If the pattern has folders, such as `{team}/{track}/run.tsv`, runs must be uploaded in a zip.",
    )
    archive: str | None = declare(
        TEXT,
        "Pattern for archive file names, with `{team}`. Agon adds `.zip`. If omitted, any name is allowed.",
        default=None,
    )
    track: str = declare(
        TEXT, "How your own placeholders form the track's slug: `{task}-{context}`.", default="{track}"
    )
    aliases: Mapping[str, str] = declare(
        by_name(ALIAS), "How names spell `{track}`, by the track's slug: `{ec-en: E-C_en}`.", default={}
    )
    case: Literal["exact", "ignore"] = declare(
        one_of("exact", "ignore"), "Whether upper and lower case matter in names.", default="exact"
    )
    numbers: tuple[int, ...] = declare(
        many(WHOLE),
        "Allowed run numbers, if names contain `{number}`. Otherwise the portal numbers the runs.",
        default=(),
        name="number",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """An overall ranking of several tracks that uses each track's ranking metric and official runs."""

    slug: str = declare(SLUG, "Short name of the ranking in URLs.")
    title: str = declare(TEXT, "Name of the ranking in lists and headings.", default=slug_of)
    tracks: tuple[str, ...] = declare(
        WORDS, "Slugs of the tracks. Only teams with a ranked run in each track are ranked."
    )
    by: Literal["mean-rank", "borda", "mean-score"] = declare(
        one_of("mean-rank", "borda", "mean-score"),
        "How tracks are combined: mean of ranks, Borda count, or mean of scores.",
    )
    note: str = declare(TEXT, "A note shown below the ranking.", default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """Contact addresses of the organizers."""

    address: str | None = declare(MAIL_ADDRESS, "Email address of the organizers.", default=None)
    mailing_list: str | None = declare(
        either(MAIL_ADDRESS, WEB_ADDRESS, lambda value: "://" not in str(value.node.value)),
        "Email address or URL of the mailing list.",
        default=None,
    )
    link: str | None = declare(WEB_ADDRESS, "URL of a forum, chat or website.", default=None)


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Definition:
    """The content of a task.yaml. Relative paths start at `folder`, and `sha256` identifies the text."""

    agon: int = declare(one_of(1), "Version of the task.yaml format.")
    slug: str = declare(SLUG, "Short name of the task in URLs. It never changes.")
    title: str = declare(limited(TEXT, 200), "Name of the task.")
    subtitle: str = declare(limited(TEXT, 200), "What the task is about. Shown in the header of its pages.", default="")
    venue: str = declare(limited(TEXT, 120), "Workshop or conference.", default="")
    year: int = declare(whole(9999), "Year of the task.")
    languages: tuple[str, ...] = declare(WORDS, "Language codes.")
    sources: tuple[str, ...] = declare(TEXTS, "References and links, shown on the overview page.", default=())
    contact: Contact | None = declare(part(Contact), "How people can reach you. Shown on every page.", default=None)
    team: TeamRules = declare(
        part(TeamRules, finish_team),
        "Rules for teams. Without them, every name of 2 to 30 letters, digits, `_` and `-` is allowed, and teams are "
        "approved automatically.",
        default=TeamRules(name="[A-Za-z0-9_-]{2,30}"),
    )
    agreement: Agreement | None = declare(
        part(Agreement),
        "Terms of use for the data. Team members sign them before they can download data or upload runs.",
        default=None,
    )
    pages: Mapping[str, Path] = declare(
        by_name(FILE), "Markdown files for the pages `overview`, `data`, `evaluation` and `terms`.", default={}
    )
    hierarchies: Mapping[str, Hierarchy] = declare(
        HIERARCHIES, "Trees of classes: name → parent → its classes. A class without a parent has `[]`.", default={}
    )
    decimals: int = declare(DECIMALS, "Decimals of displayed scores. Stored scores are exact.", default=4)
    tracks: tuple[Track, ...] = declare(many(TRACK, least=1), "The rankings of the task.")
    naming: Naming = declare(part(Naming), "Naming rules for files.")
    phases: tuple[Phase, ...] = declare(
        many(part(Phase, finish_phase, never_both=("slots", "runs_per_track")), least=1),
        "Time windows in which runs are accepted.",
    )
    datasets: tuple[Dataset, ...] = declare(many(part(Dataset)), "Files that people can download.", default=())
    gold: tuple[GoldFile, ...] = declare(many(part(GoldFile)), "Gold standards.", default=())
    votes: tuple[VotesFile, ...] = declare(many(part(VotesFile)), "Annotators' votes.", default=())
    baselines: tuple[Baseline, ...] = declare(many(part(Baseline)), "Unranked rows of the leaderboards.", default=())
    overall: tuple[Overall, ...] = declare(many(part(Overall)), "Rankings that combine several tracks.", default=())
    folder: Path
    sha256: str
    warnings: tuple[Problem, ...] = ()  # about deprecated keys

    def __repr__(self) -> str:
        return f"Definition({self.slug}; tracks {', '.join(track.slug for track in self.tracks)})"

    def publishes_items(self, track: str, split: str) -> bool:
        """Whether the answers of gold and runs to every item become public with the scores."""
        return any(gold.published for gold in self.gold if (gold.track, gold.split) == (track, split))

    @property
    def files_of_rules(self) -> frozenset[Path]:
        """The files by which runs are checked and compared: the items of all tracks with their texts and slices."""
        tables = [(one, table) for one in self.tracks for table in (one.items, one.optional_items, one.texts)]
        tables += [(one, slicing.items) for one in self.tracks for slicing in one.slices.values()]
        named = ((track, path) for track, table in tables for path in table.values())
        return frozenset(path for track, named_path in named for _, path in each_file(track.files, named_path))

    def paths_of_gold(self, gold: GoldFile) -> list[Path]:
        """Return the files of a gold standard: a single file, or one for each file of a run."""
        files = next((track.files for track in self.tracks if track.slug == gold.track), None)
        return [path for _, path in each_file(files, gold.file)]

    def track(self, slug: str) -> Track:
        """Return the track with that slug. If there is none, a KeyError lists the existing slugs."""
        for track in self.tracks:
            if track.slug == slug:
                return track
        raise KeyError(f"no track {slug!r}; existing tracks: {', '.join(track.slug for track in self.tracks)}")


class DefinitionError(Exception):
    """The task.yaml cannot be used. `report` lists all problems."""

    def __init__(self, report: Report) -> None:
        super().__init__("\n".join(problem.message for problem in report))
        self.report = report
