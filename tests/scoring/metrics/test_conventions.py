"""docs/metrics.md says for every metric which conventions it follows, and when it is undefined."""

import re
from dataclasses import replace

import numpy as np
import pytest

from scoring.answers import Answers, Entities, Matrix, Ranking, Spans, Texts, Tuples
from scoring.metrics import METRICS
from scoring.metrics.metric import Metric
from scoring.metrics.table import INTRODUCTION, as_markdown
from tests.for_each import for_each
from tests.scoring.metrics.test_registry import BY_NAME, answers, of_run, score

PARTS = ("Formula", "Option", "Undefined", "Example", "Compared with", "Conventions", "Sources")


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    found = re.split(r"^## ", as_markdown(), flags=re.MULTILINE)
    return {name: text for text in found if (name := text.split("`")[1] if text.startswith("`") else "")}


def test_each_section_has_all_parts(sections: dict[str, str]) -> None:
    assert [(name, part) for name in METRICS for part in PARTS if f"\n- {part}" not in sections[name]] == []


@pytest.mark.parametrize("name", [name for name in METRICS if "_macro" in name])
def test_macro_averages_say_what_they_cover(name: str) -> None:
    assert re.search("(classes|values|types) in the gold|gold's values", METRICS[name].formula)


def test_all_metrics_declare_what_they_are_compared_with_and_known_conventions() -> None:
    assert not [name for name, metric in METRICS.items() if not metric.compared_with]
    known = {*re.findall(r"- \*\*(.+?)\.\*\*", INTRODUCTION)}
    assert not [name for name, metric in METRICS.items() if not known.issuperset(metric.conventions)]


def empty(given: Answers) -> Answers:
    """Return answers for the same items without any labels, spans, documents, words or tuples, or with only zeros."""
    none, starts = np.zeros(0, np.int64), np.zeros(len(given.ids) + 1, np.int64)
    if isinstance(given, Matrix):
        return replace(given, values=np.zeros_like(given.values), absent=None)
    if isinstance(given, Spans):
        return Spans(given.ids, none, none, starts)
    if isinstance(given, Entities):
        return replace(given, kinds=np.zeros(0, np.intp), begins=none, ends=none, starts=starts)
    if isinstance(given, Ranking):
        return Ranking(given.ids, [], np.zeros(0), starts)
    if isinstance(given, Texts):
        return Texts(given.ids, [("",)] * len(given.ids))
    return Tuples.of_sets(given.columns, {item: [] for item in given.ids})


def constant(given: Answers) -> Answers:
    """Return 1 for the second class or column of all items, and 0 for the others."""
    assert isinstance(given, Matrix)
    values = np.zeros_like(given.values)
    values[:, 1] = 1
    return replace(given, values=values, absent=None)


@for_each(["metric"], BY_NAME)
def test_metrics_are_undefined_where_the_page_says_so_and_nowhere_else(metric: Metric) -> None:
    values = []
    for kind in sorted(metric.kinds):
        gold, run = answers(kind, 1), of_run(answers(kind, 2))
        nothing = np.zeros(0, np.intp)
        if metric.name not in ("precision", "precision_micro", "f1_positive_mean"):
            assert score(metric, kind, gold.select(nothing, []), run) is None
        pairs = [(empty(gold), run), (gold, of_run(empty(run))), (empty(gold), of_run(empty(run)))]
        pairs.append((gold, run.select(nothing, [])))
        if isinstance(gold, Matrix):
            pairs += [(constant(gold), run), (gold, of_run(constant(run))), (constant(gold), of_run(constant(run)))]
        values += [score(metric, kind, *pair) for pair in pairs]
    by_option = metric.undefined is not None and metric.undefined.startswith(("only with", "with"))
    assert (None in values) == (metric.undefined is not None and not by_option)
