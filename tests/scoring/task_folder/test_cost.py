"""Limits on texts, so that no run and no gold can take long to score. Single texts may be much longer than the mean."""

from pathlib import Path

import pytest

from scoring import check, load_definition
from scoring.definition import Definition
from scoring.metrics import METRICS
from scoring.metrics.metric import Metric
from scoring.task_folder.folder import problems_of_folder
from scoring.task_folder.gold_file import check_gold
from tests.scoring.task_folder.test_own_score import TASK

LIMITED = [
    metric
    for metric in METRICS.values()
    if "texts" in metric.kinds and metric.name not in ("exact_match", "token_f1")  # linear, and cheaper than reading
]
LONGEST = 2_000_000
CODES = {
    "texts-too-long": "most_characters",
    "texts-too-long-squared": "most_squared_characters",
    "texts-too-many-words": "most_squared_words",
}


def task(folder: Path, metric: str, items: int, gold: str = "a b") -> Definition:
    (folder / "items.txt").write_text("".join(f"{n}\n" for n in range(1, items + 1)))
    (folder / "gold.txt").write_text(f"{gold}\n" * items)
    form = f"{{kind: text-lines, longest: {LONGEST}}}"
    (folder / "task.yaml").write_text(TASK.replace("FORMAT", form).replace("METRIC", metric))
    return load_definition(folder)


def most_texts(metric: Metric, code: str) -> tuple[list[str], list[str]]:
    """Return texts that are just allowed, one of them much longer than the others, and texts that are not allowed."""
    most = getattr(metric, CODES[code])
    if code == "texts-too-long":
        texts = ["x" * 4000 for _ in range(most // 4000 - 1)]
        return [*texts, "x" * 4000], [*texts, "x" * 4001]
    unit = "x " if code == "texts-too-many-words" else "x"
    length = int((most - 100) ** 0.5)
    return [unit * length, *100 * ["x"]], [unit * (length + 1), *100 * ["x"]]


@pytest.mark.parametrize("metric", LIMITED, ids=lambda metric: metric.name)
def test_texts_that_take_too_long_to_score_are_an_error(tmp_path: Path, metric: Metric) -> None:
    limits = [code for code, name in CODES.items() if getattr(metric, name) is not None]
    assert "texts-too-long" in limits
    for code in limits:
        allowed, forbidden = most_texts(metric, code)
        definition = task(tmp_path, metric.name, len(allowed))
        report = check(definition, "main", "\n".join(allowed).encode())
        assert report.problems == []
        [problem] = check(definition, "main", "\n".join(forbidden).encode()).problems
        assert (problem.severity, problem.code) == ("error", code)
        assert problem.expected == f"{getattr(metric, CODES[code]):,}"


@pytest.mark.parametrize(("length", "found"), [(800, []), (801, ["texts-too-long"])])
def test_the_references_of_an_item_count_together(tmp_path: Path, length: int, found: list[str]) -> None:
    references, items = "\t".join(["a" * length] * 5), 100
    definition = task(tmp_path, "chrf", items, references)
    report = check_gold(definition, "main", f"{references}\n".encode() * items).report
    assert [problem.code for problem in report.errors] == found
    errors = [problem for problem in problems_of_folder(definition) if problem.severity == "error"]
    assert ["400,500 characters" in problem.message for problem in errors] == [True for _ in found]


def test_words_are_counted_at_least_as_the_metrics_count_them(tmp_path: Path) -> None:
    """With `normalized: yes`, TER separates punctuation from words."""
    definition = task(tmp_path, "ter", 1)
    [problem] = check(definition, "main", b"a.b,c_" * 250).problems
    assert (problem.code, problem.found) == ("texts-too-many-words", "2,250,000")
