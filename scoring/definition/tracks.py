"""Tracks in task.yaml: the units that are ranked, each with its run format and metrics."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from scoring import limits
from scoring.definition.files import FILES_OF_RUN, Files
from scoring.definition.keys import Key, Kind, Schema, Values, declare, keys_of, mapping, part, read_keys, schema_of
from scoring.definition.kinds import (
    DECIMALS,
    FILES_BY_SPLIT,
    FLAG,
    NAMES,
    NUMBER_PATTERN,
    SLUG,
    SLUG_PATTERN,
    TEXT,
    TEXTS,
    WORD,
    WORDS,
    by_name,
    limited,
    many,
    matching,
    number,
    one_of,
)
from scoring.definition.scorer import NAME as SCORER
from scoring.definition.scorer import Scorer, ScorerColumn
from scoring.definition.slices import SLICES, Slicing, of_languages
from scoring.definition.yaml_values import Value
from scoring.reports.nearest import nearest

# Parent → children; the keys are the inner classes and any leaves without a parent.
Hierarchy = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One metric of a track. `f1:YES` has the name `f1` and the part `YES`. Options are the metric's parameters.

    `f1:YES@language=es` uses only the items in a slice: `where` holds the name of the slicing and the slice. If a score
    combines other metrics, `name` is `combine`, `part` is the score's own name, and `of` holds the other metrics, which
    can be combined scores, too. With the `slices` option, the score combines the values of one metric in each slice.
    `is_added` is true if the metric is not listed in task.yaml, but is a column that `columns: true` of a combined
    score adds. `alias` is the name that `as` gives to a metric's column.
    """

    name: str
    part: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    of: tuple["MetricSpec", ...] = ()
    where: tuple[str, str] | None = None
    is_added: bool = field(default=False, compare=False)
    alias: str | None = None
    undefined: str | None = None

    @property
    def key(self) -> str:
        """The name of the score in reports."""
        key = self.alias or (f"{self.name}:{self.part}" if self.part else self.name)
        return f"{key}@{'='.join(self.where)}" if self.where else key

    @property
    def scorer_column(self) -> ScorerColumn | None:
        """The column of the organizers' own scorer that this is, or None if it is another metric."""
        column = self.options.get("column") if self.name == SCORER else None
        return column if isinstance(column, ScorerColumn) else None

    @property
    def is_name(self) -> bool:
        """Whether this is only the name of a combined score, which has not been replaced with the score."""
        return self.name == "combine" and not self.of

    def leaves(self) -> Iterator["MetricSpec"]:
        """Yield the metrics that a combined score is built from at all levels, or the metric itself."""
        if not self.of:
            yield self
        for leaf in (leaf for one in self.of for leaf in one.leaves()):
            yield leaf if self.where is None else replace(leaf, where=self.where)


@dataclass(frozen=True, slots=True)
class FormatSpec:
    """The format of a run file or gold file: a kind from the registry in `scoring.formats`, and its options."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


def _read_format(value: Value) -> FormatSpec:
    """Read the kind and the options that it declares. If the kind is invalid, assume the most similar one."""
    formats = value.document.formats
    found = value.at("kind")
    if found is value:  # no `kind`; if this is not a mapping, `keys()` reports that
        if value.keys() or value.is_mapping:
            value.error("definition-key-missing", expected="kind")
        return FormatSpec("")
    name = found.text()
    kind = name if name in formats else nearest(name, formats)
    if name and kind != name:
        found.invalid(" or ".join(formats), kind)
    if not name or kind is None:
        return FormatSpec("")
    chosen = formats[kind]
    options = read_keys(value, (Key("kind", WORD, ""), *chosen.options))
    del options["kind"]
    if chosen.finish:
        chosen.finish(value, options)
    return FormatSpec(kind, options)


def _metric(text: str, options: Mapping[str, str] | None = None) -> MetricSpec:
    key, at, where = text.rpartition("@")
    slices, _, chosen = where.partition("=")
    is_sliced = bool(at and slices and chosen)
    name, _, part = (key if is_sliced else text).partition(":")
    return MetricSpec(name, part or None, options or {}, where=(slices, chosen) if is_sliced else None)


def _read_plain(value: Value) -> MetricSpec:
    """Read `f1:YES`, or a mapping with `name` and the metric's options as text."""
    if value.is_scalar:
        return _metric(value.text())
    options = by_name(WORD).read(value)
    if value.is_mapping and "name" not in options:
        value.error("definition-key-missing", expected="name")
    undefined = options.pop("undefined", None)
    if undefined is not None:
        undefined = UNDEFINED.kind.read(value.at("undefined")) or None
    return replace(_metric(options.pop("name", ""), options), undefined=undefined)


