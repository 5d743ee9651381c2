"""Reads task.yaml into a `Definition`: all of its faults at once, each with line, key path and what was expected."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from scoring.definition import (
    Agreement,
    Baseline,
    Dataset,
    Definition,
    DefinitionError,
    FormatSpec,
    GoldFile,
    MetricSpec,
    Naming,
    Overall,
    Phase,
    TeamRules,
    Track,
    VotesFile,
)
from scoring.definition.dates import read_moment
from scoring.definition.phases import read_phase
from scoring.definition.rules import check_rules
from scoring.definition.teams import read_team
from scoring.definition.yaml_values import Value, one_of, parse_document
from scoring.formats import FORMATS
from scoring.reports.nearest import nearest
from scoring.reports.problems import Report

Hierarchy = dict[str, tuple[str, ...]]


def load_definition(folder_or_yaml: str | Path, *, is_imported: bool = False) -> Definition:
    """Read a shared task's folder (or the task.yaml in it).

    With `is_imported` the folder was accepted before, perhaps by an earlier version: rules between parts of a
    definition that were added since do not reject it.

    Raises:
        DefinitionError: with `.report`, which lists every fault.
    """
    path = Path(folder_or_yaml)
    path = path / "task.yaml" if path.is_dir() else path
    report = Report()
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        report.error("definition-unreadable", file=str(path), found=error.strerror or "an unreadable file")
        raise DefinitionError(report) from None
    except UnicodeDecodeError:
        report.error("not-utf8", file=str(path))
        raise DefinitionError(report) from None
    root = parse_document(text, report)
    if root is None:
        raise DefinitionError(report)
    definition = _Reader(path.parent.resolve()).definition(root, hashlib.sha256(content).hexdigest())
    check_rules(definition, root, report)
    report.problems.sort(key=lambda problem: problem.line or 0)
    if not report.ok and not (is_imported and {error.code for error in report.errors} == {"definition-rule"}):
        raise DefinitionError(report)
    return definition


class _Reader:
    """Reads the parts of a definition; what later parts need of earlier ones is kept in between."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._hierarchies: dict[str, Hierarchy] = {}
        self._decimals = 4
        self._formats: dict[str, FormatSpec] = {}

    def definition(self, root: Value, sha256: str) -> Definition:
        keys = root.keys()
        keys.need("agon", one_of("1"), "1")
        self._hierarchies = keys.read("hierarchies", self._hierarchies_of, {})
        self._decimals = keys.read("decimals", Value.integer, 4)
        tracks = keys.need("tracks", self._tracks, ())
        definition = Definition(
            slug=keys.need("slug", Value.slug, ""),
            title=keys.need("title", Value.text, ""),
            subtitle=keys.read("subtitle", Value.text, ""),
            venue=keys.read("venue", Value.text, ""),
            year=keys.need("year", Value.integer, 0),
            languages=keys.need("languages", Value.texts, ()),
            sources=keys.read("sources", Value.texts, ()),
            team=keys.read("team", read_team, TeamRules("[A-Za-z0-9_-]{2,30}", "automatic")),
            agreement=keys.read("agreement", self._agreement, None),
            pages=keys.read("pages", self._paths, {}),
            tracks=tracks,
            naming=keys.need("naming", self._naming, Naming("{track}", None, "{track}", ())),
            phases=keys.need("phases", self._phases, ()),
            datasets=keys.read("datasets", self._datasets, ()),
            gold=keys.read("gold", self._gold, ()),
            votes=keys.read("votes", self._votes, ()),
            baselines=keys.read("baselines", self._baselines, ()),
            overall=keys.read("overall", _overall, ()),
            folder=self._folder,
            sha256=sha256,
        )
        keys.close()
        return definition

    def _path(self, value: Value) -> Path:
        """A path inside the folder, resolved; whether the file is there is judged by who needs it."""
        text = value.text()
        path = (self._folder / text).resolve()
        if text and ("\\" in text or not path.is_relative_to(self._folder) or Path(text).is_absolute()):
            value.fault("definition-path", found=text)
        return path

    def _paths(self, value: Value) -> dict[str, Path]:
        keys = value.keys()
        return {name: keys.need(name, self._path, self._folder) for name in keys.names()}

    def _paths_by_split(self, value: Value) -> dict[str, Path]:
        return {"test": self._path(value)} if value.is_scalar else self._paths(value)

    def _agreement(self, value: Value) -> Agreement:
        keys = value.keys()
        agreement = Agreement(
            version=keys.need("version", Value.text, ""),
            file=keys.need("file", self._path, self._folder),
        )
        keys.close()
        return agreement

    def _hierarchies_of(self, value: Value) -> dict[str, Hierarchy]:
        keys = value.keys()
        return {name: keys.need(name, _hierarchy, {}) for name in keys.names()}

    def _tracks(self, value: Value) -> tuple[Track, ...]:
        return tuple(self._track(entry) for entry in value.values())

    def _track(self, value: Value) -> Track:
        keys = value.keys()
        slug = keys.need("slug", Value.slug, "")
        track = Track(
            slug=slug,
            title=keys.read("title", Value.text, slug),
            description=keys.read("description", Value.text, ""),
            language=keys.read("language", Value.text, None),
            format=keys.need("format", read_format, FormatSpec("", {})),
            hierarchy=keys.read("hierarchy", self._hierarchy_named, None),
            items=keys.need("items", self._paths_by_split, {}),
            optional_items=keys.read("optional_items", self._paths_by_split, {}),
            metrics=keys.need("metrics", _metrics, ()),
            rank_by=keys.need("rank_by", Value.text, ""),
            decimals=keys.read("decimals", Value.integer, self._decimals),
            missing=keys.read("missing", one_of("reject", "default"), "reject"),
            items_outside_gold=keys.read("items_outside_gold", one_of("ignore", "count"), "ignore"),
            texts=keys.read("texts", self._paths_by_split, {}),
            item_languages=keys.read("item_languages", self._paths_by_split, {}),
            ties=keys.read("ties", one_of("exact", "rounded", "earlier"), "exact"),
        )
        keys.close()
        self._formats[slug] = track.format
        return track

    def _hierarchy_named(self, value: Value) -> Hierarchy | None:
        name = value.text()
        if name not in self._hierarchies:
            value.wrong("a name under hierarchies: " + (", ".join(self._hierarchies) or "there is none"))
        return self._hierarchies.get(name)

    def _naming(self, value: Value) -> Naming:
        keys = value.keys()
        naming = Naming(
            run=keys.need("run", Value.text, ""),
            archive=keys.read("archive", Value.text, None),
            track=keys.read("track", Value.text, "{track}"),
            numbers=keys.read("number", _numbers, ()),
        )
        keys.close()
        return naming

    def _phases(self, value: Value) -> tuple[Phase, ...]:
        return tuple(read_phase(entry) for entry in value.values())

    def _datasets(self, value: Value) -> tuple[Dataset, ...]:
        return tuple(self._dataset(entry) for entry in value.values())

    def _dataset(self, value: Value) -> Dataset:
        keys = value.keys()
        slug = keys.need("slug", Value.slug, "")
        dataset = Dataset(
            slug=slug,
            title=keys.read("title", Value.text, slug),
            file=keys.need("file", self._path, self._folder),
            access=keys.need("access", one_of("public", "registered", "approved", "password"), "password"),
            licence=keys.read("licence", Value.text, ""),
            released=keys.read("released", read_moment, None),
            encrypted=keys.read("encrypted", Value.flag, False),
        )
        keys.close()
        return dataset

    def _gold(self, value: Value) -> tuple[GoldFile, ...]:
        return tuple(self._gold_file(entry) for entry in value.values())

    def _gold_file(self, value: Value) -> GoldFile:
        keys = value.keys()
        track = keys.need("track", Value.text, "")
        gold = GoldFile(
            track=track,
            split=keys.read("split", Value.text, "test"),
            file=keys.need("file", self._path, self._folder),
            format=keys.read("format", read_format, self._formats.get(track, FormatSpec("", {}))),
            covers=keys.read("covers", one_of("all", "listed"), "all"),
            published=keys.read("published", Value.flag, False),
        )
        keys.close()
        return gold

    def _votes(self, value: Value) -> tuple[VotesFile, ...]:
        return tuple(self._votes_file(entry) for entry in value.values())

    def _votes_file(self, value: Value) -> VotesFile:
        keys = value.keys()
        votes = VotesFile(
            track=keys.need("track", Value.text, ""),
            split=keys.read("split", Value.text, "test"),
            file=keys.need("file", self._path, self._folder),
            field=keys.read("field", Value.text, None),
            none=keys.read("none", Value.text, None),
            no_vote=keys.read("no_vote", Value.texts, ()),
        )
        keys.close()
        return votes

    def _baselines(self, value: Value) -> tuple[Baseline, ...]:
        return tuple(_baseline(entry) for entry in value.values())


