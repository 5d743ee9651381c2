from pathlib import Path

import numpy as np
import pytest

from scoring import Definition
from scoring.answers import Matrix, Spans
from scoring.check_upload import check_upload
from tasks.invented import invented_archive, invented_run

LABELS = Matrix(["1", "2", "3"], ("NO", "YES"), np.array([[True, False], [False, True], [False, True]]))


@pytest.mark.slow
def test_invented_archives_keep_every_rule(definition: Definition, tmp_path: Path) -> None:
    archive = invented_archive(definition.folder, "test", "Meltemi", 1, 0.6, np.random.default_rng(1), tmp_path)
    found = check_upload(definition, archive, archive.name, "Meltemi")
    assert found.ok, found.report.problems
    assert {run.run.track for run in found.runs} == {gold.track for gold in definition.gold if gold.split == "test"}


def test_a_perfect_system_gives_the_gold() -> None:
    run = invented_run(LABELS, ["3", "1", "2"], 1.0, np.random.default_rng(1))
    assert isinstance(run, Matrix)
    assert run.values.tolist() == [[False, True], [True, False], [False, True]]


def test_items_without_gold_are_answered_too() -> None:
    run = invented_run(LABELS, ["1", "new"], 1.0, np.random.default_rng(1))
    assert isinstance(run, Matrix)
    assert run.values.sum(axis=1).tolist() == [1, 1]


def test_spans_are_those_of_items() -> None:
    gold = Spans.of_offsets(["1", "2"], np.array([3, 4, 9]), np.array([0, 2, 3]))
    run = invented_run(gold, ["2", "1"], 1.0, np.random.default_rng(1))
    assert isinstance(run, Spans)
    assert [run.pairs(row) for row in range(2)] == [[(9, 10)], [(3, 5)]]