def _read_part(value: Value) -> MetricSpec:
    """Read a metric of a combined score. Only columns can have names of their own."""
    if (alias := value.at("as")) is not value:
        sentence = "as is allowed only under metrics; list the metric there and use its new name here"
        alias.error("definition-rule", found=sentence)
    return _read_plain(value)


def _read_column(value: Value) -> MetricSpec:
    """Read a metric, with the name that `as` gives to its column."""
    spec = _read_plain(value)
    if not spec.options.get("as"):
        return spec
    options = {name: text for name, text in spec.options.items() if name != "as"}
    return replace(spec, options=options, alias=SLUG.read(value.at("as")) or None)


def _read_metric(value: Value) -> MetricSpec:
    """Read a metric, or a score that combines other metrics."""
    if value.at("combine") is value:
        return _read_column(value)
    options = read_keys(value, COMBINE_KEYS)
    name, parts, weights = options.pop("combine"), options.pop("of"), options["weights"]
    if weights and len(weights) != len(parts):
        value.at("weights").invalid(f"one weight for each of the {len(parts)} metrics listed under of:")
    elif weights and options["by"] not in ("mean", "harmonic-mean"):
        value.at("weights").invalid(f"no weights, because {options['by']} does not use them")
    if options["slices"] and (len(parts) > 1 or weights):
        value.at("of").invalid("one metric and no weights, because the metric is computed on each slice")
    return MetricSpec("combine", name, options, parts)


def _read_metrics(value: Value) -> tuple[MetricSpec, ...]:
    metrics = SOME_METRICS.read(value)
    if len({metric.key for metric in metrics}) < len(metrics):
        value.invalid("each metric only once; to list it again with other options, give it a different name with as:")
    if (count := sum(bool(metric.of) for metric in metrics)) > limits.COMBINED_SCORES:
        sentence = f"there are {count} combined scores; at most {limits.COMBINED_SCORES} are allowed"
        value.error("definition-rule", found=sentence)
        return metrics
    return _with_named_scores(metrics)


def _with_named_scores(metrics: tuple[MetricSpec, ...]) -> tuple[MetricSpec, ...]:
    """Replace the names of other columns in combined scores, such as `combine:overall`, with what they name.

    Names of unknown columns, of scores that contain each other and of scores beyond the limits remain.
    `scoring.metrics.validation.validate` reports them.
    """
    columns = {spec.key: spec for spec in metrics if spec.alias}
    metrics = tuple(replace(spec, of=tuple(_column_of(part, columns) for part in spec.of)) for spec in metrics)
    for _level in range(1, limits.COMBINED_LEVELS):
        scores = _complete_scores(metrics)
        metrics = tuple(_with_parts(spec, scores) for spec in metrics)
    scores = _complete_scores(metrics)
    return tuple(_named(spec, scores) for spec in metrics)


def _column_of(part: MetricSpec, columns: Mapping[str, MetricSpec]) -> MetricSpec:
    """Return the column with a name of its own that a part of a combined score refers to, or else the part itself."""
    if part.options or part.undefined is not None:
        return part
    if part.key in columns:
        return columns[part.key]
    whole = columns.get(replace(part, where=None).key)
    return part if whole is None else replace(whole, where=part.where)


def _complete_scores(metrics: Sequence[MetricSpec]) -> dict[str | None, MetricSpec]:
    return {spec.part: spec for spec in metrics if spec.of and not any(one.is_name for one in spec.leaves())}


def _with_parts(spec: MetricSpec, scores: Mapping[str | None, MetricSpec]) -> MetricSpec:
    found = replace(spec, of=tuple(_named(part, scores) for part in spec.of))
    return spec if found != spec and has_too_many_metrics(found) else found


def _named(spec: MetricSpec, scores: Mapping[str | None, MetricSpec]) -> MetricSpec:
    is_known = spec.is_name and spec.part in scores and not spec.options
    return replace(scores[spec.part], where=spec.where) if is_known else spec


def has_too_many_metrics(spec: MetricSpec) -> bool:
    """Return whether a combined score with other combined scores among its parts has too many metrics."""
    return len(list(islice(spec.leaves(), limits.COMBINED_METRICS + 1))) > limits.COMBINED_METRICS


