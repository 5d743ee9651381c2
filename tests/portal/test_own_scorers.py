"""Organizers' own scorers on the portal: nothing runs before an administrator has approved exactly its files."""

import time
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from portal.actions.base.errors import ActionError, Conflict, NotAllowed
from portal.actions.own_scorers import approve_scorer
from portal.actions.scores import rescore
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.task_folder.pushes import apply_push
from portal.evaluation.compare import compare_board
from portal.evaluation.errors import HostError
from portal.evaluation.own_scorers.scores import approved_program, own_scores
from portal.evaluation.score import compute, score_run
from portal.evaluation.sweep import sweep
from portal.models import AuditEntry, Board, Evaluation, GoldStandard, OutgoingMail, OwnScorer, Run, SharedTask, User
from portal.models.own_scorer import row_of
from tests.portal.test_import import edit
from tests.portal.test_pushes import codes, packed, pushed
from tests.portal.world import (
    EVALUATION,
    GOOD,
    POST,
    board,
    new_team,
    organizer_of,
    person,
    ranked,
    send_run,
    set_up_second_factor,
    work_off,
)

SCORER = """
import json, os

def read(folder):
    [name] = os.listdir(folder)
    with open(os.path.join(folder, name)) as file:
        return {item["id"]: item["value"] for item in json.load(file)}

def score(gold_folder, run_folder):
    gold, run = read(gold_folder), read(run_folder)
    print("the gold has", sorted(gold.values()))
    return {"agreement": sum(gold[item] == run[item] for item in gold) / len(gold) / 2, "other": 7}
"""
KEYS = """
scorer:
  function: score.py:score
  columns: [{key: agreement, title: Half agreement, range: [0, 1], decimals: 2}]
"""


def with_scorer(folder: Path, code: str = SCORER, keys: str = KEYS) -> Path:
    """Give the tiny task's track one an own scorer, by which it is ranked."""
    (folder / "scorer").mkdir(exist_ok=True)
    (folder / "scorer/score.py").write_text(code)
    text = (folder / "task.yaml").read_text()
    if "scorer:" not in text:
        before = 'metrics: [accuracy, f1_macro, "f1:YES"]\n    rank_by: accuracy'
        assert before in text
        after = 'metrics: ["scorer:agreement", accuracy]\n    rank_by: "scorer:agreement"'
        (folder / "task.yaml").write_text(text.replace(before, after) + keys)
    return folder


@pytest.fixture
def folder(tiny_folder: Path) -> Path:
    return with_scorer(tiny_folder)


@pytest.fixture
def task(db: None, folder: Path) -> SharedTask:
    return import_shared_task(None, folder, EVALUATION).shared_task


@pytest.fixture
def administrator(db: None) -> User:
    user = person("Ada")
    user.is_staff = True
    user.save()
    set_up_second_factor(user)
    return user


def waiting_scorer(task: SharedTask) -> OwnScorer:
    return OwnScorer.objects.waiting().get(shared_task=task)


def approved(user: User, task: SharedTask) -> OwnScorer:
    scorer = waiting_scorer(task)
    return approve_scorer(user, scorer, EVALUATION, sha256=scorer.sha256)


def no_score(run: Run) -> bool:
    run.refresh_from_db()
    return run.state == Run.State.VALID and not run.evaluations.exists()


