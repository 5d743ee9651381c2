"""Every undefined metric has a reason, in every language of the reports."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from scoring import check, load_definition
from scoring.answers import Matrix
from scoring.definition import MetricSpec
from scoring.definition.slices import Slicing
from scoring.items.slices import SliceColumn
from scoring.metrics import METRICS, LoadedGold, compare, compute
from scoring.metrics.metric import Metric
from scoring.metrics.registry import lacking_option
from scoring.metrics.undefined import NOTES, notes_on_undefined, why_undefined
from scoring.reports.messages import LANGUAGES, phrase
from scoring.reports.problems import translate
from tests.for_each import for_each
from tests.scoring.conftest import DEFINITION, ITEMS
from tests.scoring.metrics.test_registry import EVERY, SLICES, answers, of_run, spec_of

IDS = ["1", "2", "3", "4"]
COMBINED = {"weights": (), "missing": "skip", "by": "mean", "title": None, "slices": None, "columns": False}


def numbers(*values: float, absent: tuple[bool, ...] | None = None) -> Matrix:
    cells = None if absent is None else np.array(absent)[:, None]
    return Matrix(IDS, ("x",), np.array(values)[:, None], cells)


def languages_of(text: str) -> set[str]:
    return {phrase(text, language) for language in LANGUAGES}


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize(
    ("gold", "run", "reason"),
    [
        (numbers(1, 2, 3, 4), numbers(2, 2, 2, 2), "all predictions are equal"),
        (numbers(2, 2, 2, 2), numbers(1, 2, 3, 4), "all gold values are equal"),
        (numbers(2, 2, 2, 2), numbers(1, 1, 1, 1), "all predictions are equal"),
        (
            numbers(1, 0, 0, 0, absent=(False, True, True, True)),
            numbers(1, 2, 3, 4),
            "fewer than two items have a gold number",
        ),
    ],
)
def test_a_correlation_names_the_side_that_is_constant(name: str, gold: Matrix, run: Matrix, reason: str) -> None:
    comparison, spec = compare(LoadedGold(gold), run), MetricSpec(name)
    assert compute(comparison, spec) is None
    assert why_undefined(comparison, spec) == reason


@pytest.mark.parametrize("condition", sorted({metric.undefined for metric in METRICS.values() if metric.undefined}))
def test_every_documented_condition_is_a_reason_in_all_languages(condition: str) -> None:
    reason = condition.partition("if ")[2]
    assert reason
    if condition != METRICS["pearson"].undefined:  # which has more exact reasons
        assert len(languages_of(reason)) == len(LANGUAGES)
    assert len(languages_of(f"a: undefined, because {reason}")) == len(LANGUAGES)


@for_each(("metric", "kind"), EVERY)
def test_every_metric_has_a_reason_without_items(metric: Metric, kind: str) -> None:
    gold = LoadedGold(answers(kind, 1, 0), slice_columns=SLICES)
    comparison, spec = compare(gold, of_run(answers(kind, 2, 0))), spec_of(metric, kind)
    reason = why_undefined(comparison, spec)
    assert reason in ("the gold has no items to score", "no item is in the slice >=0.5")
    assert len(languages_of(reason)) == len(LANGUAGES)


def test_slices_and_combined_scores_name_what_is_undefined() -> None:
    slicing = {"half": SliceColumn(Slicing(column="x", at_least=3), None, ())}
    comparison = compare(LoadedGold(numbers(1, 2, 3, 4), slice_columns=slicing), numbers(1, 1, 1, 1))
    assert why_undefined(comparison, MetricSpec("pearson", where=("half", ">=9"))) == "no item is in the slice >=9"
    assert why_undefined(comparison, MetricSpec("pearson", where=("half", ">=3"))) == "all predictions are equal"
    combined = MetricSpec("combine", "overall", COMBINED, of=(MetricSpec("pearson"), MetricSpec("kendall")))
    assert why_undefined(comparison, combined) == "pearson is undefined: all predictions are equal"


def test_metrics_with_the_same_reason_share_a_note() -> None:
    comparison = compare(LoadedGold(numbers(1, 2, 3, 4)), numbers(1, 1, 1, 1))
    specs = [MetricSpec(name) for name in ("pearson", "spearman")]
    [note] = notes_on_undefined(comparison, specs, {})
    assert note.endswith(": undefined, because all predictions are equal")
    assert len(languages_of(note)) == len(LANGUAGES)
    many = [MetricSpec("pearson", where=("half", f">={n}")) for n in range(2 * NOTES)]
    slicing = {"half": SliceColumn(Slicing(column="x", at_least=3), None, ())}
    sliced = compare(LoadedGold(numbers(1, 2, 3, 4), slice_columns=slicing), numbers(1, 1, 1, 1))
    assert len(notes_on_undefined(sliced, many, {})) <= NOTES


@for_each(("metric", "kind"), EVERY)
def test_metrics_say_whether_equal_predictions_leave_them_undefined(metric: Metric, kind: str) -> None:
    gold, spec = LoadedGold(numbers(1, 2, 3, 4)), MetricSpec(metric.name)
    if metric.ordinal or not metric.numbers or lacking_option(metric, spec):
        assert not metric.needs_varied_run
        return
    varied, equal = (compute(compare(gold, run), spec) for run in (numbers(1, 3, 2, 4), numbers(2, 2, 2, 2)))
    assert (varied is not None and equal is None) is metric.needs_varied_run


NUMBERS = """
  - slug: task6-numbers
    format: {kind: table, id: id, columns: [x, y], values: number}
    items: items.txt
    metrics: ["pearson:x", "spearman:y", "rmse:x"]
    rank_by: "pearson:x"
naming:"""


@pytest.mark.parametrize(
    ("row", "found", "expected"),
    [
        ("2.5,{n}", "2.5", "pearson:x"),
        ("{n},0", "0", "spearman:y"),
        ("1,0", "1, 0", "pearson:x, spearman:y"),
        ("{n},{n}", None, None),
    ],
)
def test_the_check_warns_about_equal_predictions_without_gold(
    write_task: Callable[[str], Path], row: str, found: str | None, expected: str | None
) -> None:
    task = load_definition(write_task(DEFINITION.replace("\nnaming:", NUMBERS, 1)))
    run = "id,x,y\n" + "".join(f"{item},{row.format(n=n)}\n" for n, item in enumerate(ITEMS))
    problems = list(check(task, "task6-numbers", run.encode()))
    reported = [(problem.code, problem.severity, problem.found, problem.expected) for problem in problems]
    assert reported == ([] if found is None else [("constant-predictions", "warning", found, expected)])
    for problem in problems:
        assert len({translate(problem, language).message for language in LANGUAGES}) == len(LANGUAGES)
