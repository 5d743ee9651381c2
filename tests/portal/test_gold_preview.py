"""Corrections of a gold standard: previewed without publishing anything, applied with a reason, and undone."""

import json
import time
from datetime import timedelta
from threading import Event

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from portal import jobs
from portal.actions.base.errors import Conflict, NotAllowed
from portal.actions.gold import apply_gold, preview_former_gold, upload_gold
from portal.actions.runs import withdraw_run
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation import preview as previewing
from portal.evaluation.errors import ChildError
from portal.evaluation.gold import check_gold_upload, drop_unused_gold
from portal.evaluation.preview import preview_gold
from portal.evaluation.sweep import sweep
from portal.models import Board, BoardChange, Evaluation, GoldStandard, GoldUpload, Run, SharedTask
from portal.models.clock import running_from
from portal.queries.boards.waiting_scores import show_announced
from portal.queries.gold_preview import find_preview
from tests.portal.remembered import remembered
from tests.portal.test_import import edit
from tests.portal.world import (
    EVALUATION,
    GOOD,
    NOTE,
    PERFECT,
    POOR,
    POST,
    at_once,
    board,
    captain,
    gold_path,
    judged,
    organizer_of,
    person,
    ranked,
    run_file,
    sealed_file,
    send_run,
    with_teams,
    without_children,
    work_off,
)

FIXED = run_file(GOOD)  # corrects item c, so runs that were perfect no longer are


@remembered
def field(tiny):
    """Three scored teams, ranked Perfect, Good, Poor."""
    return with_teams(tiny, {"Perfect": PERFECT, "Good": GOOD, "Poor": POOR})


@remembered
def organizer(tiny):
    return organizer_of(tiny)


def sent(task, organizer, content=FIXED, at=POST):
    return upload_gold(organizer, task.tracks.get(slug="one"), at, split="test", sealed=sealed_file(content))


def previewed(task, organizer, content=FIXED, at=POST):
    """Upload gold, have a worker check and preview it, and return the upload."""
    upload = sent(task, organizer, content, at)
    check_gold_upload(upload.pk, at)
    with without_children():
        preview_gold(upload.pk, at)
    upload.refresh_from_db()
    return upload


def look(upload, organizer, at=POST):
    return find_preview(upload.shared_task, upload.pk, organizer, at)


def refreshed(at):
    """Run the job for boards whose new scores are complete."""
    for one in Board.objects.to_announce(at):
        assert show_announced(one.pk, at)


def accuracies(shown):
    return {row.team: row.scores["accuracy"] for row in shown.rows if row.kind == "team"}


@pytest.mark.slow
def test_a_preview_lists_each_run_before_and_after(field, organizer):
    upload = previewed(field, organizer)
    found = look(upload, organizer)
    assert (upload.state, found.can_be_applied, upload.counts) == ("ready", True, (4, 4))
    assert found.changes == {
        "added": {"count": 0, "items": []},
        "removed": {"count": 0, "items": []},
        "changed": {"count": 1, "items": ["c"]},
    }
    (evaluation,) = [one for one in found.boards if one.phase.slug == "evaluation"]
    places = {
        one.run.team.name: (one.values, one.before.rank, one.after.rank) for one in evaluation.runs if one.run.team
    }
    assert places == {"Perfect": ((1.0, 0.75), 1, 2), "Good": ((0.75, 1.0), 2, 1), "Poor": ((0.25, 0.5), 3, 3)}
    assert {one.before.group for one in evaluation.runs if one.run.team} == {"A"}
    assert {one.after.group for one in evaluation.runs if one.run.team} == {"A"}
    assert (evaluation.reranked, evaluation.lost, len(evaluation.runs)) == (2, 0, 5)


@pytest.mark.slow
def test_equal_scores_are_ranked_by_the_time_of_receipt_before_and_after(tiny_folder, db):
    edit(tiny_folder, "rank_by: accuracy\n", "rank_by: accuracy\n    ties: earlier\n")
    task = with_teams(import_shared_task(None, tiny_folder, EVALUATION).shared_task, {"Late": GOOD, "Early": GOOD})
    Run.objects.filter(team__name="Late").update(received_at=EVALUATION + timedelta(minutes=1))
    organizer = organizer_of(task)
    (shown,) = [one for one in look(previewed(task, organizer), organizer).boards if one.phase.slug == "evaluation"]
    places = {one.run.team.name: (one.before.rank, one.after.rank) for one in shown.runs if one.run.team}
    assert places == {"Early": (1, 1), "Late": (2, 2)}


@pytest.mark.slow
def test_a_preview_changes_nothing_that_anyone_else_sees(field, organizer):
    def seen():
        boards = [
            board(field, POST, phase, viewer=viewer).rows for phase in ("evaluation", "post") for viewer in people
        ]
        return boards, [list(model.objects.order_by("pk").values()) for model in (Run, Evaluation, Board, GoldStandard)]

    people = AnonymousUser(), captain(field.teams.get(name="Good")), organizer
    before = seen()
    upload = previewed(field, organizer)
    assert seen() == before
    for viewer in (AnonymousUser(), captain(field.teams.get(name="Good")), person("Rival")):
        assert not GoldUpload.objects.visible_to(viewer).exists()
        with pytest.raises(Http404):
            look(upload, viewer)


