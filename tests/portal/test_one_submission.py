"""Phases with one submission per team: a later upload replaces the earlier one as soon as it is accepted."""

import csv
import io
import itertools
import json
import re
import zipfile
from datetime import timedelta

import pytest
from django.urls import reverse

from portal.actions.base.errors import ActionError, Invalid, LimitReached
from portal.actions.retry import retry_failed
from portal.actions.runs import choose_official_run, withdraw_run
from portal.actions.task_folder.drafts import delete_draft
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.team_members import leave_team
from portal.actions.teams import join_team
from portal.actions.uploads import rejections
from portal.evaluation.claim import claim_submission
from portal.evaluation.reconcile import reconcile
from portal.evaluation.record import UploadFinding, record_check
from portal.evaluation.score import score_run
from portal.models import AuditEntry, Phase, Quota, Run, Submission
from portal.queries.quota import remaining
from portal.queries.runs import submission_view
from portal.queries.uploads import upload_to_replace
from portal.task_exports import EXPORTS, MANIFEST
from tests.portal.test_import import edit
from tests.portal.test_pushes import codes, packed, pushed
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    POOR,
    RELEASE,
    archive,
    at_once,
    board,
    captain,
    check_submission,
    deliver,
    new_team,
    organizer_of,
    person,
    run_file,
    send,
    without_children,
    work_off,
)

pytestmark = pytest.mark.postgres

MINUTE = timedelta(minutes=1)


@pytest.fixture
def team(meltemi):
    """A team in a task whose evaluation phase keeps one submission per team."""
    meltemi.shared_task.phases.filter(slug="evaluation").update(max_submissions=1, run_numbers="free")
    return meltemi


def upload(team, *names, minutes=0, values=GOOD, by=None):
    """Upload an archive with these runs, such as `one_1`."""
    files = {}
    for name in names:
        track, number = name.split("_")
        files[f"{track}_{team.name}_{number}.json"] = run_file(values)
    return send(team, f"tiny_{team.name}.zip", archive(files), EVALUATION + minutes * MINUTE, by=by)


def counting(team):
    """Return the names of the team's runs that count, and check that the quota counts exactly these."""
    runs = Run.objects.filter(team=team).eligible().order_by("name")
    quota = Quota.objects.filter(team=team, day="").values_list("used", flat=True)
    assert sum(quota) == len(runs)
    with without_children():
        assert reconcile(team.shared_task, EVALUATION) == []
    return [run.name for run in runs]


@pytest.mark.slow
def test_a_later_archive_replaces_the_earlier_one_on_all_tracks(team):
    first = upload(team, "one_1", "one_2", "two_1", values=POOR)
    work_off(EVALUATION)
    choose_official_run(captain(team), first.runs.get(name="one_Meltemi_1.json"), EVALUATION)
    second = upload(team, "one_1", minutes=1, values=PERFECT)
    assert len(counting(team)) == 4  # until the second upload is accepted, the first one counts
    work_off(EVALUATION + MINUTE)
    assert counting(team) == ["one_Meltemi_1.json"]
    first.refresh_from_db()
    assert first.replaced_by == second
    assert first.state == "accepted"
    replaced = first.runs.all()
    assert {run.state for run in replaced} == {"scored"}
    assert {run.is_replaced for run in replaced} == {True}
    assert not replaced.filter(chosen_at__isnull=False).exists()
    (row,) = board(team.shared_task, RELEASE).teams
    assert (row.team, row.run_id) == ("Meltemi", second.runs.get().pk)


