"""The real test set of Toxic Spans 2021 as gold, from upload to leaderboard. Scores must equal the published ones."""

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.urls import reverse

from portal.actions.task_folder.import_gold import add_gold_standard
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.teams import register_team
from portal.evaluation.score import score_run
from portal.models import Run, SharedTask, Team
from portal.queries.boards.choices import Choices
from portal.queries.boards.leaderboard import leaderboard
from tasks import build
from tests.portal.world import captain, check_submission, person, send, sign

AT = datetime(2021, 1, 31, 20, tzinfo=UTC)  # the post-evaluation phase is open


def team_of(shared_task: SharedTask, name: str) -> Team:
    """Register a team before the evaluation phase opens, because registration closes then."""
    user = person(name)
    sign(user, shared_task, AT)
    return register_team(user, shared_task, AT - timedelta(days=30), name=name)


@pytest.fixture
def toxic_spans(db: None, shared: Path, tmp_path: Path) -> SharedTask:
    """The task that comes with Agon, with the real gold as gold version 2."""
    real = shared / "data" / "toxicspans2021" / "tsd_test.csv"
    if not real.is_file():
        pytest.skip(f"{real.name}, which may not be published here, is absent")
    shared_task = import_shared_task(None, build("toxicspans2021", tmp_path / "task"), AT).shared_task
    with real.open(encoding="utf-8", newline="") as file:
        lines = [f"{number}\t{row['spans']}\n" for number, row in enumerate(csv.DictReader(file))]
    (tmp_path / "real.txt").write_text("".join(lines))
    gold = add_gold_standard(shared_task.tracks.get(), "test", tmp_path / "real.txt", AT)
    assert gold.version == 2
    return shared_task


@pytest.mark.slow
def test_published_scores_come_out(toxic_spans, shared, client):
    runs = shared / "conformance" / "toxicspans2021" / "runs"
    for team, folder in {"Nothing": "test_all_empty", "Everything": "test_all_chars"}.items():
        body = (runs / folder / "spans-pred.txt").read_bytes()
        submission = send(team_of(toxic_spans, team), "spans-pred.txt", body, AT, "post-evaluation")
        (run_id,) = check_submission(submission.pk, AT)
        assert score_run(run_id, AT)
    phase = toxic_spans.phases.get(slug="post-evaluation")
    viewer = captain(Run.objects.get(pk=run_id).team)
    shown = leaderboard(toxic_spans.tracks.get(), phase, viewer, AT, Choices(baselines=False))
    scores = {row.team: (row.rank, row.scores["span_f1"]) for row in shown.rows}
    assert scores["Nothing"] == (1, pytest.approx(0.197, abs=1e-9))
    assert scores["Everything"] == (2, pytest.approx(0.13883752187196205, abs=1e-9))
    page = client.get(reverse("leaderboard", args=["toxicspans2021", "spans"]), {"phase": phase.slug})
    assert b"0.197000" in page.content
    assert b"0.138838" in page.content
