"""Files in task.yaml: datasets, gold standards, votes and baselines."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from scoring import limits
from scoring.definition.dates import MOMENT
from scoring.definition.keys import Kind, Values, declare, part
from scoring.definition.kinds import (
    FILE,
    FLAG,
    NUMBER,
    SLUG,
    SPLIT,
    TEXT,
    WORD,
    WORDS,
    by_name,
    limited,
    many,
    one_of,
    path_text,
    whole,
)
from scoring.definition.tracks import FORMAT, FormatSpec, slug_of
from scoring.definition.yaml_values import Value


def format_of_track(values: Values, parts: Values) -> FormatSpec:
    """the track's `format`, or `trec-qrels` for `trec-run`"""
    formats: dict[str, FormatSpec] = {track.slug: track.format for track in parts["tracks"]}
    return formats.get(values["track"], FormatSpec(""))


_FIELDS = r"^([^{}]|\{(?!(team|number)\})[a-z_]+\})*$"


def _read_pattern(value: Value) -> str:
    """Read a relative path, which may contain `{split}`, `{track}` and the placeholder for a run's files."""
    text = path_text(value)
    if Path(text).is_absolute() or ".." in Path(text).parts or "\\" in text:
        value.error("definition-path", found=text)
    if not re.search(_FIELDS, text):
        value.invalid("only the placeholders {split}, {track} and the field of a run's files, such as {language}")
    return text


