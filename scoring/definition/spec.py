"""A task's definition: the content of task.yaml as frozen, validated objects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from scoring import limits
from scoring.definition.data import Baseline, Dataset, GoldFile, VotesFile
from scoring.definition.files import each_file
from scoring.definition.keys import declare, part
from scoring.definition.kinds import (
    DECIMALS,
    FILE,
    FLAG,
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
    number,
    one_of,
    whole,
)
from scoring.definition.phases import Phase, finish_phase
from scoring.definition.scorer import SCORER, Scorer
from scoring.definition.teams import Agreement, TeamRules, finish_team
from scoring.definition.tracks import HIERARCHIES, TRACK, Hierarchy, Track, slug_of
from scoring.reports.problems import Problem, Report

PATTERN = limited(TEXT, limits.PATTERN_CHARACTERS)
ALIAS = limited(
    matching(r"[^\s\[\]{}/\\]+", "text without spaces, brackets or slashes, such as E-C_en", "part of a name"), 50
)
ALIASES = replace(
    by_name(either(ALIAS, by_name(ALIAS))),
    name="track → text, or placeholder → value → text, each text at most 50 characters",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """Rules for the file names of runs, which contain the team, track and run number."""

    run: str = declare(
        PATTERN,
        "Pattern for run file names, with `{team}`, `{number}` and `{track}`, or with your own placeholders. Parts "
        "in `[…]` are optional. If the pattern contains folders, as in `{team}/{track}/run.tsv`, teams must upload "
        "runs in a zip.",
    )
    archive: str | None = declare(
        PATTERN,
        "Pattern for archive file names without `.zip`, which can contain `{team}`. If omitted, any name is allowed.",
        default=None,
    )
    track: str = declare(
        PATTERN, "How your own placeholders form the track's slug, such as `{task}-{context}`.", default="{track}"
    )
    aliases: Mapping[str, str | Mapping[str, str]] = declare(
        ALIASES,
        "Maps track slugs to the spelling that file names use for `{track}`: `{ec-en: E-C_en}`. For other "
        "placeholders, list the values under the placeholder's name: `{language: {eng: english, deu: german}}`.",
        default={},
    )
    case: Literal["exact", "ignore"] = declare(
        one_of("exact", "ignore"), "Whether file names are case-sensitive (`exact`) or not (`ignore`).", default="exact"
    )
    numbers: tuple[int, ...] = declare(
        many(WHOLE, most=limits.RUN_NUMBERS),
        "Allowed run numbers. Required if file names contain `{number}`. Otherwise, Agon numbers the runs. The tracks "
        f"and their files can have up to {limits.RUN_NAMES:,} numbers in total.",
        default=(),
        name="number",
    )

    def spellings(self, field: str) -> dict[str, str]:
        """Map a field's values to their spelling in file names. Values that are spelled as they are have no entry."""
        listed = self.aliases.get(field, {})
        tracks = {slug: text for slug, text in self.aliases.items() if isinstance(text, str)}
        return (tracks if field == "track" else {}) | ({} if isinstance(listed, str) else dict(listed))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunField:
    """A short text that describes a run, such as its model or training data."""

    key: str = declare(SLUG, "Short name of the field in exports, the API and `agon submit --field`.")
    label: str = declare(limited(TEXT, 60), "Name of the field in forms and column headings.")
    required: bool = declare(FLAG, "Whether teams must fill in the field when they upload runs.", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """An overall ranking across several tracks. It uses each track's ranking metric and official runs."""

    slug: str = declare(SLUG, "Short name of the ranking in URLs.")
    title: str = declare(TEXT, "Name of the ranking in lists and headings.", default=slug_of)
    tracks: tuple[str, ...] = declare(WORDS, "Slugs of the tracks.")
    by: Literal["mean-rank", "borda", "mean-score"] = declare(
        one_of("mean-rank", "borda", "mean-score"),
        "How tracks are combined: mean rank, Borda count or mean score.",
    )
    missing: Literal["unranked", "zero", "skip"] = declare(
        one_of("unranked", "zero", "skip"),
        "What happens to a team without a ranked run in one of the tracks. With `unranked`, a mean rank or mean score "
        "leaves the team out. Only for `mean-score`: with `zero`, the track counts as 0, and with `skip`, the mean "
        "covers only the team's other tracks. A Borda count always ranks the team, without points for this track.",
        default="unranked",
    )
    weights: tuple[float, ...] = declare(
        many(number("1")), "Weights of the tracks, in their order. By default, all tracks count equally.", default=()
    )
    note: str = declare(TEXT, "Note shown below the ranking.", default="")

    @property
    def all_weights(self) -> tuple[float, ...]:
        return self.weights or (1.0,) * len(self.tracks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    address: str | None = declare(MAIL_ADDRESS, "Email address of the organizers.", default=None)
    mailing_list: str | None = declare(
        either(MAIL_ADDRESS, WEB_ADDRESS, lambda value: "://" not in str(value.node.value)),
        "Email address or URL of the mailing list.",
        default=None,
    )
    link: str | None = declare(WEB_ADDRESS, "URL of a forum, chat or website.", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Organizer:
    name: str = declare(limited(TEXT, 100), "Name, as in a publication.")
    affiliation: str = declare(limited(TEXT, 200), "University, company or other institution.", default="")
    link: str | None = declare(WEB_ADDRESS, "URL of a personal page.", default=None)
    address: str | None = declare(MAIL_ADDRESS, "Email address, shown to everyone.", default=None)


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Definition:
    """The content of a task.yaml. Relative paths start at `folder`. `sha256` is the digest of the file."""

    agon: int = declare(one_of(1), "Version of the task.yaml format.")
    slug: str = declare(SLUG, "Short name of the task in URLs. You can't change it later.")
    title: str = declare(limited(TEXT, 200), "Name of the task.")
    subtitle: str = declare(
        limited(TEXT, 200), "What the task is about, in a few words. Shown in the header of its pages.", default=""
    )
    venue: str = declare(limited(TEXT, 120), "Workshop or conference that hosts the task.", default="")
    year: int = declare(whole(9999), "Year in which the task takes place.")
    languages: tuple[str, ...] = declare(WORDS, "Language codes of the task's data.")
    sources: tuple[str, ...] = declare(TEXTS, "References and links, shown on the overview page.", default=())
    contact: Contact | None = declare(
        part(Contact), "How participants can reach you. Shown on every page of the task.", default=None
    )
    organizers: tuple[Organizer, ...] = declare(
        many(part(Organizer)), "Who organizes the task. Shown on the overview page, and in citations.", default=()
    )
    team: TeamRules = declare(
        part(TeamRules, finish_team),
        "Rules for teams. If omitted, any team name of 2 to 30 letters, digits, `_` and `-` is allowed, and teams "
        "are approved automatically.",
        default=TeamRules(name="[A-Za-z0-9_-]{2,30}"),
    )
    agreement: Agreement | None = declare(
        part(Agreement),
        "Terms of use for the data. Team members must sign them before they can download data or upload runs.",
        default=None,
    )
    pages: Mapping[str, Path] = declare(
        by_name(FILE), "Markdown files for the pages `overview`, `data`, `evaluation` and `terms`.", default={}
    )
    hierarchies: Mapping[str, Hierarchy] = declare(
        HIERARCHIES,
        "Class hierarchies. Each maps parent classes to their child classes. For a top-level class "
        "without children, use `[]`. At most 50 levels.",
        default={},
    )
    decimals: int = declare(
        DECIMALS, "Number of decimal places in displayed scores. Stored scores are not rounded.", default=4
    )
    tracks: tuple[Track, ...] = declare(many(TRACK, least=1), "The rankings of the task.")
    scorer: Scorer | None = declare(
        SCORER,
        "Your own scoring program, in the folder `scorer`. Administrators of the portal must approve its files before "
        "it runs. Its columns are metrics such as `scorer:quality`.",
        default=None,
    )
    all_runs_figure: str | None = declare(
        TEXT,
        "Metric for a figure on the *All tracks* page and in the paper files, with a bar for each official run and "
        "baseline in each track, and a line at the mean. Requires tracks whose leaderboards have the same columns.",
        default=None,
    )
    naming: Naming = declare(part(Naming), "Naming rules for run files and archives.")
    run_fields: tuple[RunField, ...] = declare(
        many(part(RunField), most=limits.RUN_FIELDS),
        "Short texts that teams enter for each upload, such as the model or the training data. Leaderboards and "
        "exports show each field as a column.",
        default=(),
    )
    phases: tuple[Phase, ...] = declare(
        many(part(Phase, finish_phase, never_both=("slots", "runs_per_track")), least=1),
        "Time windows during which runs are accepted.",
    )
    datasets: tuple[Dataset, ...] = declare(many(part(Dataset)), "Files that people can download.", default=())
    gold: tuple[GoldFile, ...] = declare(
        many(part(GoldFile)), "Gold standards, which contain the correct answers.", default=()
    )
    votes: tuple[VotesFile, ...] = declare(
        many(part(VotesFile)), "Annotators' votes, used to compute agreement.", default=()
    )
    baselines: tuple[Baseline, ...] = declare(
        many(part(Baseline)), "Reference runs that leaderboards list without a rank.", default=()
    )
    overall: tuple[Overall, ...] = declare(many(part(Overall)), "Rankings that combine several tracks.", default=())
    folder: Path
    sha256: str
    warnings: tuple[Problem, ...] = ()  # about deprecated keys
    other_tracks: tuple[Track, ...] = ()  # tracks for which a phase or split accepts no runs (`in_phase`, `in_split`)

    def __repr__(self) -> str:
        return f"Definition({self.slug}; tracks {', '.join(track.slug for track in self.tracks)})"

    @property
    def named_tracks(self) -> tuple[Track, ...]:
        """The tracks that file names can contain. The others are read from files of these tracks."""
        return tuple(track for track in self.tracks if track.file_of is None)

    def publishes_items(self, track: str, split: str) -> bool:
        """Return whether the gold and runs' answers to every item will become public."""
        return any(gold.published for gold in self.gold if (gold.track, gold.split) == (track, split))

    def splits_of(self, track: Track) -> list[str]:
        """Return the splits of the track that a phase uses."""
        return list(dict.fromkeys(phase.split for phase in self.phases if phase.accepts(track)))

    @property
    def files_of_rules(self) -> frozenset[Path]:
        """The files needed to check and compare runs: the tracks' items with their texts, annotators and slices."""
        tables = [(track, table) for track in self.tracks for table in (track.items, track.optional_items, track.texts)]
        tables += [(track, track.annotators) for track in self.tracks]
        tables += [(track, track.examples.items) for track in self.tracks if track.examples]
        tables += [(track, slicing.items) for track in self.tracks for slicing in track.slices.values()]
        named = ((track.files_in(split), path) for track, table in tables for split, path in table.items())
        return frozenset(path for files, named_path in named for _, path in each_file(files, named_path))

    def paths_of_gold(self, gold: GoldFile) -> list[Path]:
        """Return the paths of a gold standard's files: a single file, or one for each file of a run."""
        files = next((track.files_in(gold.split) for track in self.tracks if track.slug == gold.track), None)
        return [path for _, path in each_file(files, gold.file)]

    def in_split(self, split: str) -> "Definition":
        """Return the definition with only the tracks of the split's phases, and only the files of the split.

        A split without a phase has the tracks with items in it. If there are none, all tracks remain.
        """
        phases = [phase for phase in self.phases if phase.split == split]
        kept = [track for track in self.tracks if split in track.items]
        if phases:
            kept = [track for track in self.tracks if any(phase.accepts(track) for phase in phases)]
        return self._limited(split, kept or self.tracks)

    def in_phase(self, slug: str) -> "Definition":
        """Return the definition with only the tracks of the phase, and only the files of its split."""
        phase = self.phase(slug)
        return self._limited(phase.split, self.tracks_of(phase))

    def with_files_of(self, split: str) -> "Definition":
        """Return the definition with only the files of the split (`Track.in_split`)."""
        return self._limited(split, self.tracks)

    def _limited(self, split: str, kept: Sequence[Track]) -> "Definition":
        slugs = {track.slug for track in kept}
        others = tuple(track for track in self.tracks if track.slug not in slugs)
        tracks = tuple(track.in_split(split) for track in kept)
        return replace(self, tracks=tracks, other_tracks=self.other_tracks + others)

    def phase(self, slug: str) -> Phase:
        """Return the phase with this slug, or raise a KeyError."""
        return {phase.slug: phase for phase in self.phases}[slug]

    def tracks_of(self, phase: Phase) -> list[Track]:
        """Return the tracks for which the phase accepts runs, in the task's order."""
        return [track for track in self.tracks if phase.accepts(track)]

    def track(self, slug: str, split: str | None = None) -> Track:
        """Return the track with this slug, or raise a KeyError that lists the existing slugs.

        Args:
            split: limits the track to the files of this split (`Track.in_split`).
        """
        for track in (*self.tracks, *self.other_tracks):
            if track.slug == slug:
                return track if split is None else track.in_split(split)
        raise KeyError(f"no track {slug!r}; existing tracks: {', '.join(track.slug for track in self.tracks)}")


class DefinitionError(Exception):
    """The task.yaml cannot be used. `report` lists all problems."""

    def __init__(self, report: Report) -> None:
        super().__init__("\n".join(problem.message for problem in report))
        self.report = report
