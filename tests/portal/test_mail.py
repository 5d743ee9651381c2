"""The outbox: each row becomes a message once, is retried after failures, and contains no secret."""

import re
from datetime import timedelta

import pytest

from portal.actions.approval import approve_team, decline_team
from portal.actions.base.errors import Conflict, NotAllowed
from portal.actions.data_password import renew_password
from portal.actions.team_members import invite_by_mail
from portal.actions.teams import join_team, register_team, withdraw_team
from portal.mail import outbox
from portal.models import AuditEntry, OutgoingMail, Team
from portal.queries.mails import facts
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, captain, deliver, organizer_of, person

pytestmark = pytest.mark.postgres

PASSWORD = re.compile(r"^[\w-]{22}$", re.MULTILINE)


@remembered
def organizer(gated):
    return organizer_of(gated, "Organizer")


@remembered
def approved(gated, organizer):
    team = register_team(person("Cleo"), gated, EVALUATION, name="Bora", answers={"use": "research"})
    OutgoingMail.objects.all().delete()  # the email to the organizer
    approve_team(organizer, team, EVALUATION)
    return team


def body(message, kind="plain"):
    return message.get_body((kind,)).get_content().replace("\r\n", "\n")


def test_the_mail_on_approval_brings_the_password(approved, smtp, settings):
    settings.PUBLIC_URL = "https://agon.example"
    assert OutgoingMail.objects.get().state == "queued"
    deliver()
    (message,) = smtp.mails
    assert (message["To"], message["Subject"]) == ("cleo@example.org", "Gated: your team Bora was approved")
    assert "https://agon.example/tasks/gated/data/" in body(message)
    (password,) = PASSWORD.findall(body(message))
    approved.refresh_from_db()
    assert approved.has_data_password(password)
    assert not approved.has_data_password("")
    assert not approved.has_data_password(password[:-1])
    html = body(message, "html")
    assert password in html
    assert 'href="https://agon.example/tasks/gated/team/"' in html


def test_no_row_and_no_log_holds_the_password(approved, smtp, caplog):
    with caplog.at_level("DEBUG"):
        deliver()
    (password,) = PASSWORD.findall(body(smtp.mails[0]))
    rows = [str(list(model.objects.values())) for model in (Team, OutgoingMail, AuditEntry)]
    assert not [row for row in rows if password in row]
    assert password not in caplog.text


def test_a_row_becomes_a_message_once(approved, smtp):
    (pk,) = outbox.due(EVALUATION)
    for _ in range(3):
        outbox.send([pk], lambda: EVALUATION, facts)
    assert len(smtp.mails) == 1
    row = OutgoingMail.objects.get()
    assert (row.state, row.attempts, row.sent_at) == ("sent", 1, EVALUATION)
    assert outbox.due(EVALUATION + timedelta(days=1)) == []


@pytest.mark.slow
def test_what_can_never_be_sent_is_given_up_after_two_days(approved, smtp):
    smtp.stop()
    for attempt in range(outbox.ATTEMPTS + 2):
        deliver(EVALUATION + timedelta(days=attempt))
    smtp.start()
    row = OutgoingMail.objects.get()
    assert (row.state, row.attempts, row.error) == ("failed", outbox.ATTEMPTS, "ConnectionRefusedError")
    waits = [min(outbox.MOST_RETRY_SECONDS, outbox.RETRY_SECONDS * 2**n) for n in range(outbox.ATTEMPTS - 1)]
    assert 48 * 3600 < sum(waits) < 49 * 3600


def test_a_mail_whose_worker_died_is_sent_by_another(approved, smtp):
    OutgoingMail.objects.update(token="0" * 32, attempts=1, lease_ends=EVALUATION + timedelta(minutes=2))
    deliver()
    assert smtp.mails == []
    deliver(EVALUATION + timedelta(minutes=2))
    assert len(smtp.mails) == 1


def test_a_hint_is_given_once_in_a_while(approved):
    assert len(outbox.due(EVALUATION)) == 1
    assert outbox.due(EVALUATION) == []
    assert len(outbox.due(EVALUATION + timedelta(seconds=outbox.HINT_SECONDS))) == 1


def test_a_renewed_password_ends_the_old_one_at_once(approved, organizer, smtp):
    deliver()
    (old,) = PASSWORD.findall(body(smtp.mails[0]))
    for user in (captain(approved), organizer):
        renew_password(user, approved, EVALUATION)
        approved.refresh_from_db()
        assert not approved.has_data_password(old)
        deliver()
        (new,) = PASSWORD.findall(body(smtp.mails[-1]))
        approved.refresh_from_db()
        assert approved.has_data_password(new)
        assert not approved.has_data_password(old)
        old = new
    assert AuditEntry.objects.filter(verb="renew_password").count() == 2


def test_asking_twice_sends_one_mail(approved, smtp):
    deliver()
    for _ in range(2):
        renew_password(captain(approved), approved, EVALUATION)
    deliver()
    assert len(smtp.mails) == 2


def test_who_may_not_renew_a_password(approved, meltemi):
    friend = person("Friend")
    join_team(friend, approved.shared_task, EVALUATION, code=approved.invitation_code)
    for user in (friend, person("Stranger")):
        with pytest.raises(NotAllowed):
            renew_password(user, approved, EVALUATION)
    withdraw_team(captain(approved), approved, EVALUATION)
    with pytest.raises(Conflict):
        renew_password(captain(approved), approved, EVALUATION)


def test_a_team_that_was_shut_out_meanwhile_gets_no_password(approved, organizer, smtp):
    decline_team(organizer, approved, EVALUATION, reason="<b>Who</b> are you?")
    deliver()
    assert not any(PASSWORD.search(body(message)) for message in smtp.mails)
    (declined,) = smtp.mails  # the email about the approval is outdated, so it is not sent
    assert "<b>Who</b> are you?" in body(declined)
    assert "&lt;b&gt;Who" in body(declined, "html")
    approved.refresh_from_db()
    assert approved.data_password == ""


def test_an_invitation_leads_to_the_team(approved, smtp):
    invite_by_mail(captain(approved), approved, EVALUATION, address="ada@example.org")
    deliver()
    (message,) = smtp.to("ada@example.org")
    assert "Cleo invited you to join the team Bora" in body(message)
    assert f"/tasks/gated/team/join/{approved.invitation_code}/" in body(message)
    assert not PASSWORD.search(body(message))
    assert len(smtp.mails) == 2
