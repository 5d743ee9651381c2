"""Emails about uploads, from the upload to the received message: both parts, headers and attachment."""

import json
import re
import time
from datetime import timedelta
from threading import Event

import pytest
from django.db import transaction

from portal.actions.team_members import hand_over, leave_team
from portal.actions.teams import join_team
from portal.evaluation.claim import claim_run, claim_submission
from portal.evaluation.notices import SCORES_AWAITED
from portal.evaluation.record import Scored, quarantine, record_score
from portal.models import GoldStandard, OutgoingMail, Quota, Run, Submission
from portal.queries.receipts import verify
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    POOR,
    POST,
    archive,
    at_once,
    captain,
    check_submission,
    deliver,
    person,
    run_file,
    send,
    send_run,
    work_off,
)
from tests.services import PATIENCE

ADDRESS = "meltemi@example.org"
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


def parts(mail):
    """Return the plain-text part and the HTML part."""
    return mail.get_body(("plain",)).get_content(), mail.get_body(("html",)).get_content()


def about(smtp, words):
    """Return the only email whose subject ends with these words."""
    (mail,) = [mail for mail in smtp.mails if mail["Subject"].endswith(words)]
    return mail


def kinds():
    return sorted(OutgoingMail.objects.values_list("kind", flat=True))


def two_runs(team):
    """Upload an archive with a run for each track."""
    body = archive({"one_Meltemi_1.json": run_file(GOOD), "two_Meltemi_1.json": run_file(POOR)})
    return send(team, "tiny_Meltemi.zip", body, POST, "post")


def assert_has_receipt(mail, submission):
    assert mail["To"] == ADDRESS
    for part in parts(mail):
        assert str(submission.pk) in part
        assert submission.sha256 in part
        assert "Sun 2 Jun, 00:00:00 AoE · Sun 2 Jun, 12:00:00 UTC" in part
    (receipt,) = mail.iter_attachments()
    assert receipt.get_filename() == f"receipt_{submission.pk}.json"
    content = receipt.get_content()
    assert verify(content if isinstance(content, bytes) else content.encode()).ok
    assert json.loads(content)["sha256"] == submission.sha256


@pytest.mark.slow
def test_an_upload_that_is_scored_within_a_minute_brings_one_email_with_its_receipt(meltemi, smtp):
    submission = two_runs(meltemi)
    deliver(POST)
    assert smtp.mails == []  # nothing is sent before the upload has been checked
    work_off(POST)
    deliver(POST + HOUR)
    (mail,) = smtp.mails
    assert mail["Subject"] == "Tiny: tiny_Meltemi.zip was scored"
    assert all("was accepted and scored" in part for part in parts(mail))
    assert_has_receipt(mail, submission)
    assert kinds() == ["runs_scored"]


@pytest.mark.slow
def test_an_upload_that_waits_for_its_scores_brings_its_receipt_after_a_minute(meltemi, smtp, settings):
    settings.PUBLIC_URL = "https://agon.example"
    submission = two_runs(meltemi)
    check_submission(submission.pk, POST)
    deliver(POST + SCORES_AWAITED - SECOND)
    assert smtp.mails == []
    deliver(POST + HOUR)  # later than a minute, because the check takes time, too
    accepted = about(smtp, "Tiny: tiny_Meltemi.zip was accepted")
    assert_has_receipt(accepted, submission)
    for part in parts(accepted):
        assert all(str(run.pk) in part for run in submission.runs.all())
        assert f"https://agon.example/tasks/tiny/submissions/{submission.pk}/" in part
    work_off(POST)
    deliver(POST + HOUR)
    scored = about(smtp, "Tiny: tiny_Meltemi.zip was scored")  # one email for both runs
    assert "accepted" not in parts(scored)[0]
    assert not list(scored.iter_attachments())
    assert kinds() == ["runs_accepted", "runs_scored"]


@pytest.mark.slow
def test_the_email_with_the_receipt_that_a_worker_is_sending_stays_as_it_is(meltemi):
    submission = two_runs(meltemi)
    check_submission(submission.pk, POST)
    OutgoingMail.objects.update(token=submission.pk, attempts=1)
    work_off(POST)
    assert kinds() == ["runs_accepted", "runs_scored"]


