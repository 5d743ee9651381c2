"""Tests that run for all registered metrics, so that a new metric is tested automatically."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from scoring.answers import Answers, Entities, Matrix, Ranking, Spans, Texts, Tuples
from scoring.definition import FormatSpec, MetricSpec, Track
from scoring.definition.slices import Slicing
from scoring.formats.table import Domain
from scoring.items.slices import SliceColumn
from scoring.metrics import METRICS, LoadedGold, compare, compute, contributions, describe
from scoring.metrics.metric import Metric, Part, SomeColumns
from scoring.metrics.registry import FAMILIES
from scoring.metrics.validation import validate
from tests.conftest import ROOT
from tests.for_each import for_each
from tests.scoring.metrics.examples import read_entities, worked

HIERARCHY = {"b": ("c", "d"), "a": ()}
COLUMNS = ("a", "b", "c")
PARTS = {
    Part.NONE: None,
    Part.CLASS: "b",
    Part.COLUMN: "b",
    Part.COLUMN_OR_ALL: "b",
    Part.SCORED: "b",
    Part.COLUMNS: None,
    Part.GROUP: "g",
    Part.TYPE: None,
    Part.CUTOFF: "5",
    Part.CUTOFF_OR_ALL: None,
}
SLICES = {"half": SliceColumn(Slicing(column="a", at_least=0.5), None, ())}
# Metrics that use weights or forms from the whole gold, so a sample cannot be scored alone.
OF_WHOLE_GOLD = {
    "icm",
    "icm_norm",
    "icm_soft",
    "icm_soft_norm",
    "propensity_f",
    "cem_ord",
    *(f"entity_{measure}_surface{ending}" for measure in ("precision", "recall", "f1") for ending in ("", "_macro")),
}
EVERY = [
    pytest.param(metric, kind, id=f"{name}-{kind}") for name, metric in METRICS.items() for kind in sorted(metric.kinds)
]
BY_NAME = [pytest.param(metric, id=name) for name, metric in METRICS.items()]
SUMS = [entry for entry in EVERY if entry.values[0].contributions]  # metrics computed from sums over the items


def spec_of(metric: Metric, kind: str) -> MetricSpec:
    """Return the metric's spec, with a part if a track of this kind needs one."""
    labelled = kind not in ("table", "spans", "entities", "rankings", "texts", "tuples") and metric.part not in (
        Part.CLASS,
        Part.SCORED,
    )
    where = ("half", ">=0.5") if metric.sees_background else None
    column = "y" if kind == "tuples" else "b"
    needed = {name: column for name, one in metric.options.items() if isinstance(one, SomeColumns) and one.required}
    return MetricSpec(metric.name, PARTS[metric.part] if not labelled else None, needed, where=where)


@cache  # creating them takes longer than computing a metric
def answers(kind: str, seed: int, items: int = 30) -> Answers:
    """Create random answers for items 0, 1, 2, … In tables, every third item has a group and no gold labels."""
    rng = np.random.default_rng(seed)
    ids = [str(number) for number in range(items)]
    if kind == "spans":
        own = [np.flatnonzero(rng.random(12) < 0.3) for _ in ids]
        starts = np.cumsum([0, *map(len, own)])
        return Spans.of_offsets(ids, np.concatenate([np.zeros(0, np.int64), *own]), starts)
    if kind == "entities":
        drawn = [[f"{rng.choice(COLUMNS)} {at}-{at + rng.integers(1, 4)}" for at in (0, 3, 6)] for _ in ids]
        kept = [", ".join(one for one in row if rng.random() < 0.7) for row in drawn]
        return read_entities(dict(zip(ids, kept, strict=True)), COLUMNS)
    if kind == "rankings":
        found = [rng.permutation(20)[: rng.integers(1, 12)] for _ in ids]
        starts = np.cumsum([0, *map(len, found)])
        return Ranking(ids, [f"d{name}" for own in found for name in own], rng.integers(0, 4, starts[-1]) / 1.0, starts)
    if kind == "texts":
        words = np.array(["a", "cat", "sat", "on", "the", "Mat", "today", "."])
        return Texts(ids, [(" ".join(rng.choice(words, rng.integers(4, 9))),) for _ in ids])
    if kind == "tuples":
        drawn = {item: rng.integers(0, 3, (rng.integers(0, 5), 2)).tolist() for item in ids}
        sets = {item: [(f"word {one}", COLUMNS[other]) for one, other in own] for item, own in drawn.items()}
        return Tuples.of_sets(("x", "y"), sets)
    if kind == "soft":
        return Matrix(ids, COLUMNS, rng.integers(0, 7, (items, 3)) / 6)
    if kind == "table":
        tuples = np.arange(items) % 3 == 0
        absent = np.repeat(tuples[:, None], 3, axis=1)
        groups = ["g" if grouped else "" for grouped in tuples]
        return Matrix(ids, COLUMNS, rng.integers(0, 2, (items, 3)), absent, {"group": groups})
    return Matrix(ids, COLUMNS, np.eye(3, dtype=bool)[rng.integers(0, 3, items)])


