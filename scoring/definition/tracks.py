"""Tracks in task.yaml: ranked items, run format, and metrics."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from scoring.definition.files import FILES_OF_RUN, Files
from scoring.definition.keys import Key, Kind, Values, declare, keys_of, mapping, read_keys, schema_of
from scoring.definition.kinds import (
    DECIMALS,
    FILES_BY_SPLIT,
    FLAG,
    SLUG,
    TEXT,
    WORD,
    WORDS,
    by_name,
    limited,
    many,
    number,
    one_of,
)
from scoring.definition.slices import SLICES, Slicing, of_languages
from scoring.definition.yaml_values import Value
from scoring.reports.nearest import nearest

Hierarchy = Mapping[str, tuple[str, ...]]  # parent → children; keys are inner classes, and leaves without a parent


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One metric of a track. `f1:YES` has the name `f1` and the part `YES`. Options are the metric's parameters.

    `f1:YES@language=es` uses only the items of a slice. `where` holds the name of the slices and the value. A score
    built from others has the name `combine`, its own name as part, and the others in `of`. With the option `slices`,
    the score is built from its one metric in each slice.
    """

    name: str
    part: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    of: tuple["MetricSpec", ...] = ()
    where: tuple[str, str] | None = None

    @property
    def key(self) -> str:
        """The name of the score in reports."""
        key = f"{self.name}:{self.part}" if self.part else self.name
        return f"{key}@{'='.join(self.where)}" if self.where else key