@pytest.mark.slow
def test_a_rejected_upload_shows_its_first_problems_with_codes_places_and_fixes(meltemi, smtp):
    broken = b'[{"id": "a", "value": "YES"}, {"id": "b", "value": "Yes"}, {"id": "x", "value": "NO"}]'
    send(meltemi, "one_Meltemi_1.json", broken, EVALUATION)
    work_off(EVALUATION)
    deliver()
    (mail,) = smtp.to(ADDRESS)
    assert mail["Subject"] == "Tiny: one_Meltemi_1.json was rejected"
    problems = Run.objects.get(submission__isnull=False).problems
    assert len(problems) > 2
    for part in parts(mail):
        for problem in problems:
            assert f"[{problem['code']}]" in part
        assert "item b" in part
        assert "no quota was used" in " ".join(part.split())
    assert not list(mail.iter_attachments())


@pytest.mark.slow
def test_the_first_ten_of_many_problems_are_mailed(meltemi, smtp):
    names = {f"one_Meltemi_{number}.json": b"[]" for number in range(1, 4)}
    submission = send(meltemi, "tiny_Meltemi.zip", archive(names), EVALUATION)
    work_off(EVALUATION)
    run = submission.runs.first()
    run.problems = run.problems * 12
    run.save()
    deliver()
    text, _html = parts(smtp.mails[0])
    assert len(re.findall(r"^- ", text, re.MULTILINE)) == 10
    assert "There are 4 more problems." in text


def mail_after(smtp, team, values, number, at, phase="evaluation"):
    """Submit and score a run, and return the last email about it without names and ids, which differ between runs."""
    run = send_run(team, values, number, at, phase)
    work_off(at)
    deliver(at)
    mail = about(smtp, f"{run.name} was {'scored' if phase == 'post' else 'accepted'}")
    text, html = parts(mail)
    own = {str(run.pk): "RUN", str(run.submission.pk): "UPLOAD", run.name: "NAME", run.file_sha256: "SHA-256"}
    for name, word in own.items():
        text, html = text.replace(name, word), html.replace(name, word)
    text, html = (re.sub(r"\(\d+ B\)", "(SIZE)", part) for part in (text, html))
    return text, html


def test_while_scores_are_hidden_the_receipt_is_all_that_is_sent(meltemi, smtp):
    submission = send_run(meltemi, GOOD, 1, EVALUATION).submission
    check_submission(submission.pk, EVALUATION)
    deliver()
    text, _html = parts(about(smtp, "Tiny: one_Meltemi_1.json was accepted"))
    assert "Scoring is in progress" not in text
    work_off(EVALUATION)
    assert kinds() == ["runs_accepted"]


@pytest.mark.slow
def test_no_mail_before_the_release_depends_on_a_score(meltemi, smtp):
    texts = [mail_after(smtp, meltemi, values, number, EVALUATION) for number, values in enumerate((PERFECT, POOR), 1)]
    assert texts[0] == texts[1]
    assert "The scores are hidden until the organizers release them" in texts[0][0]


@pytest.mark.slow
def test_before_the_release_even_organizers_get_no_scores(meltemi, tiny, smtp):  # emails may be forwarded
    tiny.organizers.add(captain(meltemi))
    text, html = mail_after(smtp, meltemi, GOOD, 1, EVALUATION)
    assert not re.search(r"\b[01][.,]\d{2}", text + html.partition("</head>")[2])


@pytest.mark.slow
def test_scores_that_everyone_sees_are_mailed(meltemi, smtp):
    for part in mail_after(smtp, meltemi, GOOD, 1, POST, "post"):
        assert "Track one: Acc 0.7500" in part
        assert "hidden" not in part


@pytest.mark.slow
def test_a_rescore_sends_no_email(meltemi, smtp):
    run = send_run(meltemi, GOOD, 1, POST, "post")
    work_off(POST)
    Run.objects.filter(pk=run.pk).update(state="valid", attempts=0)
    work_off(POST)
    assert kinds() == ["runs_scored"]


