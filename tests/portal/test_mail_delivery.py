"""The outbox when the mail server is down or busy or rejects emails, and when a worker is killed at the worst time."""

import ast
import json
import os
import signal
from datetime import timedelta
from itertools import chain, pairwise, repeat

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from portal import jobs
from portal.actions.team_members import invite_by_mail
from portal.celery import app
from portal.evaluation.lanes import Lane, message_list
from portal.evaluation.limits import HINT_PRIORITY
from portal.mail import outbox
from portal.models import AuditEntry, Download, OutgoingMail, Phase
from portal.models.clock import database_now
from portal.queries.mails import facts
from tests.portal.world import EVALUATION, captain, deliver, organizer_of

MINUTE = timedelta(minutes=1)


@pytest.fixture
def row(meltemi):
    """An email that is waiting to be sent."""
    user = captain(meltemi)
    task = meltemi.shared_task
    return OutgoingMail.objects.create(
        kind="team_approved", shared_task=task, team=meltemi, user=user, address=user.email, queued_at=EVALUATION
    )


def state(row):
    row.refresh_from_db()
    return row.state, row.attempts, row.error


def test_a_mail_server_that_is_down_is_tried_again_until_it_is_up(row, smtp):
    smtp.stop()
    deliver()
    assert state(row) == ("queued", 1, "ConnectionRefusedError")
    deliver(EVALUATION + MINUTE)
    assert state(row) == ("queued", 2, "ConnectionRefusedError")
    smtp.start()
    deliver(EVALUATION + MINUTE)  # too early
    assert smtp.mails == []
    deliver(EVALUATION + 3 * MINUTE)
    assert state(row) == ("sent", 3, "")
    assert len(smtp.mails) == 1


@pytest.mark.slow
def test_an_outage_is_survived_for_two_days(row, smtp):
    smtp.stop()
    at, tried = EVALUATION, []
    while state(row)[0] == "queued":
        deliver(at)
        tried.append(at)
        at = OutgoingMail.objects.get().lease_ends
    smtp.start()
    assert timedelta(hours=48) <= tried[-1] - tried[0] < timedelta(hours=49)
    assert max(later - earlier for earlier, later in pairwise(tried)) == timedelta(minutes=15)
    assert state(row) == ("failed", outbox.ATTEMPTS, "ConnectionRefusedError")


def given_up(row):
    OutgoingMail.objects.filter(pk=row.pk).update(
        state="failed", attempts=outbox.ATTEMPTS, error="TimeoutError", lease_ends=EVALUATION + timedelta(days=1)
    )
    return row


def test_organizers_send_again_what_was_given_up(row, smtp, client, tiny):
    given_up(row)
    client.force_login(organizer_of(tiny))
    page = client.get("/tasks/tiny/organize/mails/").content.decode()
    assert "1 email could not be sent" in page
    answer = client.post("/tasks/tiny/organize/mails/resend/", follow=True).content.decode()
    assert "1 email is being sent again." in answer
    assert "email could not be sent" not in answer
    assert AuditEntry.objects.get(verb="resend_mails").detail == {"mails": 1}
    assert state(row) == ("queued", 0, "")
    deliver()
    assert state(row) == ("sent", 1, "")


def test_a_command_sends_again_what_was_given_up(row, smtp, capsys):
    given_up(row)
    OutgoingMail.objects.create(
        kind="account",
        address="ada@example.org",
        details={"letter": "unknown_account"},
        state="failed",
        queued_at=EVALUATION,
    )
    with pytest.raises(CommandError, match="Available tasks: tiny"):
        call_command("resend_mails", "tinny")
    call_command("resend_mails", "tiny")
    assert capsys.readouterr().out == "tiny: emails to resend: 1\n"
    call_command("resend_mails")
    assert capsys.readouterr().out == "tiny: emails to resend: 0\naccounts: emails to resend: 1\n"
    deliver()
    assert [mail["To"] for mail in smtp.mails] == [row.address, "ada@example.org"]


@pytest.mark.parametrize(
    ("command", "answer", "error"),
    [
        ("MAIL", "451 try later", "SMTPSenderRefused 451"),
        ("RCPT", "450 mailbox busy", "SMTPRecipientsRefused 450"),
        ("DATA", "451 greylisted", "SMTPDataError 451"),
        ("DATA", "452 disk full", "SMTPDataError 452"),
    ],
)
def test_what_may_pass_is_tried_again(row, smtp, command, answer, error):
    smtp.answers[command] = answer
    deliver()
    assert state(row) == ("queued", 1, error)
    del smtp.answers[command]
    deliver(EVALUATION + MINUTE)
    assert state(row) == ("sent", 2, "")


@pytest.mark.parametrize(
    ("command", "answer", "error"),
    [
        ("MAIL", "552 too large", "SMTPSenderRefused 552"),
        ("RCPT", "550 no such mailbox", "SMTPRecipientsRefused 550"),
        ("DATA", "554 not wanted here", "SMTPDataError 554"),
    ],
)
def test_what_is_rejected_permanently_is_given_up_immediately(row, smtp, command, answer, error):
    smtp.answers[command] = answer
    deliver()
    assert state(row) == ("failed", 1, error)
    del smtp.answers[command]
    deliver(EVALUATION + timedelta(days=1))
    assert smtp.mails == []