@pytest.mark.slow
def test_runs_stay_valid_until_the_scorer_is_approved_and_then_get_its_scores(
    task: SharedTask, administrator: User, client: Client
) -> None:
    run = send_run(new_team(task, "Meltemi"), GOOD, 1, POST, "post")
    work_off(POST)
    assert no_score(run)
    assert not Evaluation.objects.exists()  # of baselines, either
    assert not sweep(POST).others  # nothing is queued again and again
    approved(administrator, task)
    task.refresh_from_db()
    assert task.scorer.endswith(f"+{task.own_scorer_sha256[:12]}")
    work = sweep(POST)
    assert run.pk in work.others  # the lane that no one waits for
    assert not work.runs
    assert not work.hidden
    work_off(POST)
    run.refresh_from_db()
    evaluation = run.evaluations.get()
    assert evaluation.scores == {"scorer:agreement": 0.375, "accuracy": 0.75}
    assert evaluation.scorer == task.scorer
    shown = board(task, POST, "post")
    assert next((column.title, column.decimals) for column in shown.columns) == ("Half agreement", 2)
    assert (1, "Meltemi") in ranked(shown)
    assert "the gold has ['NO', 'YES', 'YES', 'YES']" in run.scorer_message.printed
    row = Board.objects.get(track__slug="one", phase__slug="post")
    compare_board(row, POST)
    row.refresh_from_db()
    assert (row.comparison["intervals"], row.comparison["ranking"]) == ({}, {})  # columns of scorers have none
    for name in ("leaderboard", "insights"):
        page = client.get(reverse(name, args=["tiny", "one"]), {"phase": "post"})
        assert (page.status_code, "Meltemi" in page.content.decode()) == (200, True), name
    entry = AuditEntry.objects.get(verb="approve_scorer")
    assert entry.detail == {"scorer_sha256": task.own_scorer_sha256, "of_own_task": False}


@pytest.mark.slow
def test_a_changed_byte_needs_a_new_approval_and_is_then_a_rescore(
    task: SharedTask, folder: Path, administrator: User
) -> None:
    run = send_run(new_team(task, "Meltemi"), GOOD, 1, POST, "post")
    first = approved(administrator, task)
    work_off(POST)
    again = import_shared_task(None, with_scorer(folder, SCORER.replace("/ 2", "/ 4")), POST)
    assert any("waits for an administrator" in change for change in again.changes)
    rescore(None, again.shared_task, POST, reason="x")
    work_off(POST)
    assert run.evaluations.count() == 1  # those of the approved version stay on the board
    assert (1, "Meltemi") in ranked(board(task, POST, "post"))
    approved(administrator, task)
    work_off(POST)
    scores = [row.scores["scorer:agreement"] for row in run.evaluations.order_by("pk")]
    assert scores == [0.375, 0.1875]
    # The approved first version may come back without another approval.
    back = import_shared_task(None, with_scorer(folder), POST).shared_task
    assert back.own_scorer_sha256 == first.sha256
    assert not OwnScorer.objects.waiting().exists()


