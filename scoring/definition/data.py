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
    """Read a relative path with {split}, {track} and the field of a run's files."""
    text = value.text()
    if Path(text).is_absolute() or ".." in Path(text).parts or "\\" in text:
        value.error("definition-path", found=text)
    if not re.search(_FIELDS, text):
        value.invalid("no placeholders other than {split}, {track} and the field of a run's files, such as {language}")
    return text


FILES = Kind(
    _read_pattern,
    {"type": "string", "pattern": FILE.schema["pattern"], "allOf": [{"pattern": _FIELDS}]},
    "files by pattern",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    slug: str = declare(SLUG, "Short name of the dataset in URLs.")
    title: str = declare(TEXT, "Name of the dataset on the data page.", default=slug_of)
    file: Path = declare(FILE, "Path of the file.")
    access: Literal["public", "registered", "approved", "password"] = declare(
        one_of("public", "registered", "approved", "password"),
        "Who can download the file: everyone, members of any team, members of an approved team, or people with the "
        "team's password. All values except `public` also require the signed agreement, if there is one.",
    )
    licence: str = declare(TEXT, "License of the file, such as `CC-BY-4.0`.", default="")
    released: datetime | None = declare(
        MOMENT, "When the file becomes available. Until then, only organizers can download it.", default=None
    )
    encrypted: bool = declare(
        FLAG,
        "With `access: password`: provide the file as a zip encrypted with the team's password (AES-256). Members "
        "enter the password for each download, and downloads cannot be resumed. The zip is not compressed.",
        default=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldView:
    """Settings that adapt a gold file to its track."""

    at_least: float | None = declare(
        NUMBER,
        "Numbers or weights of at least this value count as 1, others as 0. Weights become labels.",
        default=None,
    )
    map: Mapping[str, str] = declare(
        by_name(WORD),
        "Maps labels or columns of the file to those of the track: `{anger: negative, fear: negative}` merges two. "
        'For a file with one column of numbers, maps its values to labels of the track: `{"1": YES, "0": NO}`.',
        default={},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldFile:
    track: str = declare(WORD, "Slug of the gold file's track.")
    split: str = declare(SPLIT, "Split whose items the gold file covers.", default="test")
    file: Path = declare(FILE, "Path of the gold file.")
    format: FormatSpec = declare(FORMAT, "Format of the gold file.", default=format_of_track)
    view: GoldView | None = declare(
        part(GoldView), "Adapts a file with other labels or with numbers to the track.", default=None
    )
    covers: Literal["all", "listed"] = declare(
        one_of("all", "listed"),
        "Whether the file contains all items of the split or only some. Items that are left out are not scored. In "
        "span tracks, items that are left out have no spans, whatever the value of `covers`.",
        default="all",
    )
    published: bool = declare(
        FLAG,
        "Publish the gold answer and the runs' answers to every item when all phases of the split have closed with "
        "public scores.",
        default=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VotesFile:
    """Annotators' votes on the items of a split. They are as secret as the gold: only the agreement is shown."""

    track: str = declare(WORD, "Slug of the votes' track.")
    split: str = declare(SPLIT, "Split of the items that the votes are about.", default="test")
    file: Path = declare(FILE, "JSON by item, or a table with the columns `item`, `annotator`, `label`.")
    field: str | None = declare(WORD, "Key of an item's votes in a JSON file.", default=None)
    none: str | None = declare(WORD, "Label of votes for none of the classes.", default=None)
    no_vote: tuple[str, ...] = declare(
        WORDS, "Labels that do not count as votes. By default, only `UNKNOWN`.", default=()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """An unranked leaderboard row: run files that match a pattern, or the gold standard itself (`files` is None)."""

    name: str = declare(limited(TEXT, 255), "Name of the baseline on the leaderboard.")
    files: str | None = declare(
        FILES,
        "Path of the run files, with `{split}`, `{track}` and the field of a run's files. Without it, the baseline is "
        "the gold standard, scored against itself.",
        default=None,
    )

    def file(self, folder: Path, split: str, track: str) -> Path | None:
        """Return the path of the run file in the task's folder.

        The file may be missing, or be a link that points outside the folder.
        """
        return None if self.files is None else folder / self.files.replace("{split}", split).replace("{track}", track)
