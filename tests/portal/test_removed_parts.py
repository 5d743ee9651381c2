"""A draft can lose tracks and phases that have no runs. A public task cannot."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from portal.actions.base.errors import ActionError
from portal.actions.task_folder.pushes import apply_push
from portal.models import Board, Evaluation, GoldStandard, ReleasedBoard, Run, SharedTask, User
from portal.objects.interface import gold_objects
from tests.portal.test_import import edit
from tests.portal.test_pushes import codes, packed, pushed
from tests.portal.test_pushes import creator as creator
from tests.portal.test_pushes import organizer as organizer
from tests.portal.world import EVALUATION, GOOD, POST, new_team, run_file, send, work_off

pytestmark = pytest.mark.postgres


def without_track_two(folder: Path) -> None:
    path = folder / "task.yaml"
    text = re.sub(r"  - slug: two\n(    .*\n)+", "", path.read_text())
    path.write_text(text.replace("  - {track: two, split: test, file: gold/two.json}\n", ""))
    for name in ("gold/two.json", "baselines/two_yes.json"):
        (folder / name).unlink()


def without_last_phase(folder: Path) -> None:
    path = folder / "task.yaml"
    path.write_text(re.sub(r"  - \{slug: without-gold.*\n", "", path.read_text()))


@pytest.mark.slow
def test_a_draft_loses_a_track_with_its_gold_boards_and_baselines(
    creator: User, tiny_folder: Path, django_capture_on_commit_callbacks: Any
) -> None:
    task = pushed(creator, packed(tiny_folder)).shared_task
    assert task is not None
    work_off(POST)
    assert Evaluation.objects.filter(run__track__slug="two").exists()
    assert Board.objects.filter(track__slug="two").exists()
    gold = GoldStandard.objects.get(track__slug="two")
    board = Board.objects.filter(track__slug="two").first()
    assert board is not None
    ReleasedBoard.objects.create(
        track=board.track, phase=board.phase, number=1, gold=gold, scorer="1", content={}, at=POST
    )
    without_track_two(tiny_folder)
    push = pushed(creator, packed(tiny_folder), task)
    assert (push.state, push.problems) == ("ready", [])
    assert "track two: removed" in push.changes
    assert "-  - slug: two" in push.difference
    assert set(task.tracks.values_list("slug", flat=True)) == {"one", "two"}
    assert gold.sealed_sha256 in gold_objects().names()
    with django_capture_on_commit_callbacks(execute=True):
        apply_push(creator, push, EVALUATION)
    assert list(task.tracks.values_list("slug", flat=True)) == ["one"]
    assert gold.sealed_sha256 not in gold_objects().names()
    assert not Run.objects.filter(track__slug="two").exists()
    work_off(POST)
    assert Evaluation.objects.filter(run__track__slug="one").exists()


@pytest.mark.slow
def test_a_draft_loses_a_phase_and_gets_it_back(creator: User, tiny_folder: Path) -> None:
    whole = packed(tiny_folder)
    task = pushed(creator, whole).shared_task
    without_last_phase(tiny_folder)
    push = pushed(creator, packed(tiny_folder), task)
    assert push.changes[0] == "phase without-gold: removed"
    apply_push(creator, push, EVALUATION)
    assert task is not None
    assert list(task.phases.values_list("slug", flat=True)) == ["evaluation", "post"]
    assert not Run.objects.filter(phase__slug="without-gold").exists()
    again = pushed(creator, whole, task)
    assert "phase without-gold: new" in again.changes


def test_a_public_task_keeps_its_parts_and_the_report_says_why(
    tiny: SharedTask, organizer: User, tiny_folder: Path
) -> None:
    without_last_phase(tiny_folder)
    assert codes(pushed(organizer, packed(tiny_folder), tiny)) == {"part_missing"}
    send(new_team(tiny, "Meltemi"), "two_Meltemi_1.json", run_file(GOOD), EVALUATION)
    without_track_two(tiny_folder)
    push = pushed(organizer, packed(tiny_folder), tiny)
    assert (push.state, codes(push)) == ("rejected", {"part_missing"})
    (problem,) = push.problems
    assert problem["file"] == "task.yaml"
    assert problem["message"] == (
        "These parts of the task are missing from the folder: track two (1 run), phase without-gold. Add them to "
        "task.yaml again. You can remove tracks and phases only from a draft, because people have already seen those "
        "of a public task."
    )
    with pytest.raises(CommandError, match=r"track two \(1 run\), phase without-gold"):
        call_command("import_task", tiny_folder)
    assert tiny.tracks.count() == 2


def test_runs_keep_their_track_in_a_draft_too(tiny: SharedTask, organizer: User, tiny_folder: Path) -> None:
    submission = send(new_team(tiny, "Meltemi"), "two_Meltemi_1.json", run_file(GOOD), EVALUATION)
    tiny.state = SharedTask.State.DRAFT
    tiny.save()
    without_track_two(tiny_folder)
    push = pushed(organizer, packed(tiny_folder), tiny)
    assert codes(push) == {"part_missing"}
    assert "have runs but are missing from the folder: track two (1 run). Add" in push.problems[0]["message"]
    assert submission.runs.exists()


def test_a_run_that_came_after_the_check_keeps_its_track(tiny: SharedTask, organizer: User, tiny_folder: Path) -> None:
    tiny.state = SharedTask.State.DRAFT
    tiny.save()
    edit(tiny_folder, 'title: "Track one"', 'title: "Track uno"')
    without_track_two(tiny_folder)
    push = pushed(organizer, packed(tiny_folder), tiny)
    assert push.state == "ready"
    SharedTask.objects.update(state=SharedTask.State.OPEN)
    send(new_team(tiny, "Meltemi"), "two_Meltemi_1.json", run_file(GOOD), EVALUATION)
    SharedTask.objects.update(state=SharedTask.State.DRAFT)
    with pytest.raises(ActionError, match="part_missing"):
        apply_push(organizer, push, EVALUATION, is_sure=True)
    assert set(tiny.tracks.values_list("title", flat=True)) == {"Track one", "Track two"}