def test_what_failed_on_our_side_is_owned_up_to_once(meltemi, smtp):
    submission = two_runs(meltemi)
    token = claim_submission(submission.pk, POST)
    assert token
    quarantine(Submission.objects.filter(pk=submission.pk), POST)
    deliver(POST)
    (mail,) = smtp.mails
    assert mail["Subject"] == "Tiny: evaluation of tiny_Meltemi.zip failed on our side"
    for part in parts(mail):
        assert "on our side, not in your run" in " ".join(part.split())
    assert not Quota.objects.filter(used__gt=0).exists()


@pytest.mark.slow
def test_one_run_of_two_that_fails_does_not_keep_the_others_mail(meltemi, smtp):
    submission = two_runs(meltemi)
    poison = submission.runs.get(track__slug="two")
    Run.objects.filter(pk=poison.pk).update(token=poison.pk, lease_ends=POST + timedelta(days=1))
    work_off(POST)
    assert kinds() == ["runs_accepted"]
    assert claim_run(poison.pk, POST + timedelta(days=1))
    quarantine(Run.objects.filter(pk=poison.pk), POST)
    assert kinds() == ["runs_failed", "runs_scored"]
    deliver(POST)
    assert_has_receipt(about(smtp, "failed on our side"), submission)
    assert "two_Meltemi_1.json" not in parts(about(smtp, "was scored"))[0]


@pytest.mark.slow
def test_who_left_the_team_or_wants_no_such_mails_gets_none(meltemi, smtp):
    run = send_run(meltemi, GOOD, 1, POST, "post")
    work_off(POST)
    sender, friend = captain(meltemi), person("Friend")
    sender.mails_about_runs = False
    sender.save()
    deliver(POST)
    assert smtp.mails == []
    assert set(OutgoingMail.objects.values_list("state", flat=True)) == {"canceled"}
    send_run(meltemi, GOOD, 2, POST, "post")
    work_off(POST)
    assert OutgoingMail.objects.filter(state="queued").count() == 0  # the sender still wants none
    sender.mails_about_runs = True
    sender.save()
    join_team(friend, meltemi.shared_task, POST, code=meltemi.invitation_code)
    hand_over(sender, meltemi, POST, member=meltemi.memberships.get(user=friend))
    leave_team(sender, meltemi, POST)
    OutgoingMail.objects.update(state="queued", attempts=0, lease_ends=None)
    deliver(POST)
    assert smtp.mails == []
    assert run.submission.sent_by == sender


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Zoë Ñandú", "名前 <b>", "A\nBcc: all@example.org"])
def test_names_of_any_kind_stay_in_their_place(meltemi, smtp, name):
    meltemi.shared_task.title = f"Tarea {name}"
    meltemi.shared_task.save()
    send_run(meltemi, GOOD, 1, POST, "post")
    work_off(POST)
    deliver(POST)
    mail = about(smtp, "was scored")
    assert mail["Subject"].strip() == f"Tarea {' '.join(name.split())}: one_Meltemi_1.json was scored"
    assert mail["Bcc"] is None
    text, html = parts(mail)
    assert name.split()[0] in text
    assert "<b>" not in html.partition("</head>")[2].replace("<b>one_Meltemi_1.json</b>", "")


@pytest.mark.django_db(transaction=True)
def test_two_workers_that_end_an_upload_at_once_send_one_mail(meltemi):
    """The second worker reads before the first commits. Without a lock, neither would see that both runs are scored."""
    scored = Scored(scores={"accuracy": 0.75}, flags=[], details={})
    body = archive({f"{track}_Meltemi_1.json": run_file(GOOD) for track in ("one", "two")})
    submission = send(meltemi, "tiny_Meltemi.zip", body, POST, "post")
    check_submission(submission.pk, POST)
    first, second = submission.runs.select_related("track")
    tokens = {run: claim_run(run.pk, POST) for run in (first, second)}
    is_written = Event()

    def record(run):
        gold = GoldStandard.objects.newest(run.track, "test")
        return record_score(run, tokens[run], gold, "1", scored, POST)

    def record_slowly():
        with transaction.atomic():
            done = record(first)
            is_written.set()
            time.sleep(0.5)
        return done

    assert at_once([record_slowly, lambda: is_written.wait(PATIENCE) and record(second)]) == [True, True]
    assert submission.mails.filter(kind="runs_scored").count() == 1