def test_labels_of_the_gold_are_in_no_row(field, organizer):
    upload = previewed(field, organizer)
    assert '"YES"' not in json.dumps(upload.preview)
    assert not gold_path(upload.sealed_sha256).read_bytes().count(b"YES")


@pytest.mark.slow
def test_what_is_applied_scores_as_the_preview_said_and_says_why(field, organizer):
    upload = previewed(field, organizer)
    expected = {
        str(key): found for one in upload.preview["boards"] for key, found in one["runs"].items() if found is not None
    }
    gold = apply_gold(organizer, upload, POST, note=NOTE)
    assert (gold.version, gold.note, gold.applied_by) == (2, NOTE, organizer)
    assert accuracies(board(field, POST)) == {"Perfect": 1.0, "Good": 0.75, "Poor": 0.25}
    work_off(POST)
    assert board(field, POST).gold_version == 1  # until a job shows all new scores together
    refreshed(POST)
    shown = board(field, POST)
    assert (shown.gold_version, accuracies(shown)) == (2, {"Perfect": 0.75, "Good": 1.0, "Poor": 0.5})
    assert (1, "Good") in ranked(shown)
    (change,) = shown.changes
    assert (change.note, change.by, change.ranks, change.gold_after) == (NOTE, organizer, 2, gold)
    by_new = Evaluation.objects.filter(gold=gold)
    assert {str(one.run_id): one.scores for one in by_new} == expected
    upload.refresh_from_db()
    assert (upload.state, upload.gold) == ("accepted", gold)
    with pytest.raises(Conflict):
        apply_gold(organizer, upload, POST, note=NOTE)


@pytest.mark.slow
def test_before_the_release_no_one_has_seen_what_changes(field, organizer):
    apply_gold(organizer, previewed(field, organizer, at=EVALUATION), EVALUATION, note=NOTE)
    work_off(EVALUATION)
    assert board(field, EVALUATION, viewer=organizer).gold_version == 2
    refreshed(EVALUATION)
    assert not BoardChange.objects.filter(board__phase__slug="evaluation").exists()


@pytest.mark.slow
def test_an_earlier_gold_comes_back_with_its_own_sentence(field, organizer):
    apply_gold(organizer, previewed(field, organizer), POST, note=NOTE)
    work_off(POST)
    refreshed(POST)
    before = board(field, POST)
    upload = judged(preview_former_gold(organizer, GoldStandard.objects.get(track__slug="one", version=1), POST), POST)
    found = look(upload, organizer)
    assert board(field, POST) == before  # nothing is public yet
    (evaluation,) = [one for one in found.boards if one.phase.slug == "evaluation"]
    values = {one.run.team.name: one.values for one in evaluation.runs if one.run.team}
    assert values == {"Perfect": (0.75, 1.0), "Good": (1.0, 0.75), "Poor": (0.5, 0.25)}
    assert found.changes["changed"] == {"count": 1, "items": ["c"]}
    apply_gold(organizer, upload, POST, note="We were wrong.")
    work_off(POST)
    refreshed(POST)
    shown = board(field, POST)
    assert (shown.gold_version, accuracies(shown)) == (3, {"Perfect": 1.0, "Good": 0.75, "Poor": 0.25})
    assert [change.note for change in shown.changes] == ["We were wrong.", NOTE]


@pytest.mark.slow
def test_an_earlier_gold_is_kept_whatever_becomes_of_its_preview(field, organizer):
    apply_gold(organizer, previewed(field, organizer), POST, note=NOTE)
    first = GoldStandard.objects.get(track__slug="one", version=1)
    judged(preview_former_gold(organizer, first, POST), POST)
    apply_gold(organizer, previewed(field, organizer, run_file(POOR)), POST + timedelta(seconds=1), note=NOTE)
    drop_unused_gold()
    assert gold_path(first.sealed_sha256).exists()


@pytest.mark.slow
def test_the_job_shows_what_was_applied(field, organizer, monkeypatch):
    monkeypatch.setattr(jobs, "database_now", lambda: POST)
    apply_gold(organizer, previewed(field, organizer), POST, note=NOTE)
    work_off(POST)
    there = Board.objects.get(track__slug="one", phase__slug="evaluation")
    jobs.refresh_board(str(there.pk))
    assert board(field, POST).gold_version == 2


@pytest.mark.slow
def test_a_new_scorer_alone_repeats_no_sentence(field, organizer):
    apply_gold(organizer, previewed(field, organizer), POST, note=NOTE)
    work_off(POST)
    refreshed(POST)
    there = Board.objects.get(track__slug="one", phase__slug="evaluation")
    Board.objects.filter(pk=there.pk).update(next_gold=there.gold, next_scorer="9")
    assert Board.objects.to_announce(POST) == []


def withdrawn(_task, _organizer, _folder):
    run = Run.objects.get(team__name="Good")
    withdraw_run(captain(run.team), run, EVALUATION, reason="Wrong file")