def test_the_audit_log_and_the_exports_name_the_newer_upload(team):
    first, second = [upload(team, "one_1", minutes=minutes) for minutes in (0, 1)]
    check_submission(first.pk, EVALUATION)
    for run in first.runs.all():
        score_run(run.pk, EVALUATION)
    check_submission(second.pk, EVALUATION + MINUTE)
    for run in second.runs.all():
        score_run(run.pk, EVALUATION + MINUTE)
    entry = AuditEntry.objects.get(verb="replace_submission")
    second.refresh_from_db()
    assert (entry.actor, entry.shared_task, entry.at) == (None, team.shared_task, second.checked_at)
    assert entry.subject == f"submission {first.pk}"
    assert entry.detail == {"team": "Meltemi", "phase": "evaluation", "replaced_by": str(second.pk)}
    task, organizer = team.shared_task, organizer_of(team.shared_task, "Oana")
    scores = list(csv.DictReader(EXPORTS["scores.csv"].content(task, organizer, EVALUATION + MINUTE).decode().split()))
    assert {(row["run_id"], row["withdrawn"], row["replaced_by"]) for row in scores if row["kind"] == "team"} == {
        (str(first.runs.get().pk), "yes", str(second.pk)),
        (str(second.runs.get().pk), "no", ""),
    }
    packed = io.BytesIO(b"".join(EXPORTS["runs.zip"].content(task, organizer, EVALUATION + MINUTE)))
    manifest = json.loads(zipfile.ZipFile(packed).read(MANIFEST))
    assert {run["submission"]: run["replaced_by"] for run in manifest["runs"] if run["kind"] == "team"} == {
        str(first.pk): str(second.pk),
        str(second.pk): None,
    }


def test_an_import_is_rejected_while_the_next_upload_would_replace_several(tiny, meltemi, tiny_folder):
    first, second = [upload(meltemi, f"one_{number}", minutes=number) for number in (1, 2)]
    edit(tiny_folder, "runs_per_track: 3", "runs_per_track: 3, submissions: 1, run_numbers: free")
    with pytest.raises(Invalid, match="phase evaluation: 1 team has more than one upload") as raised:
        import_shared_task(None, tiny_folder, EVALUATION)
    assert raised.value.code == "window"
    push = pushed(organizer_of(tiny, "Oana"), packed(tiny_folder), tiny)
    assert (push.state, codes(push)) == ("rejected", {"window"})
    assert tiny.phases.get(slug="evaluation").max_submissions is None
    Submission.objects.filter(pk=first.pk).update(state="rejected")
    import_shared_task(None, tiny_folder, EVALUATION)
    assert tiny.phases.get(slug="evaluation").max_submissions == 1
    Submission.objects.filter(pk=first.pk).update(state="accepted", replaced_by=second)
    assert import_shared_task(None, tiny_folder, EVALUATION).changes == []


@pytest.mark.slow
def test_a_rejected_upload_replaces_nothing(team):
    first = upload(team, "one_1")
    work_off(EVALUATION)
    second = upload(team, "one_1", minutes=1, values=["YES", "NO", "MAYBE", "NO"])
    work_off(EVALUATION + MINUTE)
    second.refresh_from_db()
    assert second.state == "rejected"
    assert upload_to_replace(team, second.phase) == first
    assert counting(team) == ["one_Meltemi_1.json"]


@pytest.mark.slow
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_newest_counts_in_whatever_order_they_are_checked(team, order):
    uploads = [upload(team, "one_1", "two_1", minutes=minutes) for minutes in range(3)]
    with without_children():
        for place in order:
            check_submission(uploads[place].pk, EVALUATION + 3 * MINUTE)
    work_off(EVALUATION + 3 * MINUTE)
    assert list(Submission.objects.filter(replaced_by__isnull=True)) == [uploads[2]]
    assert counting(team) == ["one_Meltemi_1.json", "two_Meltemi_1.json"]


@pytest.mark.slow
def test_the_limit_is_per_upload(team):
    with pytest.raises(LimitReached, match="Runs left for Track one in Evaluation: 3 of 3"):
        upload(team, "one_1", "one_2", "one_3", "one_4")
    for minutes in range(4):
        upload(team, "one_1", "one_2", "one_3", minutes=minutes)
        phase = team.shared_task.phases.get(slug="evaluation")
        assert [line.left for line in remaining(team, captain(team), phase, EVALUATION)] == [3, 3]
    work_off(EVALUATION + 4 * MINUTE)
    assert len(counting(team)) == 3


