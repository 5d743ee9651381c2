"""Using the engine from Python: types, errors as sentences, and short results."""

from pathlib import Path

import pytest

from scoring import Definition, score
from scoring.definition import MetricSpec
from scoring.metrics import compare, compute, describe
from scoring.score import GoldError, load_gold
from tests.scoring.conftest import ITEMS


def entries(values: str) -> bytes:
    parts = (f'{{"id": "{item}", "value": "{one}"}}' for item, one in zip(ITEMS, values, strict=True))
    return f"[{', '.join(parts)}]".encode()


def test_a_missing_gold_file_is_a_gold_error(tiny: Definition, tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    for read in (load_gold, lambda task, track, path: score(task, track, b"[]", path)):
        with pytest.raises(GoldError, match=r"gold\.json: The file cannot be read: No such file") as caught:
            read(tiny, "task1-hard", gold)
        assert [problem.code for problem in caught.value.report] == ["unreadable-file"]


def test_a_wrong_metric_name_suggests_the_nearest() -> None:
    with pytest.raises(KeyError) as caught:
        describe(MetricSpec("acuracy"))
    assert str(caught.value) == "there is no metric acuracy; did you mean accuracy?"
    with pytest.raises(KeyError, match="there is no metric zzz; existing metrics: accuracy, "):
        describe(MetricSpec("zzz"))


@pytest.fixture
def right() -> bytes:
    """Gold with the labels A and B, which is also a valid run."""
    labels = ("AB" * len(ITEMS))[: len(ITEMS)]
    return entries(labels).replace(b'"value"', b'"test_case": "TINY", "value"')


def test_a_metric_of_one_class_asks_which(tiny: Definition, right: bytes) -> None:
    gold = load_gold(tiny, "task1-hard", right)
    with pytest.raises(ValueError, match="f1 requires a class, such as f1:YES"):
        compute(compare(gold, gold.answers), MetricSpec("f1"))


def test_results_are_short(tiny: Definition, right: bytes) -> None:
    gold = load_gold(tiny, "task1-hard", right)
    result = score(tiny, "task1-hard", right, gold)
    assert result.report.ok
    assert repr(result).startswith("Result(")
    assert repr(result).endswith(f"; Report(no problems); {len(ITEMS)} items)")
    assert repr(gold) == f"LoadedGold({len(ITEMS)} items)"
    assert repr(compare(gold, gold.answers)) == f"MatrixComparison({len(ITEMS)} items)"
    assert repr(gold.answers).startswith(f"Matrix({len(ITEMS)} items; ")
    invalid = score(tiny, "task1-hard", right.replace(b'"A"', b'"X"'), gold)
    assert repr(invalid) == f"Result(no scores; Report(1 error); {len(ITEMS)} items)"
    assert all(len(repr(one)) < 200 for one in (result, invalid, gold, tiny))
