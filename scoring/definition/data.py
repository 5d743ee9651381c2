"""Files in task.yaml: datasets, gold standards, votes and baselines."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from scoring.definition.dates import MOMENT
from scoring.definition.keys import Kind, Values, declare, part
from scoring.definition.kinds import FILE, FLAG, NUMBER, SLUG, SPLIT, TEXT, WORD, WORDS, by_name, limited, one_of
from scoring.definition.tracks import FORMAT, FormatSpec, slug_of
from scoring.definition.yaml_values import Value


def format_of_track(values: Values, parts: Values) -> FormatSpec:
    """the track's `format`"""
    formats: dict[str, FormatSpec] = {track.slug: track.format for track in parts["tracks"]}
    return formats.get(values["track"], FormatSpec(""))


_FIELDS = r"^([^{}]|\{(?!(team|number)\})[a-z_]+\})*$"


def _read_pattern(value: Value) -> str:
    """A relative path with {split}, {track} and the field of a run's files."""
    text = value.text()
    if Path(text).is_absolute() or ".." in Path(text).parts or "\\" in text:
        value.error("definition-path", found=text)
    if not re.search(_FIELDS, text):
        value.invalid("no braces but those of {split}, {track} and the files of a run, as {language}")
    return text


FILES = Kind(
    _read_pattern,
    {"type": "string", "pattern": FILE.schema["pattern"], "allOf": [{"pattern": _FIELDS}]},
    "files by pattern",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    slug: str = declare(SLUG, "Short name of the dataset in addresses.")
    title: str = declare(TEXT, "Name on the data page.", default=slug_of)
    file: Path = declare(FILE, "The file.")
    access: Literal["public", "registered", "approved", "password"] = declare(
        one_of("public", "registered", "approved", "password"),
        "Who can download it: everyone, members of any team, members of an approved team, or those with their team's "
        "password. All but `public` require the signed agreement, if there is one.",
    )
    licence: str = declare(TEXT, "Under which license, such as `CC-BY-4.0`.", default="")
    released: datetime | None = declare(
        MOMENT, "From when on. Until then only organizers can download it.", default=None
    )
    encrypted: bool = declare(
        FLAG,
        "With `access: password`: hand the file out in a zip that the team's password opens (AES-256). Members type "
        "the password with each download, which cannot be resumed. The zip does not compress.",
        default=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldView:
    """How a gold file becomes the gold of its track."""

    at_least: float | None = declare(
        NUMBER, "Numbers or weights from this one up count as 1, others as 0; weights become labels.", default=None
    )
    map: Mapping[str, str] = declare(
        by_name(WORD),
        "Labels or columns of the file → those of the track: `{anger: negative, fear: negative}` merges two. "
        'For a file with one column of numbers, its values → labels of the track: `{"1": YES, "0": NO}`.',
        default={},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldFile:
    track: str = declare(WORD, "Slug of the track.")
    split: str = declare(SPLIT, "Which items it is for.", default="test")
    file: Path = declare(FILE, "The file.")
    format: FormatSpec = declare(FORMAT, "How it is written.", default=format_of_track)
    view: GoldView | None = declare(
        part(GoldView), "Makes the gold of the track from a file of other labels or of numbers.", default=None
    )
    covers: Literal["all", "listed"] = declare(
        one_of("all", "listed"),
        "Whether it has all items of the split, or leaves some out, which are then not scored. In span tracks an item "
        "that it leaves out has no spans, whatever `covers` says.",
        default="all",
    )
    published: bool = declare(
        FLAG,
        "Publish the answers to every item, the gold's and the runs', once every phase of the split has closed with "
        "public scores.",
        default=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VotesFile:
    """Annotators' votes on the items of a split, as secret as its gold: only their agreement is shown."""

    track: str = declare(WORD, "Slug of the track.")
    split: str = declare(SPLIT, "Which items the votes are on.", default="test")
    file: Path = declare(FILE, "JSON by item, or a table with the columns `item`, `annotator`, `label`.")
    field: str | None = declare(WORD, "Where an item's votes are in a JSON file.", default=None)
    none: str | None = declare(WORD, "Label of a vote for none of the classes.", default=None)
    no_vote: tuple[str, ...] = declare(WORDS, "Labels that are no votes; `UNKNOWN` if there is no list.", default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """An unranked row of the leaderboard: run files by a pattern, or the gold standard itself (`files` None)."""

    name: str = declare(limited(TEXT, 255), "Name on the leaderboard.")
    files: str | None = declare(
        FILES,
        "Its run files, with `{split}` and `{track}` in the path, and the field of a run's files. Without it the "
        "baseline is the gold standard itself, scored against itself.",
        default=None,
    )

    def file(self, folder: Path, split: str, track: str) -> Path | None:
        """The run file in the task's folder. It may be missing, or a link that leads out of the folder."""
        return None if self.files is None else folder / self.files.replace("{split}", split).replace("{track}", track)