def rescored(task, _organizer, _folder):
    SharedTask.objects.filter(pk=task.pk).update(scorer="9")


def other_rules(task, _organizer, folder):
    edit(folder, "year: 2024", "year: 2025")
    import_shared_task(None, folder, POST)


def other_gold(task, organizer, _folder):
    apply_gold(organizer, previewed(task, organizer, run_file(POOR)), POST, note=NOTE)


@pytest.mark.slow
@pytest.mark.parametrize("change", [withdrawn, rescored, other_rules, other_gold])
def test_a_stale_preview_is_not_applied(field, organizer, tiny_folder, change):
    upload = previewed(field, organizer)
    change(field, organizer, tiny_folder)
    versions = GoldStandard.objects.count()
    upload = GoldUpload.objects.get(pk=upload.pk)
    assert look(upload, organizer).is_stale
    with pytest.raises(Conflict, match="have changed since"):
        apply_gold(organizer, upload, POST, note=NOTE)
    assert GoldStandard.objects.count() == versions


@pytest.mark.slow
def test_runs_that_come_in_while_a_phase_is_open_leave_a_preview_as_it_is(field, organizer):
    upload = previewed(field, organizer)
    send_run(field.teams.get(name="Good"), PERFECT, 2, POST, "post")
    work_off(POST)
    assert apply_gold(organizer, upload, POST, note=NOTE).version == 2


@pytest.mark.slow
def test_a_file_that_is_not_ready_is_not_applied(field, organizer):
    upload = sent(field, organizer)
    with pytest.raises(Conflict, match="no preview"):
        apply_gold(organizer, upload, POST, note=NOTE)
    check_gold_upload(upload.pk, POST)
    with pytest.raises(Conflict, match="no preview"):
        apply_gold(organizer, upload, POST, note=NOTE)
    with pytest.raises(NotAllowed):
        apply_gold(person("Rival"), previewed(field, organizer), POST, note=NOTE)


def test_a_run_that_the_new_gold_cannot_score_is_listed(field, organizer, monkeypatch):
    dead = Run.objects.get(team__name="Poor")
    compute = previewing.compute

    def die(run, gold):
        if run.pk == dead.pk:
            raise ChildError("timed out")
        return compute(run, gold)

    monkeypatch.setattr(previewing, "compute", die)
    found = look(previewed(field, organizer), organizer)
    (evaluation,) = [one for one in found.boards if one.phase.slug == "evaluation"]
    assert evaluation.lost == 1
    (poor,) = [one for one in evaluation.runs if one.run.pk == dead.pk]
    assert (poor.after.scores, poor.after.rank, poor.before.rank) == (None, None, 3)


def test_a_worker_that_lost_its_claim_writes_nothing(field, organizer, monkeypatch):
    upload = sent(field, organizer)
    check_gold_upload(upload.pk, POST)
    compute = previewing.compute

    def claimed_by_another(run, gold):
        GoldUpload.objects.filter(pk=upload.pk).update(token=None)
        return compute(run, gold)

    monkeypatch.setattr(previewing, "compute", claimed_by_another)
    with without_children():
        assert not preview_gold(upload.pk, POST)
    upload.refresh_from_db()
    assert (upload.state, upload.preview.get("boards")) == ("previewing", None)


def test_a_preview_whose_worker_died_is_found(field, organizer):
    upload = sent(field, organizer)
    check_gold_upload(upload.pk, POST)
    GoldUpload.objects.filter(pk=upload.pk).update(lease_ends=POST)
    assert sweep(POST).previews == [upload.pk]
    now = running_from(POST)
    assert sweep(now()).previews == []


@pytest.mark.slow
def test_files_of_previews_are_kept_until_another_takes_their_place(field, organizer):
    first = previewed(field, organizer)
    assert drop_unused_gold() == 0
    second = previewed(field, organizer, run_file(POOR), at=POST + timedelta(minutes=1))
    assert drop_unused_gold() == 1
    first.refresh_from_db()
    assert (first.sealed_sha256, first.preview) == ("", {})
    assert gold_path(second.sealed_sha256).exists()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_one_of_two_simultaneous_applications_wins(field, organizer, monkeypatch):
    first, second = previewed(field, organizer), previewed(field, organizer, run_file(POOR))
    read_basis, second_has_read = GoldUpload.basis_at, Event()

    def read_in_turn(upload, at):
        """If no lock prevents it, let the second upload read its basis before the first one but continue after it."""
        if upload.pk == first.pk:
            second_has_read.wait(1)
            return read_basis(upload, at)
        basis = read_basis(upload, at)
        second_has_read.set()
        time.sleep(0.5)
        return basis

    monkeypatch.setattr(GoldUpload, "basis_at", read_in_turn)

    def apply(upload):
        return lambda: apply_gold(organizer, GoldUpload.objects.get(pk=upload.pk), POST, note=NOTE)

    found = at_once([apply(first), apply(second), apply(first)])
    assert sum(isinstance(one, GoldStandard) for one in found) == 1
    assert GoldStandard.objects.filter(track__slug="one").count() == 2