def _baseline(value: Value) -> Baseline:
    keys = value.keys()
    baseline = Baseline(name=keys.need("name", Value.text, ""), files=keys.read("files", _pattern_of_files, None))
    keys.close()
    return baseline


def _overall(value: Value) -> tuple[Overall, ...]:
    return tuple(_ranking(entry) for entry in value.values())


def _ranking(value: Value) -> Overall:
    keys = value.keys()
    slug = keys.need("slug", Value.slug, "")
    overall = Overall(
        slug=slug,
        title=keys.read("title", Value.text, slug),
        tracks=keys.need("tracks", Value.texts, ()),
        by=keys.need("by", one_of("mean-rank", "borda", "mean-score"), "mean-rank"),
        note=keys.read("note", Value.text, ""),
    )
    keys.close()
    return overall


def _pattern_of_files(value: Value) -> str:
    """A relative path with {split} and {track}."""
    text = value.text()
    if Path(text).is_absolute() or ".." in Path(text).parts or "\\" in text:
        value.fault("definition-path", found=text)
    if set(re.findall(r"\{(.*?)\}", text)) - {"split", "track"}:
        value.wrong("no placeholder but {split} and {track}")
    return text


def read_format(value: Value) -> FormatSpec:
    """A run format: its kind, and the options that this kind knows; a wrong kind is read as the nearest one."""
    keys = value.keys()
    kind = keys.need("kind", _kind, "")
    if not kind:
        return FormatSpec("", {})
    spec = FormatSpec(kind, FORMATS[kind].read_options(keys))
    keys.close()
    return spec