@pytest.mark.slow
def test_people_and_teams_replace_their_submission_a_limited_number_of_times_an_hour(team, monkeypatch):
    monkeypatch.setattr(rejections, "REPLACEABLE_AN_HOUR", 3)
    friend = person("Friend")
    join_team(friend, team.shared_task, EVALUATION, code=team.invitation_code)
    for minutes in range(3):
        upload(team, "one_1", minutes=minutes, by=friend)
        work_off(EVALUATION + minutes * MINUTE)
    upload(team, "one_1", minutes=60, values=["MAYBE"])  # the first upload was an hour ago
    work_off(EVALUATION + 60 * MINUTE)
    upload(team, "one_1", minutes=60)  # the rejected one does not count
    with pytest.raises(LimitReached, match="3 files from you or your team were uploaded") as raised:
        upload(team, "one_1", minutes=60)
    assert (raised.value.code, raised.value.http_status) == ("too_many_uploads", 429)
    assert raised.value.params["seconds"] == 60
    leave_team(friend, team, EVALUATION + 60 * MINUTE)
    other = new_team(team.shared_task, "Ostro")
    join_team(friend, team.shared_task, EVALUATION + 60 * MINUTE, code=other.invitation_code)
    upload(other, "one_1", minutes=60, by=friend)
    with pytest.raises(LimitReached, match="3 files from you"):
        upload(other, "one_1", minutes=60, by=friend)
    team.shared_task.phases.update(max_submissions=None)
    upload(team, "one_1", minutes=60)


def test_a_number_is_used_once_in_an_upload(team):
    files = {f"{folder}/one_Meltemi_1.json": run_file(GOOD) for folder in "ab"}
    with pytest.raises(ActionError):
        send(team, "tiny_Meltemi.zip", archive(files), EVALUATION)


@pytest.mark.slow
def test_a_person_gets_no_second_submission_in_another_team(team):
    friend = person("Friend")
    join_team(friend, team.shared_task, EVALUATION, code=team.invitation_code)
    upload(team, "one_1", "one_2", by=friend)
    work_off(EVALUATION)
    leave_team(friend, team, EVALUATION)
    other = new_team(team.shared_task, "Ostro")
    join_team(friend, team.shared_task, EVALUATION, code=other.invitation_code)
    upload(other, "one_1", by=friend, minutes=1)
    upload(other, "one_1", by=friend, minutes=2)  # replaces the friend's own runs for this team
    with pytest.raises(LimitReached, match="you have left"):
        upload(other, "one_1", "one_2", by=friend, minutes=3)
    upload(team, "one_1", minutes=4)  # replaces the friend's runs for the first team, so they no longer count
    work_off(EVALUATION + 4 * MINUTE)
    upload(other, "one_1", "one_2", "one_3", by=friend, minutes=5)
    work_off(EVALUATION + 5 * MINUTE)
    assert len(counting(other)) == 3


@pytest.mark.slow
def test_withdrawn_and_failed_runs_are_replaced_too(team):
    first = upload(team, "one_1", "two_1")
    work_off(EVALUATION)
    withdraw_run(captain(team), first.runs.get(track__slug="one"), EVALUATION, reason="a bug")
    second = upload(team, "one_1", minutes=1)
    failed = Run.objects.filter(submission=first, track__slug="two")
    failed.update(state="failed")
    Quota.objects.filter(track__slug="two").update(used=0)
    work_off(EVALUATION + MINUTE)
    assert counting(team) == ["one_Meltemi_1.json"]
    withdrawn = first.runs.get(track__slug="one")
    assert withdrawn.withdrawal_reason == "a bug"
    assert withdrawn.withdrawn_at == EVALUATION
    found = retry_failed(organizer_of(team.shared_task, "Oana"), team.shared_task, EVALUATION + MINUTE)
    assert [(name, error.code) for name, error in found.left] == [("two_Meltemi_1.json", "replaced")]
    assert upload_to_replace(team, second.phase) == second


@pytest.mark.slow
def test_a_draft_with_a_replaced_upload_can_be_deleted(team):
    for minutes in (0, 1):
        upload(team, "one_1", minutes=minutes)
    work_off(EVALUATION + MINUTE)
    organizer, task = organizer_of(team.shared_task, "Oana"), team.shared_task
    task.state = "draft"
    task.save()
    delete_draft(organizer, task, EVALUATION)
    assert not Submission.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(4))
def test_of_two_uploads_checked_at_once_exactly_one_counts(team, attempt):
    """Two workers accept two uploads by a team on separate connections."""
    uploads = [upload(team, "one_1", "two_1", minutes=minutes) for minutes in range(2)]
    finding = UploadFinding(ok=True, problems=[])
    tokens = [claim_submission(one.pk, EVALUATION) for one in uploads]
    claimed = [Submission.objects.select_related("phase", "team", "sent_by").get(pk=one.pk) for one in uploads]
    results = at_once(
        [
            lambda one=one, token=token: record_check(one, token, finding, EVALUATION)
            for one, token in list(zip(claimed, tokens, strict=True))[:: 1 if attempt % 2 else -1]
        ]
    )
    assert results == [True, True]
    assert list(Submission.objects.filter(replaced_by__isnull=True)) == [uploads[1]]
    assert counting(team) == ["one_Meltemi_1.json", "two_Meltemi_1.json"]