def of_run(gold_like: Answers) -> Answers:
    """Return the answers as those of a run, without absent cells and additional columns."""
    return replace(gold_like, absent=None, extra={}) if isinstance(gold_like, Matrix) else gold_like


def turned(given: Answers, order: list[int]) -> Answers:
    """Return the same answers with the items in a different order."""
    ids = [given.ids[row] for row in order]
    if isinstance(given, Spans):
        own = [np.array(given.offsets(row), np.int64) for row in order]
        return Spans.of_offsets(ids, np.concatenate(own), np.cumsum([0, *map(len, own)]))
    if isinstance(given, Entities | Tuples):
        return given.select(np.array(order), ids)
    if isinstance(given, Ranking):
        places = [np.arange(given.starts[row], given.starts[row + 1])[::-1] for row in order]
        flat = np.concatenate(places)
        documents = [given.documents[place] for place in flat]
        return Ranking(ids, documents, given.scores[flat], np.cumsum([0, *map(len, places)]))
    if isinstance(given, Texts):
        return Texts(ids, [given.texts[row] for row in order])
    extra = {name: [column[row] for row in order] for name, column in given.extra.items()}
    return Matrix(ids, given.columns, given.values[order], None if given.absent is None else given.absent[order], extra)


def score(metric: Metric, kind: str, gold: Answers, run: Answers) -> float | None:
    return compute(compare(LoadedGold(gold, HIERARCHY, slice_columns=SLICES), run), spec_of(metric, kind))


@for_each(("metric", "kind"), EVERY)
def test_row_order_never_matters(metric: Metric, kind: str) -> None:
    gold, run = answers(kind, 1), of_run(answers(kind, 2))
    order = np.random.default_rng(3).permutation(len(gold.ids)).tolist()
    expected = score(metric, kind, gold, run)
    assert expected is not None
    assert score(metric, kind, gold, turned(run, order)) == expected
    assert score(metric, kind, turned(gold, order), run) == pytest.approx(expected, abs=1e-12)


ANY_COLUMN_ORDER = [
    entry
    for entry in EVERY
    if entry.values[1] not in ("spans", "entities", "rankings", "texts", "tuples")
    and entry.values[0].name != "wasserstein"  # its classes are ordinal, so their order matters
]


@for_each(("metric", "kind"), ANY_COLUMN_ORDER)
def test_column_order_never_matters(metric: Metric, kind: str) -> None:
    gold, run = answers(kind, 1), of_run(answers(kind, 2))
    assert isinstance(gold, Matrix)
    assert isinstance(run, Matrix)
    order = [2, 0, 1]
    columns = tuple(COLUMNS[column] for column in order)
    turned_gold = replace(
        gold,
        columns=columns,
        values=gold.values[:, order],
        absent=None if gold.absent is None else gold.absent[:, order],
    )
    turned_run = replace(run, columns=columns, values=run.values[:, order])
    expected = score(metric, kind, gold, run)
    assert score(metric, kind, turned_gold, turned_run) == pytest.approx(expected, abs=1e-12)
    assert score(metric, kind, gold, turned_run) == pytest.approx(expected, abs=1e-12)