@pytest.fixture
def rows(row):
    """Three emails that are waiting to be sent, oldest first."""
    about = {"kind": row.kind, "shared_task": row.shared_task, "team": row.team, "user": row.user}
    later = [
        OutgoingMail(address=f"{number}@example.org", queued_at=EVALUATION + number * MINUTE, **about)
        for number in (1, 2)
    ]
    return [row, *OutgoingMail.objects.bulk_create(later)]


def test_several_emails_are_sent_over_one_connection(rows, smtp):
    deliver()
    assert [mail["To"] for mail in smtp.mails] == [row.address for row in rows]
    assert smtp.connections == 1


@pytest.mark.parametrize("problem", ["the server rejects it", "it cannot be rendered"])
def test_an_email_that_cannot_be_sent_does_not_delay_the_others(rows, smtp, problem):
    if problem == "the server rejects it":
        smtp.answers[rows[0].address] = "550 no such mailbox"
    else:
        OutgoingMail.objects.filter(pk=rows[0].pk).update(address="line\nbreak@example.org")
    deliver()
    assert [state(row)[:2] for row in rows[1:]] == [("sent", 1)] * 2
    assert state(rows[0])[0] != "sent"


@pytest.mark.parametrize(
    ("answer", "attempts"), [("451 try later", [1, 1, 1]), ("530 authentication required", [1, 0, 0])]
)
def test_only_a_server_that_accepts_no_email_delays_the_others(rows, smtp, answer, attempts):
    smtp.answers["MAIL"] = answer
    deliver()
    assert [state(row)[:2] for row in rows] == [("queued", count) for count in attempts]


def test_emails_do_not_wait_one_after_another_for_a_server_that_is_down(rows, smtp):
    smtp.stop()
    deliver()
    assert [state(row)[1] for row in rows] == [1, 0, 0]
    smtp.start()
    deliver(EVALUATION + MINUTE)
    assert [state(row)[0] for row in rows] == ["sent"] * 3


def test_a_slow_server_does_not_make_a_job_exceed_its_time_limit(rows, smtp):
    now = chain([EVALUATION] * 2, repeat(EVALUATION + timedelta(seconds=outbox.SENDING_SECONDS)))
    outbox.send([row.pk for row in rows], lambda: next(now), facts)
    assert [state(row)[0] for row in rows] == ["sent", "queued", "queued"]


@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_between_sending_and_recording_makes_it_come_twice_with_one_id(row, smtp):
    connection.close()
    worker = os.fork()
    if worker == 0:
        outbox.send([row.pk], lambda: EVALUATION, facts)
        os._exit(0)
    smtp.when_received = lambda: os.kill(worker, signal.SIGKILL)
    _pid, status = os.waitpid(worker, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    smtp.when_received = lambda: None
    assert len(smtp.mails) == 1
    assert state(row) == ("queued", 1, "")
    deliver(EVALUATION + MINUTE)  # the killed worker's lease has not ended yet
    assert len(smtp.mails) == 1
    deliver(EVALUATION + timedelta(seconds=outbox.LEASE_SECONDS))
    assert state(row) == ("sent", 2, "")
    assert len(smtp.mails) == 2
    assert len({mail["Message-ID"] for mail in smtp.mails}) == 1


def test_a_mail_says_that_it_is_a_machine_s_and_whose(row, smtp, settings):
    settings.DEFAULT_FROM_EMAIL = "Agon de Évora <agon@example.org>"
    deliver()
    (mail,) = smtp.mails
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["From"].addresses[0].display_name == "Agon de Évora"
    assert str(row.pk) in mail["Message-ID"]
    assert [part.get_content_type() for part in mail.walk()] == ["multipart/alternative", "text/plain", "text/html"]


@pytest.mark.django_db(transaction=True)
def test_the_sweep_adds_no_hint_while_others_wait(row, queue):
    jobs.sweep_mails()
    OutgoingMail.objects.update(lease_ends=None)
    jobs.sweep_mails()
    assert queue.llen(message_list(Lane.MAIL, HINT_PRIORITY)) == 1


@pytest.mark.django_db(transaction=True)
def test_from_the_action_to_the_mailbox_by_the_messages_in_the_queue(meltemi, queue, smtp):
    """Like a worker, the test processes the queue's messages: those from the action, the sweep and the scheduler."""

    def work():
        messages = [
            json.loads(message) for message in reversed(queue.lrange(message_list(Lane.MAIL, HINT_PRIORITY), 0, -1))
        ]
        queue.flushall()
        for message in messages:
            app.tasks[message["headers"]["task"]](*ast.literal_eval(message["headers"]["argsrepr"]))

    invite_by_mail(captain(meltemi), meltemi, EVALUATION, address="ada@example.org")
    work()
    assert smtp.mails[-1]["To"] == "ada@example.org"

    now = database_now()
    Phase.objects.filter(slug="evaluation").update(opens=now - timedelta(days=9), closes=now + timedelta(hours=23))
    Download.objects.create(shared_task=meltemi.shared_task, dataset="test", team=meltemi, at=now - timedelta(days=2))
    jobs.remind()
    jobs.sweep_mails()
    work()
    assert smtp.mails[-1]["Subject"] == "Tiny: Evaluation closes in 22 h 59 min"
    jobs.remind()
    jobs.sweep_mails()
    work()
    assert len(smtp.mails) == 2