def _read_hierarchy(value: Value) -> Hierarchy | None:
    known: dict[str, Hierarchy] = value.document.parts["hierarchies"]
    name = value.text()
    if name and name not in known:
        value.invalid(f"a name defined under hierarchies: {', '.join(known) or 'none are defined'}")
    return known.get(name)


def missing_of_combined(values: Values, _parts: Values) -> str:
    """`skip` with `slices` or `gap`, else `zero`"""
    return "skip" if values["slices"] or values["by"] == "gap" else "zero"


# `scoring.task_folder.schema` defines the schemas referred to here, because this module does not import the registries.
FORMAT = Kind(_read_format, {"$ref": "#/$defs/format"}, "run format")
PLAIN_METRIC: Schema = {"$ref": "#/$defs/metric"}
COLUMN_NAME: Schema = {"type": "string", "pattern": f"^{SLUG_PATTERN}(@.+)?$"}
PART = Kind(_read_part, {"anyOf": [PLAIN_METRIC, COLUMN_NAME]}, "metric")
AS = Key(
    "as",
    SLUG,
    "Name of the metric's column, so that a track can have the same metric several times with different options: "
    "`{name: wer, case: lc, as: wer-lowercase}`. Use this name in `rank_by`, `board_columns` and `of`. If the metric "
    "is limited to a slice, the slice follows the name, as in `wer-lowercase@language=es`. Combined scores have names "
    "of their own already.",
    None,
)
UNDEFINED = Key(
    "undefined",
    matching(f"exact|{NUMBER_PATTERN}", "a number, such as 0, or exact", "number, or `exact`", numbers=True),
    "What counts where the metric is undefined, as in the campaign's official scorer: a number, or `exact`, which is 1 "
    'if the run\'s answers equal the gold and 0 otherwise. With `{name: "pearson:joy", undefined: exact}`, a run '
    "that correctly predicts 0 for all items gets 1. If omitted, the metric remains undefined.",
    None,
)
COMBINE_KEYS = (
    Key(
        "combine",
        SLUG,
        "Name of a score that combines other metrics. To refer to the score elsewhere, add the "
        "`combine:` prefix, as in `combine:overall`.",
    ),
    Key(
        "of",
        many(PART, least=1, each_once=True),
        "Metrics that the score combines. You don't have to list them under `metrics`. They can include other combined "
        "scores that are listed under `metrics`, such as `combine:overall` or `combine:overall@language=es`, and "
        f"columns that `as` names. There can be up to {limits.COMBINED_LEVELS} levels of combined scores.",
    ),
    Key("title", limited(TEXT, 100), "Column heading on the leaderboard. Defaults to the score's name.", None),
    Key(
        "slices",
        WORD,
        "Name of an entry of the track's `slices`. The score combines the values of a single metric, set with `of`, "
        "on each of these slices.",
        None,
    ),
    Key(
        "by",
        one_of("mean", "harmonic-mean", "product", "minimum", "maximum", "gap"),
        "How the metrics are combined. `minimum` is the smallest value, for example the score of the worst slice. "
        "`gap` is the largest value minus the smallest.",
        "mean",
    ),
    Key(
        "weights",
        many(number("1")),
        "Weights for a mean or harmonic mean. By default, all metrics have the same weight.",
        (),
    ),
    Key(
        "missing", one_of("zero", "skip"), "Whether an undefined metric counts as 0 or is skipped.", missing_of_combined
    ),
    Key(
        "columns",
        FLAG,
        "Whether the leaderboard also has a column for each file's metric. Allowed only if `slices` is the name of a "
        "run's `files`.",
        False,
    ),
)
COMBINE = schema_of(COMBINE_KEYS)
METRIC = Kind(
    _read_metric, {"anyOf": [PLAIN_METRIC, {"$ref": "#/$defs/combine"}]}, "metric", (AS, UNDEFINED, *COMBINE_KEYS)
)
SOME_METRICS = many(METRIC, least=1, most=limits.METRICS)
METRICS = Kind(_read_metrics, SOME_METRICS.schema, SOME_METRICS.name, SOME_METRICS.keys)
HIERARCHY = Kind(_read_hierarchy, WORD.schema, "hierarchy name")
HIERARCHIES = by_name(by_name(NAMES, most=limits.CLASSES))


def slug_of(values: Values, _parts: Values) -> str:
    """the slug"""
    return str(values["slug"])