@for_each(("metric", "kind"), EVERY)
def test_a_perfect_run_is_at_least_as_good_as_a_random_one_and_within_the_range(metric: Metric, kind: str) -> None:
    gold, run = answers(kind, 1), of_run(answers(kind, 2))
    perfect, random = score(metric, kind, gold, of_run(gold)), score(metric, kind, gold, run)
    assert perfect is not None
    assert random is not None
    if metric.name in ("accuracy_within", "accuracy_within_km"):  # 0 and 1 are always close enough
        assert perfect == random == 1
    elif not metric.flags_constant:  # a metric with this flag has no notion of a correct label
        assert (perfect > random) == metric.higher_is_better
    for value in (perfect, random):
        assert metric.low is None or value >= metric.low
        assert metric.high is None or value <= metric.high + 1e-12


def edges(kind: str) -> list[tuple[str, Answers, Answers]]:
    """Return named pairs of gold and run that are edge cases for the formulas."""
    gold, run = answers(kind, 1), of_run(answers(kind, 2))
    none, one = answers(kind, 1, items=0), answers(kind, 4, items=1)
    cases: list[tuple[str, Answers, Answers]] = [
        ("empty gold", none, run),
        ("empty run", gold, of_run(none)),
        ("both empty", none, of_run(none)),
        ("one item", one, of_run(one)),
    ]
    if isinstance(gold, Matrix) and isinstance(run, Matrix):
        same = replace(gold, values=np.tile(gold.values[:1], (len(gold.ids), 1)))
        nothing = replace(run, values=np.zeros_like(run.values))
        odd = replace(run, columns=("x", "y", "z"))
        silent = replace(gold, values=nothing.values, absent=np.ones(gold.values.shape, bool))
        cases += [
            ("one class in the gold", same, run),
            ("one class throughout", same, of_run(same)),
            ("nothing predicted", gold, nothing),
            ("nothing anywhere", replace(gold, values=nothing.values), nothing),
            ("unknown classes only", gold, odd),
            ("no gold labels", silent, run),
        ]
    elif isinstance(gold, Spans):
        cases.append(
            ("nothing marked", gold, Spans.of_offsets(gold.ids, np.zeros(0, np.int64), np.zeros(31, np.int64)))
        )
    elif isinstance(gold, Entities):
        nothing_found = read_entities(dict.fromkeys(gold.ids, ""), COLUMNS)
        other_types = replace(run, types=("x", "y", "z")) if isinstance(run, Entities) else run
        cases += [("nothing found", gold, nothing_found), ("nothing to find", nothing_found, run)]
        cases += [("nothing anywhere", nothing_found, nothing_found), ("unknown types only", gold, other_types)]
    elif isinstance(gold, Ranking):
        irrelevant = replace(gold, scores=np.zeros(len(gold.documents)))
        cases += [("nothing relevant", irrelevant, run), ("unknown documents only", gold, unknown_documents(run))]
        cases.append(("negative relevance", replace(gold, scores=-gold.scores), run))
    elif isinstance(gold, Texts):
        empty = Texts(gold.ids, [("",)] * len(gold.ids))
        cases += [("empty outputs", gold, empty), ("empty references", empty, run), ("nothing anywhere", empty, empty)]
    return cases


def unknown_documents(run: Answers) -> Ranking:
    assert isinstance(run, Ranking)
    return replace(run, documents=[f"x{name}" for name in run.documents])


@for_each(("metric", "kind"), EVERY)
def test_on_the_edge_there_is_a_value_or_none_never_nan(metric: Metric, kind: str) -> None:
    with np.errstate(all="raise"):
        for name, gold, run in edges(kind):
            value = metric.compute(
                compare(LoadedGold(gold, HIERARCHY, slice_columns=SLICES), run), spec_of(metric, kind)
            )
            assert value is None or (type(value) is float and math.isfinite(value)), name