@dataclass(frozen=True, slots=True)
class FormatSpec:
    """The format of a run file or gold file: a kind from the registry of `scoring.formats` and its options."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


def _read_format(value: Value) -> FormatSpec:
    """Read the kind and the options that it declares. An invalid kind is replaced by the most similar one."""
    formats = value.document.formats
    found = value.at("kind")
    if found is value:  # reading it as a mapping reports the problem
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
    return _metric(options.pop("name", ""), options)


def _read_metric(value: Value) -> MetricSpec:
    """Read a metric, or a score built from other metrics."""
    if value.at("combine") is value:
        return _read_plain(value)
    options = read_keys(value, COMBINE_KEYS)
    name, parts, weights = options.pop("combine"), options.pop("of"), options["weights"]
    if weights and len(weights) != len(parts):
        value.at("weights").invalid(f"one weight for each of the {len(parts)} metrics under of")
    elif weights and options["by"] not in ("mean", "harmonic-mean"):
        value.at("weights").invalid(f"no weights: {options['by']} does not use weights")
    if options["slices"] and (len(parts) > 1 or weights):
        value.at("of").invalid("one metric without weights, because it is computed in each slice")
    return MetricSpec("combine", name, options, parts)


def _read_metrics(value: Value) -> tuple[MetricSpec, ...]:
    metrics = SOME_METRICS.read(value)
    if len({metric.key for metric in metrics}) < len(metrics):
        value.invalid("each metric only once")
    return metrics


def _read_hierarchy(value: Value) -> Hierarchy | None:
    known: dict[str, Hierarchy] = value.document.parts["hierarchies"]
    name = value.text()
    if name and name not in known:
        value.invalid("a name defined under hierarchies: " + (", ".join(known) or "there is none"))
    return known.get(name)


def missing_of_combined(values: Values, _parts: Values) -> str:
    """`skip` with `slices` or `gap`, else `zero`"""
    return "skip" if values["slices"] or values["by"] == "gap" else "zero"


# The registries of formats and metrics add their schemas. This module does not import them.
FORMAT = Kind(_read_format, {"$ref": "#/$defs/format"}, "run format")
PLAIN_METRIC = Kind(_read_plain, {"$ref": "#/$defs/metric"}, "metric")
COMBINE_KEYS = (
    Key("combine", SLUG, "Name of a score built from other metrics. `combine: overall` has the key `combine:overall`."),
    Key(
        "of",
        many(PLAIN_METRIC, least=1, each_once=True),
        "Metrics that the score combines. They do not have to be listed in `metrics`.",
    ),
    Key("title", limited(TEXT, 100), "Column heading on the leaderboard. By default, the name.", None),
    Key("slices", WORD, "Builds the score from one metric (under `of`), computed in each of these slices.", None),
    Key(
        "by",
        one_of("mean", "harmonic-mean", "product", "minimum", "maximum", "gap"),
        "How the metrics are combined. `minimum` is the worst slice. `gap` is the largest value minus the smallest.",
        "mean",
    ),
    Key("weights", many(number(0, "1")), "Weights for a mean or harmonic mean. By default, all are equal.", ()),
    Key(
        "missing", one_of("zero", "skip"), "Whether an undefined metric counts as 0 or is skipped.", missing_of_combined
    ),
    Key(
        "columns",
        FLAG,
        "With the files of a run as `slices`, whether the metric of each file is also a leaderboard column.",
        False,
    ),
)
COMBINE = schema_of(COMBINE_KEYS)
METRIC = Kind(
    _read_metric, {"anyOf": [PLAIN_METRIC.schema, {"$ref": "#/$defs/combine"}]}, PLAIN_METRIC.name, COMBINE_KEYS
)
SOME_METRICS = many(METRIC, least=1)
METRICS = Kind(_read_metrics, SOME_METRICS.schema, SOME_METRICS.name, SOME_METRICS.keys)
HIERARCHY = Kind(_read_hierarchy, WORD.schema, "hierarchy name")
HIERARCHIES = by_name(by_name(WORDS))


def slug_of(values: Values, _parts: Values) -> str:
    """the slug"""
    return str(values["slug"])


def decimals_of_task(_values: Values, parts: Values) -> int:
    """the task's `decimals`"""
    return int(parts["decimals"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """A track, which has its own ranking."""

    slug: str = declare(SLUG, "Short name of the track in URLs, file names and exports.")
    title: str = declare(limited(TEXT, 200), "Name of the track in lists and headings.", default=slug_of)
    description: str = declare(TEXT, "What the track asks participants to do, in a sentence or two.", default="")
    language: str | None = declare(TEXT, "Language of the items.", default=None)
    format: FormatSpec = declare(FORMAT, "Format of run files: `kind` and the options of that kind.")
    files: Files | None = declare(
        FILES_OF_RUN,
        "For runs with several files, such as one per language: `{name: language, of: [eng, deu]}`. Each file has its "
        "own items and gold, in the track's `format`.",
        default=None,
    )
    hierarchy: Hierarchy | None = declare(
        HIERARCHY, "Hierarchy of the classes, one of the task's `hierarchies`.", default=None
    )
    items: Mapping[str, Path] = declare(
        FILES_BY_SPLIT,
        "File of the public item ids, one per line. A single file is for the split `test`; "
        "for several splits write `{dev: …, test: …}`.",
    )
    optional_items: Mapping[str, Path] = declare(
        FILES_BY_SPLIT, "Files of further ids that a run may contain: all of them or none.", default={}
    )
    texts: Mapping[str, Path] = declare(
        FILES_BY_SPLIT,
        "Table with the id columns and `text`. Spans given as pairs or rows that end after their text are "
        "errors. Listed offsets after the text are warnings. Required with `conll`: "
        "the column `id` and the tokens of each sentence, separated by spaces. Runs must have the same number of "
        "tokens. Metrics of surface forms also require the table.",
        default={},
    )
    slices: Mapping[str, Slicing] = declare(
        SLICES,
        "Columns that divide the items into slices. Leaderboards can be ranked by a single slice, the results analysis "
        "compares slices, and a metric can be limited to one slice, for example `f1:YES@language=es`. `@right=HS` "
        "limits a metric to the items for which a run has the correct value in the column or class HS.",
        default={},
    )
    missing: Literal["reject", "default"] = declare(
        one_of("reject", "default"),
        "Whether a run with a missing item is rejected, or the item counts as unanswered.",
        default="reject",
    )
    items_outside_gold: Literal["ignore", "count"] = declare(
        one_of("ignore", "count"),
        "How answers to items are scored that a gold standard with `covers: listed` leaves out. With `count`, they "
        "count in precision, F1 and system precision of labels and tables, as in PyEvALL. `count` is an error if no "
        "metric of the track counts such answers (spans, rankings, weights).",
        default="ignore",
    )
    metrics: tuple[MetricSpec, ...] = declare(
        METRICS,
        'Metrics, optionally with a class or column: `f1_macro`, `"f1:YES"`. A metric with options is a mapping: '
        "`{name: precision_macro, unpredicted: skip}`. A score built from other metrics is also a mapping: "
        "`{combine: overall, of: [f1_macro, accuracy], by: mean}`.",
    )
    rank_by: str = declare(TEXT, "Metric used for ranking, one of `metrics`.")
    decimals: int = declare(
        DECIMALS, "Decimals of displayed scores. Stored scores are exact.", default=decimals_of_task
    )
    ties: Literal["exact", "rounded", "earlier"] = declare(
        one_of("exact", "rounded", "earlier"),
        "Which runs share a rank: runs with exactly equal scores, runs with equal displayed scores, or none. With "
        "`none`, the earlier run comes first.",
        default="exact",
    )

    @property
    def ranking_metric(self) -> MetricSpec:
        return next(spec for spec in self.metrics if spec.key == self.rank_by)


def _finish_track(value: Value, values: Values) -> None:
    """Convert the deprecated key `item_languages`, and add the slices and columns of a run's files."""
    languages = values.pop("item_languages")
    if languages:
        value.at("item_languages").warning("definition-key-replaced", found="item_languages", expected="slices")
        values["slices"] = {"language": of_languages(languages), **values["slices"]}
    files = values["files"]
    if files is not None and files.name in values["slices"]:
        value.at("slices").error("definition-rule", found=f"{files.name} are the files of a run: remove these slices")
    if files is not None:
        values["slices"] = {files.name: files.slicing, **values["slices"]}
    values["metrics"] = tuple(one for spec in values["metrics"] for one in (spec, *_columns(spec, files)))


def _columns(spec: MetricSpec, files: Files | None) -> Iterator[MetricSpec]:
    """Yield the metric of each file, if a combined score shows these metrics."""
    if spec.options.get("columns") is True and files is not None and spec.options["slices"] == files.name:
        yield from (replace(spec.of[0], where=(files.name, value)) for value in files.of)


ITEM_LANGUAGES = Key(
    "item_languages", FILES_BY_SPLIT, "Replaced by `slices: {language: {column: lang, items: …}}`.", {}
)
TRACK = mapping((*keys_of(Track), ITEM_LANGUAGES), Track, _finish_track)
