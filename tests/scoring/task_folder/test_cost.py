"""Text metrics limit the product of items and characters, so that no run can take long to score."""

from pathlib import Path

import pytest

from scoring import load_definition
from scoring.metrics import METRICS
from scoring.metrics.metric import Metric
from scoring.task_folder.folder import problems_of_folder
from tests.scoring.task_folder.test_own_score import TASK

LIMITED = [
    metric
    for metric in METRICS.values()
    if "texts" in metric.kinds and metric.name not in ("exact_match", "token_f1")  # linear, and cheaper than reading
]


@pytest.mark.parametrize("metric", LIMITED, ids=lambda metric: metric.name)
def test_a_metric_on_too_many_characters_is_an_error(tmp_path: Path, metric: Metric) -> None:
    items = 100
    allowed = metric.longest_text(items)
    assert allowed
    (tmp_path / "items.txt").write_text("".join(f"{n}\n" for n in range(1, items + 1)))
    (tmp_path / "gold.txt").write_text("a b\n" * items)
    for longest, is_allowed in ((allowed, True), (allowed + 1, False)):
        form = f"{{kind: text-lines, longest: {longest}}}"
        (tmp_path / "task.yaml").write_text(TASK.replace("FORMAT", form).replace("METRIC", metric.name))
        problems = [one for one in problems_of_folder(load_definition(tmp_path)) if one.severity == "error"]
        if is_allowed:
            assert problems == []
        else:
            [problem] = problems
            assert problem.file == "task.yaml"
            assert f"Set longest: {allowed} or less" in problem.message