@for_each(["metric"], BY_NAME)
def test_the_worked_example(metric: Metric) -> None:
    example = metric.example
    assert example is not None
    assert example.why
    assert example.kind in metric.kinds
    spec = MetricSpec(metric.name, example.part, example.options, where=example.where)
    assert compute(worked(example), spec) == pytest.approx(example.value, abs=1e-12)


def test_every_family_is_listed_and_every_name_once() -> None:
    declaring = {path.stem for path in (ROOT / "scoring/metrics").glob("*.py") if "\nMETRICS = (" in path.read_text()}
    assert declaring == {family.__name__.rpartition(".")[2] for family in FAMILIES}
    assert sum(len(family.METRICS) for family in FAMILIES) == len(METRICS)
    assert [metric.name for metric in METRICS.values()] == list(METRICS)


@for_each(["metric"], BY_NAME)
def test_every_metric_describes_itself(metric: Metric) -> None:
    info = describe(MetricSpec(metric.name))
    assert info.key == metric.name
    assert info.title
    assert info.short
    assert info.formula
    assert info.source


def test_a_part_shows_in_the_description() -> None:
    info = describe(MetricSpec("f1", "YES"))
    assert (info.key, info.short, info.title) == ("f1:YES", "F1 YES", "F1: YES")
    assert not describe(MetricSpec("cross_entropy")).higher_is_better


def test_the_gold_side_is_computed_once() -> None:
    gold = LoadedGold(answers("labels", 1), HIERARCHY, slice_columns=SLICES)
    calls: list[LoadedGold] = []
    for _ in range(2):
        gold.once(calls.append)
    assert calls == [gold]


def track(kind: str, **options: object) -> Track:
    fields: dict[str, object] = dict.fromkeys(Track.__dataclass_fields__)
    fields |= {"format": FormatSpec(kind, options), "hierarchy": HIERARCHY if kind == "json-labels" else None}
    return Track(**fields)  # type: ignore[arg-type]


LABELS = track("json-labels", classes=("a", "c", "d"))
SEVERAL = track("json-labels", classes=("a", "c", "d"), multi=True)
ONE_COLUMN = track("table", columns=("HS",))
NUMBERS = track("table", columns=("score",), values=(), numbers=True)
MIXED = track(
    "table", columns=("stars", "price"), domains={"stars": Domain(("1", "2")), "price": Domain(())}, numbers=True
)
COLUMNS_THREE = track("table", columns=("HS", "TR", "AG"))


@pytest.mark.parametrize(
    ("metric", "where"),
    [
        (MetricSpec("f1", "a"), LABELS),
        (MetricSpec("f1", "b"), LABELS),
        (MetricSpec("icm"), SEVERAL),
        (MetricSpec("accuracy"), LABELS),
        (MetricSpec("f1_macro"), ONE_COLUMN),
        (MetricSpec("f1_macro", "TR"), COLUMNS_THREE),
        (MetricSpec("f1_positive"), COLUMNS_THREE),
        (MetricSpec("precision_macro", None, {"unpredicted": "skip"}), LABELS),
        (MetricSpec("ssa_accuracy", "gender"), COLUMNS_THREE),
        (MetricSpec("span_f1"), track("spans")),
        (MetricSpec("icm", None, {"alpha1": "1.5", "beta": "2"}), LABELS),
        (MetricSpec("roc_auc"), COLUMNS_THREE),
        (MetricSpec("roc_auc", "TR"), COLUMNS_THREE),
        (MetricSpec("roc_auc", "a"), track("json-soft", classes=("a", "c"))),
        (MetricSpec("ndcg", "10"), track("trec-run")),
        (MetricSpec("pearson"), NUMBERS),
        (MetricSpec("map"), track("trec-run")),
        (MetricSpec("entity_f1_partial"), track("conll", classes=("PER", "LOC"))),
        (MetricSpec("entity_f1", "LOC"), track("conll", classes=("PER", "LOC"))),
        (MetricSpec("entity_f1_macro", None, {"over": "seen"}), track("conll", classes=("PER", "LOC"))),
        (MetricSpec("mae_macro", "stars"), MIXED),
        (MetricSpec("kendall", "price"), MIXED),
        (MetricSpec("haversine_mean", None, {"latitude": "HS", "longitude": "TR"}), COLUMNS_THREE),
    ],
)
def test_validate_accepts(metric: MetricSpec, where: Track) -> None:
    assert validate(metric, where) is None