def decimals_of_task(_values: Values, parts: Values) -> int:
    """the task's `decimals`"""
    return int(parts["decimals"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """Items that are shown with the runs' answers."""

    items: Mapping[str, Path] = declare(
        FILES_BY_SPLIT,
        "Table with the id columns, the columns listed under `columns`, and one row for each example (at most 50).",
    )
    columns: tuple[str, ...] = declare(WORDS, "Columns of the table to show, such as the text of the items.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    slug: str = declare(SLUG, "Short name of the track in URLs, file names and exports.")
    title: str = declare(limited(TEXT, 200), "Name of the track in lists and headings.", default=slug_of)
    description: str = declare(TEXT, "What participants do in this track, in a sentence or two.", default="")
    language: str | None = declare(TEXT, "Language of the items.", default=None)
    format: FormatSpec = declare(FORMAT, "Format of run files: `kind` and the options of that kind.")
    files: Files | None = declare(
        FILES_OF_RUN,
        "For runs with several files, such as one per language: `{name: language, of: [eng, deu]}`. Each file has "
        "its own items and gold standard, and all files use the track's `format`.",
        default=None,
    )
    file_of: str | None = declare(
        WORD,
        "Slug of another track whose run files are also runs for this track, so that one upload appears on several "
        "leaderboards. Each track reads its own answers from the file: `{slug: score, file_of: label, …}`. Only the "
        "other track has file names.",
        default=None,
    )
    hierarchy: Hierarchy | None = declare(
        HIERARCHY, "Class hierarchy for this track, one of the task's `hierarchies`.", default=None
    )
    items: Mapping[str, Path] = declare(
        FILES_BY_SPLIT,
        "File with the public item ids, one per line. A single file applies to the `test` split. For several "
        "splits, use `{dev: …, test: …}`.",
    )
    optional_items: Mapping[str, Path] = declare(
        FILES_BY_SPLIT,
        "File with ids that are optional in runs. A run must contain either all of them or none.",
        default={},
    )
    texts: Mapping[str, Path] = declare(
        FILES_BY_SPLIT,
        "Table with the id columns and the `text` column. If a span given as a pair or row ends beyond the text, "
        "the run has an error. A single offset beyond the text causes a warning. `conll` tracks require a table "
        "with the `id` column and the tokens of each sentence in `text`, separated by spaces. Sentences in runs "
        "must have the same number of tokens. Surface form metrics also require the table.",
        default={},
    )
    annotators: Mapping[str, Path] = declare(
        FILES_BY_SPLIT,
        "For predictions by annotator in a `table` with `list`: a table with the id columns and the `annotators` "
        "column, which lists an item's annotators, separated by commas. They are names of the format's columns. An "
        "item's list then has one value for each of its annotators, in this order.",
        default={},
    )
    slices: Mapping[str, Slicing] = declare(
        SLICES,
        "Columns that divide the items into slices. You can rank a leaderboard by a single slice, compare slices "
        "in the results analysis, and limit a metric to one slice, as in `f1:YES@language=es`. `@right=HS` limits "
        "a metric to the items for which a run has the correct value for the `HS` column or class.",
        default={},
    )
    examples: Examples | None = declare(
        part(Examples),
        "Only for tables. Items that the results analysis lists with the answers of the official runs and baselines. "
        "Items with a gold answer are left out, because other runs could copy it.",
        default=None,
    )
    missing: Literal["reject", "default"] = declare(
        one_of("reject", "default"),
        "What happens to a run with missing items: the run is rejected, or these items count as unanswered.",
        default="reject",
    )
    items_outside_gold: Literal["ignore", "count"] = declare(
        one_of("ignore", "count"),
        "How to score answers to items that are missing from a gold standard with `covers: listed`. With `count`, "
        "these answers affect precision, F1 and system precision of labels and tables, as in PyEvALL. `count` is "
        "an error if none of the track's metrics count such answers, as for spans, rankings and weights.",
        default="ignore",
    )
    metrics: tuple[MetricSpec, ...] = declare(
        METRICS,
        'Metrics, optionally for a class or column: `f1_macro`, `"f1:YES"`. To set a metric\'s options, use a '
        "mapping: `{name: precision_macro, unpredicted: skip}`, with the class or column in its name: "
        '`{name: "accuracy_within:stars", tolerance: 1}`. To combine metrics into one score, also use a '
        "mapping: `{combine: overall, of: [f1_macro, accuracy], by: mean}`.",
    )
    rank_by: str = declare(TEXT, "Metric that determines the ranking, one of `metrics`.")
    board_columns: tuple[str, ...] = declare(
        TEXTS,
        "Metrics that the leaderboard shows by default. Readers can select others. If omitted, all metrics are "
        "shown. Run pages and exports always contain all metrics.",
        default=(),
    )
    decimals: int = declare(
        DECIMALS,
        "Number of decimal places in displayed scores. Stored scores are not rounded.",
        default=decimals_of_task,
    )
    ties: Literal["exact", "rounded", "earlier"] = declare(
        one_of("exact", "rounded", "earlier"),
        "Which runs share a rank: with `exact`, runs with identical scores; with `rounded`, runs with the same "
        "displayed score; with `earlier`, none, because the earlier run is ranked first.",
        default="exact",
    )

    @property
    def ranking_metric(self) -> MetricSpec:
        return next(spec for spec in self.metrics if spec.key == self.rank_by)

    @property
    def scorer_metrics(self) -> list[MetricSpec]:
        """The metrics that the organizers' own scorer computes."""
        return [spec for spec in self.metrics if spec.scorer_column is not None]

    def files_in(self, split: str) -> Files | None:
        """Return the files of a run for a split, or None if runs have a single file."""
        return self.files and self.files.in_split(split)

    def in_split(self, split: str) -> "Track":
        """Return the track with only the files of a split, and without metrics that need other files."""
        files = self.files_in(split)
        if files is None or files == self.files:
            return self
        metrics = tuple(kept for spec in self.metrics if (kept := _in_files(spec, files)))
        return replace(self, files=files, metrics=metrics, slices={**self.slices, files.name: files.slicing})


def with_scorer_columns(track: Track, scorer: Scorer) -> Track:
    """Return the track with the columns that its metrics such as `scorer:quality` name."""
    metrics = []
    for spec in track.metrics:
        column = scorer.column(spec.part) if spec.name == SCORER else None
        metrics.append(spec if column is None or spec.options else replace(spec, options={"column": column}))
    return replace(track, metrics=tuple(metrics))


def _finish_track(value: Value, values: Values) -> None:
    """Convert the deprecated `item_languages` key. For runs with several files, add the files' slices and columns."""
    languages = values.pop("item_languages")
    if languages:
        value.at("item_languages").warning("definition-key-replaced", found="item_languages", expected="slices")
        values["slices"] = {"language": of_languages(languages), **values["slices"]}
    files = values["files"]
    if files is not None and files.name in values["slices"]:
        value.at("slices").error(
            "definition-rule", found=f"{files.name} is already defined under files; remove it from slices"
        )
    if files is not None:
        values["slices"] = {files.name: files.slicing, **values["slices"]}
    values["metrics"] = _with_columns(values["metrics"], files)


def _with_columns(metrics: Sequence[MetricSpec], files: Files | None) -> tuple[MetricSpec, ...]:
    """Add the columns of combined scores with `columns: true`, unless they are already among the metrics."""
    known, found = {spec.key for spec in metrics}, []
    for spec in metrics:
        added = [one for one in _columns(spec, files) if one.key not in known]
        known.update(one.key for one in added)
        found += [spec, *added]
    return tuple(found)


def _columns(spec: MetricSpec, files: Files | None) -> Iterator[MetricSpec]:
    """Yield the metric for each file if the combined score shows these metrics as columns."""
    is_shown = spec.options.get("columns") is True and spec.of  # without `of`, there has been an error
    if is_shown and files is not None and spec.options["slices"] == files.name:
        yield from (replace(spec.of[0], where=(files.name, value), is_added=True) for value in files.of)


def _in_files(spec: MetricSpec, files: Files) -> MetricSpec | None:
    """Return the metric without parts that need a file not listed in `files`. None if nothing remains."""
    if spec.where and spec.where[0] == files.name and spec.where[1] not in files.of:
        return None
    if not spec.of:
        return spec
    kept = {place: found for place, one in enumerate(spec.of) if (found := _in_files(one, files))}
    weights = spec.options["weights"]
    options = {**spec.options, "weights": tuple(weights[place] for place in kept) if weights else weights}
    return replace(spec, of=tuple(kept.values()), options=options) if kept else None


ITEM_LANGUAGES = Key(
    "item_languages", FILES_BY_SPLIT, "Deprecated. Use `slices: {language: {column: lang, items: …}}` instead.", {}
)
TRACK = mapping((*keys_of(Track), ITEM_LANGUAGES), Track, _finish_track)