@pytest.mark.slow
def test_of_two_uploads_received_at_once_the_page_names_the_one_that_is_replaced(team):
    earlier, later = sorted((upload(team, "one_1") for _ in range(2)), key=lambda one: one.pk)
    views = [submission_view(one, captain(team), EVALUATION) for one in (earlier, later)]
    assert [view.replaces for view in views] == [None, earlier]
    work_off(EVALUATION)
    earlier.refresh_from_db()
    assert earlier.replaced_by == later


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_simultaneous_uploads_are_all_kept_and_one_counts(team):
    results = at_once([lambda minutes=minutes: upload(team, "one_1", minutes=minutes) for minutes in range(4)])
    assert Submission.objects.count() == len(results) == 4
    work_off(EVALUATION + 4 * MINUTE)
    assert counting(team) == ["one_Meltemi_1.json"]
    assert Submission.objects.filter(state="accepted").count() == 4


@pytest.mark.slow
def test_pages_say_what_is_replaced(client, team):
    client.force_login(captain(team))
    page = reverse("submit", args=["tiny"])
    first = upload(team, "one_1", values=POOR)
    work_off(EVALUATION)
    team.shared_task.phases.filter(slug="evaluation").update(closes=None)
    text = words(client.get(page))
    assert "Evaluation: one submission per team. Put all of your runs in one archive." in text
    assert "your upload replaces your earlier submission, with all its runs: tiny_Meltemi.zip," in text
    second = upload(team, "one_1", minutes=1)
    assert "this upload replaces your earlier submission, with all its runs: tiny_Meltemi.zip," in words(
        client.get(address(second))
    )
    work_off(EVALUATION + MINUTE)
    assert "This upload replaced your team’s earlier submission, with all its runs: tiny_Meltemi.zip," in words(
        client.get(address(second))
    )
    assert "newer submission tiny_Meltemi.zip counts instead" in words(client.get(address(first)))
    assert "counts instead" in words(client.get(reverse("run", args=[first.runs.get().pk])))
    assert "Replaced" in words(client.get(reverse("team_runs", args=["tiny"])))
    assert "3 in a single submission; a later one replaces it" in words(
        client.get(reverse("task_evaluation", args=["tiny"]))
    )


def address(submission):
    return reverse("submission", args=["tiny", submission.pk])


def words(response):
    assert response.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", response.content.decode()))


@pytest.mark.slow
def test_emails_say_which_submission_counts(team, smtp):
    for minutes in (0, 1):
        upload(team, "one_1", minutes=minutes)
        work_off(EVALUATION + minutes * MINUTE)
        deliver(EVALUATION + minutes * MINUTE)
    texts = [mail.get_body(("plain",)).get_content().replace("\n", " ") for mail in smtp.mails]
    assert ["It replaced your team’s earlier submission" in text for text in texts] == [False, True]
    assert all("Each team has one submission to Evaluation" in text for text in texts)
    for minutes in (2, 3):
        upload(team, "one_1", minutes=minutes)
    last, older = Submission.objects.filter(state="received").order_by("-received_at")
    for one in (last, older):
        check_submission(one.pk, EVALUATION + 4 * MINUTE)
    deliver(EVALUATION + 10 * MINUTE)
    texts = [mail.get_body(("plain",)).get_content().replace("\n", " ") for mail in smtp.mails]
    assert sum("newer submission tiny_Meltemi.zip to Evaluation counts instead" in text for text in texts) == 1


def test_a_waiting_upload_shows_what_it_would_replace(team):
    first = upload(team, "one_1")
    second = upload(team, "one_1", minutes=1)
    assert submission_view(first, captain(team), EVALUATION).replaces is None
    assert submission_view(second, captain(team), EVALUATION).replaces == first
    Phase.objects.update(max_submissions=None)
    second = Submission.objects.get(pk=second.pk)
    assert submission_view(second, captain(team), EVALUATION).replaces is None