def test_no_path_runs_a_scorer_that_is_not_approved(
    task: SharedTask, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = send_run(new_team(task, "Meltemi"), GOOD, 1, POST, "post")
    work_off(POST)
    monkeypatch.setattr("portal.evaluation.own_scorers.scores.run_confined", lambda *_: pytest.fail("it ran"))
    gold = GoldStandard.objects.get(track__slug="one")
    assert not score_run(run.pk, POST)
    for attempt in (lambda: compute(run, gold), lambda: own_scores(run, gold, b"[]"), lambda: approved_program(task)):
        with pytest.raises(HostError, match="approval"):
            attempt()
    scorer = approved(administrator, task)
    # Changed in the database, as by a manipulated backup.
    OwnScorer.objects.filter(pk=scorer.pk).update(files=row_of({"score.py": SCORER.replace("7", "8").encode()}))
    with pytest.raises(HostError, match="not those"):
        approved_program(task)


def test_only_administrators_with_a_second_factor_approve_and_only_what_they_saw(
    task: SharedTask, administrator: User
) -> None:
    scorer = waiting_scorer(task)
    without_factor = person("Adrian")
    without_factor.is_staff = True
    without_factor.save()
    for user in (organizer_of(task), person("Someone"), without_factor):
        with pytest.raises(NotAllowed):
            approve_scorer(user, scorer, EVALUATION, sha256=scorer.sha256)
    with pytest.raises(Conflict, match="not the scorer"):
        approve_scorer(administrator, scorer, EVALUATION, sha256="0" * 64)
    assert not OwnScorer.objects.approved().exists()
    approved(administrator, task)
    with pytest.raises(ActionError, match="already"):
        approve_scorer(administrator, scorer, EVALUATION, sha256=scorer.sha256)


@pytest.mark.slow
def test_a_pushed_scorer_is_never_public_and_can_be_left_out_later(
    folder: Path, administrator: User, client: Client
) -> None:
    push = pushed(administrator, packed(folder))
    assert (push.state, push.problems) == ("applied", [])
    task = push.shared_task
    assert task is not None
    assert not list(task.definition.folder.rglob("score.py"))
    assert OutgoingMail.objects.filter(kind=OutgoingMail.Kind.ALERT, user=administrator).count() == 1
    SharedTask.objects.update(state=SharedTask.State.OPEN)
    content = client.get(reverse("task_folder", args=["tiny"])).getvalue()
    assert b"task.yaml" in content
    assert b"score.py" not in content
    (folder / "scorer/score.py").unlink()
    (folder / "pages/overview.md").write_text("# New\n")
    later = pushed(administrator, packed(folder), task)
    apply_push(administrator, later, EVALUATION)
    assert OwnScorer.objects.count() == 1
    assert SharedTask.objects.get().own_scorer_sha256 == waiting_scorer(task).sha256
    edit(folder, "score.py:score", "score.py:agreed")  # another call of the same files is another scorer
    apply_push(administrator, pushed(administrator, packed(folder), task), EVALUATION, is_sure=True)
    assert (waiting_scorer(task).call, OwnScorer.objects.count()) == ("score.py:agreed", 2)
    edit(folder, "score.py:agreed", "nothing.py:score")
    assert codes(pushed(administrator, packed(folder), SharedTask.objects.get())) == {"scorer_call"}


@pytest.mark.slow
def test_a_scorer_that_fails_ends_the_run_and_tells_organizers_why(
    tiny_folder: Path, administrator: User, client: Client
) -> None:
    code = SCORER.replace("return {", 'raise ValueError("broken <b>")\n    return {')
    task = import_shared_task(None, with_scorer(tiny_folder, code), EVALUATION).shared_task
    run = send_run(new_team(task, "Meltemi"), GOOD, 1, POST, "post")
    other = Run.objects.get(name="All yes", track__slug="two", phase__slug="post")
    approved(administrator, task)
    work_off(POST)
    for made in (run, other):
        made.refresh_from_db()
    assert run.state != Run.State.SCORED
    assert other.state == Run.State.SCORED  # the worker goes on
    assert "ValueError: broken" in run.scorer_message.error
    client.force_login(administrator)
    page = client.get(reverse("organize_scorer", args=["tiny"])).content.decode()
    assert "ValueError: broken &lt;b&gt;" in page


def test_the_administrators_page_shows_files_findings_and_differences(
    task: SharedTask, folder: Path, administrator: User, client: Client
) -> None:
    approved(administrator, task)
    import_shared_task(None, with_scorer(folder, SCORER + "import socket\neval('1')\n"), EVALUATION)
    client.force_login(administrator)
    listed = client.get(reverse("own_scorers")).content.decode()
    assert "Waiting for approval" in listed
    scorer = waiting_scorer(task)
    address = reverse("own_scorer", args=[scorer.pk])
    page = client.get(address).content.decode()
    for words in ("import: network", "running code", "+import socket", "score.py:score", scorer.sha256[:12]):
        assert words in page, words
    assert client.post(address, {"sha256": scorer.sha256}).url.startswith("/accounts/2fa/reauthenticate/")
    assert not OwnScorer.objects.approved().filter(pk=scorer.pk).exists()
    session = client.session
    record = {"method": "mfa", "at": time.time(), "reauthenticated": True}
    session["account_authentication_methods"] = [record]
    session["account_authentication_methods_user"] = str(administrator.pk)
    session.save()
    assert client.post(address, {"sha256": "0" * 64}).status_code == 409
    assert client.post(address, {"sha256": scorer.sha256}).url == address
    scorer.refresh_from_db()
    assert scorer.approved_by == administrator