def _kind(value: Value) -> str:
    kind = value.text()
    if kind and kind not in FORMATS:
        meant = nearest(kind, FORMATS)
        value.wrong(" or ".join(FORMATS), meant)
        return meant or ""
    return kind


def _metrics(value: Value) -> tuple[MetricSpec, ...]:
    metrics = tuple(_metric(entry) for entry in value.values())
    if len({metric.key for metric in metrics}) < len(metrics):
        value.wrong("each metric once")
    return metrics


def _metric(value: Value) -> MetricSpec:
    """`f1:YES`, or a mapping with `name` and the metric's options as text."""
    if value.is_scalar:
        return _metric_named(value.text())
    keys = value.keys()
    named = _metric_named(keys.need("name", Value.text, ""))
    options = {name: keys.need(name, Value.text, "") for name in keys.names() if name != "name"}
    return replace(named, options=options)


def _metric_named(text: str) -> MetricSpec:
    name, _, part = text.partition(":")
    return MetricSpec(name, part or None)


def _hierarchy(value: Value) -> Hierarchy:
    """Parent → children; every inner class is a key, and so is a leaf without a parent."""
    keys = value.keys()
    return {name: keys.need(name, Value.texts, ()) for name in keys.names()}


def _numbers(value: Value) -> tuple[int, ...]:
    return tuple(entry.integer() for entry in value.values())