FILES = Kind(
    _read_pattern,
    {"type": "string", "pattern": FILE.schema["pattern"], "allOf": [{"pattern": _FIELDS}]},
    "file pattern",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    slug: str = declare(SLUG, "Short name of the dataset in URLs.")
    title: str = declare(TEXT, "Name of the dataset on the data page.", default=slug_of)
    file: Path = declare(FILE, "Path to the file.")
    access: Literal["public", "registered", "approved", "password"] = declare(
        one_of("public", "registered", "approved", "password"),
        "Who can download the file: everyone, members of any team, members of an approved team, or people with the "
        "team's password. All values except `public` also require users to sign the agreement, if the task has one.",
    )
    licence: str = declare(TEXT, "License of the file, such as `CC-BY-4.0`.", default="")
    released: datetime | None = declare(
        MOMENT, "When the file becomes available. Until then, only organizers can download it.", default=None
    )
    encrypted: bool = declare(
        FLAG,
        "Only for `access: password`. Whether to provide the file as an uncompressed zip encrypted with the team's "
        "password (AES-256). Members enter the password for each download, and downloads can't be resumed.",
        default=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldView:
    """Settings that adapt a gold file to its track."""

    at_least: float | None = declare(
        NUMBER,
        "Threshold: numbers or weights that are at least this value count as 1, others as 0. Weights become labels.",
        default=None,
    )
    map: Mapping[str, str] = declare(
        by_name(WORD),
        "Maps labels or columns in the file to those of the track. For example, `{anger: negative, fear: "
        "negative}` merges two labels. If the file has a single column of numbers, maps its values to labels of "
        'the track: `{"1": YES, "0": NO}`.',
        default={},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldFile:
    track: str = declare(WORD, "Slug of the gold file's track.")
    split: str = declare(SPLIT, "Split whose items the gold file covers.", default="test")
    file: Path = declare(FILE, "Path to the gold file.")
    format: FormatSpec = declare(FORMAT, "Format of the gold file.", default=format_of_track)
    view: GoldView | None = declare(
        part(GoldView), "Converts the file's labels or numbers to the track's labels.", default=None
    )
    covers: Literal["all", "listed"] = declare(
        one_of("all", "listed"),
        "Whether the file contains all items of the split or only some. With `listed`, items that are missing from "
        "the file are not scored. In span tracks, items that are missing from the file have no spans, regardless "
        "of `covers`.",
        default="all",
    )
    published: bool = declare(
        FLAG,
        "Whether to publish the gold answer and the runs' answers for every item once all phases of the split have "
        "closed and their scores are public.",
        default=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VotesFile:
    """Annotators' votes on the items of a split. They are as secret as the gold: only the agreement is shown."""

    track: str = declare(WORD, "Slug of the track that the votes belong to.")
    split: str = declare(SPLIT, "Split that the votes belong to.", default="test")
    file: Path = declare(
        FILE,
        "Path to a JSON file with the votes for each item, or to a table with the columns `item`, `annotator` and "
        "`label`. For tables of zeros and ones, the track's columns can replace `label`. For spans, a vote is a "
        "list of offsets.",
    )
    field: str | None = declare(WORD, "In a JSON file, the key that contains an item's votes.", default=None)
    none: str | None = declare(WORD, "Label for an item to which none of the classes applies.", default=None)
    also: tuple[str, ...] = declare(
        WORDS,
        "Additional labels from annotators that are not classes. Annotator agreement is also computed for them.",
        default=(),
    )
    experts: tuple[str, ...] = declare(
        WORDS,
        "Names of annotators who are experts. `agon votes` then creates the gold in two steps: the majority of all "
        "other annotators (the crowd) becomes one vote, which is counted together with one vote from each expert. "
        "Supported for tables of zeros and ones, and for labels with one class per item.",
        default=(),
    )
    no_vote: tuple[str, ...] = declare(WORDS, "Labels that don't count as votes. Defaults to `[UNKNOWN]`.", default=())


METHODS = (  # the names in the registry of baselines, which this module cannot import
    "gold",
    "all-ones",
    "all-zeros",
    "majority",
    "minority",
    "median",
    "random",
    "random-hierarchical",
    "nothing",
    "everything",
    "known-entities",
    "tfidf-svc",
    "tfidf-svc-hierarchical",
    "ngram-svc",
    "ngram-svc-hierarchical",
    "subword-svc",
    "subword-svc-hierarchical",
    "fasttext-svc",
    "fasttext-svc-hierarchical",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How `agon baselines --declared` writes the run files of a baseline."""

    method: str = declare(
        one_of(*METHODS),
        "How the answers are generated. The methods `random`, `majority`, `minority` and `median` (for numbers) copy "
        "the distribution of the training answers or, without them, of the gold standard. Use `all-ones` or "
        "`all-zeros` for tables of zeros and ones, `everything` for spans, and `nothing` for spans, entities and "
        "tuples. The `known-entities` method marks the entities in the training data wherever their text occurs. The "
        "`…-svc` methods "
        "learn from texts. They train a linear support vector machine on words (`tfidf`), word n-grams (`ngram`) or "
        "word vectors (`subword`, `fasttext`). The `…-hierarchical` methods decide from the top down, along the "
        "track's hierarchy or its table's `whole` and `parts`.",
    )
    train: str | None = declare(
        FILES, "Path to training answers in the gold file's format. Additional columns are ignored.", default=None
    )
    texts: tuple[str, ...] = declare(
        many(FILES),
        "Paths to tables with the id columns and `text`, for training and test items. Defaults to the track's `texts`.",
        default=(),
    )
    seed: int = declare(whole(), "Random seed.", default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """An unranked leaderboard row: run files that match a pattern, or the gold standard itself (`files` is None)."""

    name: str = declare(limited(TEXT, 255), "Name of the baseline on the leaderboard.")
    files: str | None = declare(
        FILES,
        "Path to the run files. It can contain `{split}`, `{track}` and the field of a run's files. If omitted, "
        "the baseline is the gold standard scored against itself.",
        default=None,
    )
    tracks: tuple[str, ...] = declare(
        WORDS, "Slugs of the tracks whose leaderboards show the baseline. Defaults to all tracks.", default=()
    )
    fields: Mapping[str, str] = declare(
        by_name(limited(TEXT, limits.RUN_FIELD_CHARACTERS)),
        "The baseline's values for `run_fields`, such as `{model: SVM}`. `{track}` is replaced with the track's slug.",
        default={},
    )
    recipe: Recipe | None = declare(
        part(Recipe),
        "How `agon baselines --declared` creates the files. The same recipe always creates the same files.",
        default=None,
    )

    def is_for(self, track: str) -> bool:
        return not self.tracks or track in self.tracks

    def file(self, folder: Path, split: str, track: str) -> Path | None:
        """Return the path of the run file in the task's folder, or None if the baseline is the gold standard itself.

        The file may not exist, or it may be a link that points outside the folder.
        """
        return None if self.files is None else folder / in_place(self.files, split, track)


def in_place(path: str, split: str, track: str) -> str:
    """Replace `{split}` and `{track}` in a path."""
    return path.replace("{split}", split).replace("{track}", track)