@pytest.mark.parametrize(
    ("metric", "where", "words"),
    [
        (
            MetricSpec("f2"),
            LABELS,
            "there is no metric f2; existing metrics: accuracy, ",
        ),
        (MetricSpec("f1"), LABELS, "f1 requires a class or column, such as f1:a"),
        (MetricSpec("f1", "z"), LABELS, "z is not one of a, c, d, b"),
        (MetricSpec("f1_macro", "a"), LABELS, "does not accept a class or column"),
        (MetricSpec("accuracy"), SEVERAL, "one class per item"),
        (MetricSpec("accuracy"), COLUMNS_THREE, "requires a class or column, such as accuracy:HS"),
        (MetricSpec("f1_macro", "XX"), COLUMNS_THREE, "XX is not one of HS, TR, AG"),
        (MetricSpec("icm", "HS"), ONE_COLUMN, "does not accept a class or column"),
        (MetricSpec("icm_soft"), LABELS, "supports json-soft and table-soft runs, not json-labels"),
        (MetricSpec("recall_macro", None, {"unpredicted": "skip"}), LABELS, "no option unpredicted"),
        (MetricSpec("precision_macro", None, {"unpredicted": "maybe"}), LABELS, "one of zero, skip"),
        (MetricSpec("icm", None, {"beta": "much"}), LABELS, "beta must be a number of at least 0, not much"),
        (MetricSpec("icm", None, {"beta": "nan"}), LABELS, "beta must be a number"),
        (MetricSpec("icm", None, {"beta": "-1"}), LABELS, "beta must be a number"),
        (MetricSpec("roc_auc", "z"), COLUMNS_THREE, "z is not one of HS, TR, AG"),
        (
            MetricSpec("f1_macro"),
            NUMBERS,
            "f1_macro supports labels, but this track's table contains numbers, which only mae, rmse",
        ),
        (MetricSpec("mae_macro", "price"), MIXED, "mae_macro requires a list of values for the column price"),
        (MetricSpec("f1_macro", "stars"), MIXED, "table contains numbers, which only mae, rmse"),
        (
            MetricSpec("accuracy_within", None, {"tolerance": "-1"}),
            ONE_COLUMN,
            "tolerance must be a number of at least 0",
        ),
        (MetricSpec("entity_f1", "ORG"), track("conll", classes=("PER", "LOC")), "ORG is not one of PER, LOC"),
        (MetricSpec("haversine_mean", None, {"latitude": "HS"}), COLUMNS_THREE, "requires the longitude option"),
        (
            MetricSpec("haversine_mean", None, {"latitude": "HS", "longitude": "X"}),
            COLUMNS_THREE,
            "longitude must be one of HS, TR, AG, not X",
        ),
        (MetricSpec("precision_at"), track("trec-run"), "requires a cutoff, such as precision_at:10"),
        (MetricSpec("ndcg", "0"), track("trec-run"), "a whole number of at least 1, not 0"),
        (MetricSpec("ndcg", "²"), track("trec-run"), "a whole number of at least 1"),
    ],
)
def test_validate_names_the_error(metric: MetricSpec, where: Track, words: str) -> None:
    assert words in str(validate(metric, where))


def test_an_unknown_metric_is_answered_with_those_of_the_format() -> None:
    found = str(validate(MetricSpec("ndgc"), track("trec-run")))
    assert found.startswith("there is no metric ndgc; existing metrics: bpref, ")
    assert {"f1", "bleu"}.isdisjoint(found.split(": ")[1].split(", "))


FORMAT_OF = {"labels": "json-labels", "soft": "json-soft", "table": "table", "spans": "spans"}
FORMAT_OF |= {"entities": "conll", "rankings": "trec-run", "texts": "text-lines", "tuples": "tuples"}


