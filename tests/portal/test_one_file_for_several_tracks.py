"""One upload on several leaderboards: tracks that read their answers from the files of another track."""

import re
from pathlib import Path

import pytest
from django.test import Client

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import Evaluation, Quota, SharedTask
from tests.portal.world import EVALUATION, POST, captain, new_team, send, work_off

TASK = """
agon: 1
slug: tiny
title: "Tiny"
year: 2024
languages: [en]
tracks:
  - slug: label
    format: {kind: table-labels, id: id, label: label, classes: [A, B], extra_columns: ignore}
    items: items.txt
    metrics: [accuracy]
    rank_by: accuracy
  - slug: score
    file_of: label
    format: {kind: table, id: id, columns: [score], values: number, extra_columns: ignore}
    items: items.txt
    metrics: [mae]
    rank_by: mae
naming: {run: "run_{team}_{number}.csv", number: [1, 2, 3]}
phases:
  - {slug: post, opens: "2024-05-01 00:00 UTC", runs_per_track: 2, scores: at-once, official: best}
gold: [{track: label, file: gold.csv}, {track: score, file: gold.csv}]
"""


@pytest.mark.slow
def test_one_upload_is_on_both_boards(tmp_path: Path, db: None, client: Client) -> None:
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "items.txt").write_text("a\nb\n")
    (tmp_path / "gold.csv").write_text("id,label,score\na,A,1\nb,B,2\n")
    import_shared_task(None, tmp_path, EVALUATION)
    team = new_team(SharedTask.objects.get(), "Meltemi")
    submission = send(team, "run_Meltemi_1.csv", b"id,label,score\na,A,1.5\nb,A,3\n", POST, "post")
    work_off(POST)
    submission.refresh_from_db()
    assert submission.problems == []
    runs = list(submission.runs.order_by("track__slug"))
    assert [(run.track.slug, run.state, run.number, run.items) for run in runs] == [
        ("label", "scored", 1, 2),
        ("score", "scored", 1, 2),
    ]
    assert [Evaluation.objects.get(run=run).scores for run in runs] == [{"accuracy": 0.5}, {"mae": 0.75}]
    counted = Quota.objects.filter(team=team).values_list("track__slug", "used")
    assert sorted(counted) == [("label", 1), ("score", 1)]
    client.force_login(captain(team))
    for run in runs:
        assert client.get(f"/tasks/tiny/leaderboard/{run.track.slug}/").status_code == 200
        assert "run_Meltemi_1.csv" in client.get(f"/runs/{run.pk}/").content.decode()
        assert b"".join(client.get(f"/runs/{run.pk}/file/")).startswith(b"id,label,score")
    rejected = send(team, "run_Meltemi_2.csv", b"id,label,score\na,A,x\nb,A,3\n", POST, "post")
    work_off(POST)
    assert [run.state for run in rejected.runs.all()] == ["rejected"] * 2
    page = client.get(f"/tasks/tiny/submissions/{rejected.pk}/").content.decode()
    anchors = re.findall('class="tone-bad"\\s+href="#([^"]+)"', page)
    assert anchors
    assert all(f'id="{anchor}"' in page for anchor in anchors)
