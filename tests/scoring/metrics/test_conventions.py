"""docs/metrics.md says for every metric which conventions it follows, and when it is undefined."""

import re
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
import pytest

from scoring.answers import Answers, Entities, Matrix, Ranking, Spans, Texts, Tuples
from scoring.metrics import METRICS
from scoring.metrics.conventions import ALWAYS_DEFINED, PEERS, TOPICS, UNDEFINED, first
from scoring.metrics.metric import Metric
from scoring.metrics.table import INTRODUCTION, as_markdown
from tests.scoring.metrics.test_registry import answers, of_run, score

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


def test_topics_are_parts_of_the_conventions() -> None:
    assert {topic for topics in TOPICS.values() for topic in topics} <= {
        *re.findall(r"- \*\*(.+?)\.\*\*", INTRODUCTION)
    }


def first_pattern(table: Mapping[str, object], name: str) -> str:
    return next(pattern for pattern in table if fnmatchcase(name, pattern))


@pytest.mark.parametrize("table", [UNDEFINED, PEERS, TOPICS], ids=["undefined", "peers", "topics"])
def test_every_pattern_is_the_first_for_a_metric(table: dict[str, object]) -> None:
    assert {first_pattern(table, name) for name in METRICS} == table.keys()


# A new metric gets a row of its own or, after someone has checked that the last row is true for it, its name here.
ALWAYS_DEFINED_METRICS = """
    accuracy accuracy_admissible accuracy_within accuracy_within_km annotator_distance annotator_error bleu brier
    brier_complement c_at_1 calibration_error cem_ord chrf chrf_pp cross_entropy edit_distance exact_match
    exact_match_ratio hamming_loss haversine_mean haversine_median hierarchical_f icm icm_soft jaccard mae manhattan
    propensity_f rmse rouge_1 rouge_2 rouge_l soft_cross_entropy span_f1 ter token_f1
"""
METRICS_CHECKED_BY_HAND = """
    accuracy_admissible annotator_distance annotator_error edit_distance f1_macro_all precision_macro_all
    recall_macro_all span_f1 span_f1_exact span_f1_partial ssa_accuracy ssa_bias ssa_reflected
"""


@pytest.mark.parametrize(
    ("table", "names"),
    [(UNDEFINED, ALWAYS_DEFINED_METRICS), (PEERS, METRICS_CHECKED_BY_HAND)],
    ids=["undefined", "peers"],
)
def test_only_these_metrics_use_the_last_row(table: Mapping[str, object], names: str) -> None:
    assert {name for name in METRICS if first_pattern(table, name) == "*"} == {*names.split()}


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


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
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
    by_option = first(UNDEFINED, metric.name).startswith(("only with", "with"))
    assert (None in values) == (first(UNDEFINED, metric.name) != ALWAYS_DEFINED and not by_option)