@for_each(["metric"], BY_NAME)
def test_answers_of_another_kind_are_rejected(metric: Metric) -> None:
    for kind, name in FORMAT_OF.items():
        comparison = compare(LoadedGold(answers(kind, 1), HIERARCHY, slice_columns=SLICES), of_run(answers(kind, 2)))
        spec = spec_of(metric, kind)
        # Only the format of a table distinguishes numbers from weights.
        weights_or_numbers = kind == "soft" and metric.numbers
        if weights_or_numbers or kind in metric.kinds:
            compute(comparison, spec)
            continue
        for function in (compute, contributions):
            with pytest.raises(ValueError, match=f"{spec.key} supports .* runs; this comparison is for .*{name}"):
                function(comparison, spec)


@for_each(["metric"], [entry for entry in BY_NAME if entry.values[0].single_label])
def test_several_labels_an_item_are_rejected_where_one_is_judged(metric: Metric) -> None:
    one, several = answers("labels", 1), replace(answers("labels", 1), values=np.ones((30, 3), bool))
    for gold, run in ((one, several), (several, one), (several, several)):
        with pytest.raises(ValueError, match=f"{metric.name} requires one label per item"):
            compute(compare(LoadedGold(gold), run), MetricSpec(metric.name))


@for_each(("metric", "kind"), SUMS)
def test_what_the_items_add_combines_to_the_value(metric: Metric, kind: str) -> None:
    for name, gold, run in [("random", answers(kind, 1), of_run(answers(kind, 2))), *edges(kind)]:
        standard, spec = LoadedGold(gold, HIERARCHY, slice_columns=SLICES), spec_of(metric, kind)
        for count_outside in (False, True):
            comparison = compare(standard, run, count_outside)
            value, parts = compute(comparison, spec), contributions(comparison, spec)
            if parts is None:
                assert value is None or not len(standard) or (metric.name, name) == ("mcc", "unknown classes only"), (
                    name
                )
                continue
            assert len(parts.values) == len(standard)
            assert np.isfinite(parts.values).all()
            combined = parts.combine(parts.values.sum(axis=0))
            assert combined == pytest.approx(math.nan if value is None else value, abs=1e-12, nan_ok=True), name
            many = parts.combine(np.stack([parts.values.sum(axis=0), 2 * parts.values[::2].sum(axis=0)]))
            assert many.shape == (2,)
            assert many[0] == pytest.approx(combined, abs=1e-12, nan_ok=True)


@for_each(("metric", "kind"), [entry for entry in SUMS if entry.values[0].name not in OF_WHOLE_GOLD])
def test_a_sample_by_its_items_contributions_equals_the_sample_scored_again(metric: Metric, kind: str) -> None:
    gold, run = answers(kind, 1), of_run(answers(kind, 2))
    spec = spec_of(metric, kind)
    parts = contributions(compare(LoadedGold(gold, HIERARCHY, slice_columns=SLICES), run), spec)
    assert parts is not None
    for seed in range(3):
        drawn = np.random.default_rng(seed).integers(0, len(gold.ids), len(gold.ids)).tolist()
        names = [str(number) for number in range(len(drawn))]
        sample = [replace(turned(side, drawn), ids=names) for side in (gold, run)]
        weights = np.bincount(drawn, minlength=len(gold.ids))
        expected = compute(compare(LoadedGold(sample[0], HIERARCHY, slice_columns=SLICES), sample[1]), spec)
        assert parts.combine(weights @ parts.values) == pytest.approx(expected, abs=1e-12)


@for_each(("metric", "kind"), EVERY)
def test_what_was_scored_before_never_matters(metric: Metric, kind: str) -> None:
    gold, first, second = answers(kind, 1), of_run(answers(kind, 2)), of_run(answers(kind, 3))
    standard, spec = LoadedGold(gold, HIERARCHY, slice_columns=SLICES), spec_of(metric, kind)
    values = [compute(compare(standard, run), spec) for run in (first, second, first)]
    assert values[0] == values[2]
    assert values[:2] == [score(metric, kind, gold, run) for run in (first, second)]
