"""Messages to teams: who gets them, what they read, a test, and that each is sent once."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core.mail.backends.smtp import EmailBackend
from django.test import Client

from portal.actions.base.errors import ActionError, Conflict, Invalid
from portal.actions.desk.messages import discard_message, prepare_message, send_message, send_test_message
from portal.actions.team_members import leave_team
from portal.actions.teams import join_team
from portal.mail.outbox import LEASE_SECONDS
from portal.models import MessageRecipient, OutgoingMail, SharedTask, Team, TeamMessage, User
from portal.queries.desk.messages import message_view
from portal.queries.desk.team_filter import TeamFilter
from tests.portal.remembered import remembered
from tests.portal.script import Script
from tests.portal.world import EVALUATION, GOOD, at_once, captain, deliver, new_team, organizer_of, person, send_run

PAGE = "/tasks/tiny/organize/messages/"
HOUR = timedelta(hours=1)
TEXT = "Dear {captain},\n\n**{team}** can upload {runs_left} more runs. [Help](https://example.org)"


@remembered
def organizer(tiny: SharedTask) -> User:
    return organizer_of(tiny)


@remembered
def campaign(tiny: SharedTask) -> SharedTask:
    """Two teams without uploads, one of them with two members, and one with an upload."""
    for name in ("Auster", "Bora", "Notus"):
        new_team(tiny, name)
    bora = Team.objects.get(name="Bora")
    join_team(person("Mate"), tiny, EVALUATION, code=bora.invitation_code)
    send_run(Team.objects.get(name="Notus"), GOOD, 1, EVALUATION)
    OutgoingMail.objects.all().delete()
    return tiny


def prepared(organizer: User, campaign: SharedTask, **given: Any) -> TeamMessage:
    wanted = {"subject": "News for {team}", "text": TEXT, "wanted": TeamFilter(uploaded="no")} | given
    return prepare_message(organizer, campaign, EVALUATION, **wanted)


def names(message: TeamMessage) -> list[str]:
    return [str(row.user) for row in message.recipients.select_related("user")]


def received(smtp: Any) -> list[str]:
    return sorted(mail["To"] for mail in smtp.mails)


def test_the_recipients_are_those_of_the_filter_and_of_the_preview(
    campaign: SharedTask, organizer: User, smtp: Any
) -> None:
    message = prepared(organizer, campaign)
    assert names(message) == ["Auster", "Bora", "Mate"]
    new_team(campaign, "Zephyrus")  # matches the filter, but was not in the preview
    send_message(organizer, message, EVALUATION)
    deliver()
    assert received(smtp) == ["auster@example.org", "bora@example.org", "mate@example.org"]
    assert names(prepared(organizer, campaign, audience="captains")) == ["Auster", "Bora", "Zephyrus"]
    notus = Team.objects.get(name="Notus")
    assert names(prepared(organizer, campaign, wanted=None, team=notus)) == ["Notus"]
    with pytest.raises(Conflict, match="no_recipients"):
        prepared(organizer, campaign, wanted=TeamFilter(search="unknown"))


def test_a_message_is_filled_in_for_each_person(campaign: SharedTask, organizer: User, smtp: Any) -> None:
    Team.objects.filter(name="Bora").update(name="*Bora* <b>")
    message = prepared(organizer, campaign)
    mate = MessageRecipient.objects.get(user__name="Mate")
    shown = message_view(message, "1", mate.pk, EVALUATION)
    assert shown.subject == "News for *Bora* <b>"
    assert "Dear Bora," in shown.html
    assert "<strong>*Bora* &lt;b&gt;</strong>" in shown.html, "a name is never read as markup"
    send_message(organizer, message, EVALUATION)
    deliver()
    mail = next(mail for mail in smtp.mails if mail["To"] == "mate@example.org")
    assert mail["Subject"] == "Tiny: News for *Bora* <b>"
    plain, html = (mail.get_body((kind,)).get_content() for kind in ("plain", "html"))
    assert "more runs" in plain
    assert "{" not in plain.partition("-- ")[0]
    assert "<strong>*Bora* &lt;b&gt;</strong>" in html
    with pytest.raises(Invalid, match="unknown_placeholder"):
        prepared(organizer, campaign, text="Dear {name},")


def test_a_test_goes_only_to_the_organizer(campaign: SharedTask, organizer: User, smtp: Any) -> None:
    message = prepared(organizer, campaign)
    send_test_message(organizer, message, EVALUATION, recipient=MessageRecipient.objects.get(user__name="Mate").pk)
    deliver()
    assert [(mail["To"], mail["Subject"]) for mail in smtp.mails] == [(organizer.email, "Tiny: News for Bora")]
    message.refresh_from_db()
    assert message.sent_at is None


@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_the_same_time_send_once(campaign: SharedTask, organizer: User) -> None:
    message = prepared(organizer, campaign)
    done = at_once([partial(send_message, organizer, message, EVALUATION) for _click in range(2)])
    assert not [result for result in done if isinstance(result, ActionError)]
    assert sorted(OutgoingMail.objects.values_list("user__name", flat=True)) == ["Auster", "Bora", "Mate"]
    send_message(organizer, message, EVALUATION + HOUR)
    assert OutgoingMail.objects.count() == 3
    with pytest.raises(Conflict, match="already_sent"):
        discard_message(organizer, message, EVALUATION)


def test_a_worker_killed_half_way_is_continued_and_no_one_gets_two(
    campaign: SharedTask, organizer: User, smtp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_message(organizer, prepared(organizer, campaign), EVALUATION)
    send_mails, calls = EmailBackend.send_messages, []

    def killed(backend: EmailBackend, mails: Any) -> Any:
        calls.append(mails)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return send_mails(backend, mails)

    with monkeypatch.context() as patch:
        patch.setattr(EmailBackend, "send_messages", killed)
        with pytest.raises(KeyboardInterrupt):
            deliver()
    assert len(smtp.mails) == 1
    deliver(EVALUATION + timedelta(seconds=LEASE_SECONDS + 1))
    assert received(smtp) == ["auster@example.org", "bora@example.org", "mate@example.org"]


def test_people_who_have_left_the_team_get_nothing(campaign: SharedTask, organizer: User, smtp: Any) -> None:
    message = prepared(organizer, campaign)
    send_message(organizer, message, EVALUATION)
    leave_team(User.objects.get(name="Mate"), Team.objects.get(name="Bora"), EVALUATION)
    deliver()
    assert received(smtp) == ["auster@example.org", "bora@example.org"]
    states = dict(message_view(message, "1", None, EVALUATION).line.states)
    assert states == {"sent": 2, "canceled": 1}


@pytest.mark.slow
def test_pages_lead_from_a_filter_to_a_sent_message(
    campaign: SharedTask, organizer: User, client: Client, smtp: Any
) -> None:
    client.force_login(organizer)
    compose = f"{PAGE}?uploaded=no"
    assert "This message goes to 2 teams" in client.get(compose).content.decode()
    wrong = client.post(compose, {"audience": "members", "subject": "News", "text": "Dear {name}"})
    assert (wrong.status_code, "{name} is not a placeholder" in wrong.content.decode()) == (422, True)
    given = {"audience": "captains", "subject": "News for {team}", "text": "Hello *{captain}*"}
    preview = client.post(compose, given)
    message = TeamMessage.objects.get()
    assert preview["Location"] == f"{PAGE}{message.pk}/"
    second = MessageRecipient.objects.get(user__name="Bora")
    text = client.get(f"{PAGE}{message.pk}/?recipient={second.pk}").content.decode()
    for part in (
        "exactly the 2 people",
        "News for Bora",
        "Hello <em>Bora</em>",
        "auster@example.org",
        "Send to 2 people",
    ):
        assert part in text
    assert "News for {team}" in client.get(PAGE).content.decode(), "it is not sent yet"
    assert client.post(f"{PAGE}{message.pk}/test/", {"recipient": second.pk}).status_code == 302
    for _click in range(2):
        assert client.post(f"{PAGE}{message.pk}/send/").status_code == 302
    deliver()
    assert received(smtp) == ["auster@example.org", "bora@example.org", organizer.email]
    assert "News for {team}" in client.get(PAGE).content.decode()
    assert client.post(f"{PAGE}{message.pk}/discard/").status_code == 409
    assert client.get(f"{PAGE}?to={Team.objects.get(name='Notus').pk}").status_code == 200
    assert client.get(f"{PAGE}?to=0").status_code == 404


@pytest.mark.slow
def test_others_see_neither_messages_nor_addresses(
    campaign: SharedTask, organizer: User, gated: SharedTask, client: Client
) -> None:
    message = prepared(organizer, campaign)
    for reader, slugs in (
        (captain(Team.objects.get(name="Bora")), ["tiny"]),
        (organizer_of(gated, "Other"), ["tiny", "gated"]),
    ):
        client.force_login(reader)
        for slug in slugs:
            assert client.get(f"/tasks/{slug}/organize/messages/{message.pk}/").status_code == 404
            assert client.post(f"/tasks/{slug}/organize/messages/{message.pk}/send/").status_code == 404
        assert Script(reader, "organize")(f"/tasks/tiny/organize/messages/{message.pk}").status_code in (403, 404)
    client.force_login(organizer_of(campaign, "Second"))
    assert client.get(f"{PAGE}{message.pk}/").status_code == 404, "a colleague has not sent it yet"
    assert OutgoingMail.objects.count() == 0


def test_a_script_prepares_and_sends(campaign: SharedTask, organizer: User) -> None:
    ask = Script(organizer, "organize")
    path = "/tasks/tiny/organize/messages"
    given = {"subject": "News", "text": "Hello", "audience": "captains", "wanted": {"uploaded": "no"}}
    made = ask(path, "POST", given)
    assert (made.status_code, [row["team"] for row in made.json()["recipients"]]) == (201, ["Auster", "Bora"])
    number = made.json()["id"]
    assert ask(f"{path}/{number}/send", "POST").json()["recipients"][0]["delivery"] == "queued"
    assert [row["id"] for row in ask(path).json()["items"]] == [number]
    assert ask(f"{path}/{number}").json()["subject"] == "News"
    to_one = ask(path, "POST", {"subject": "News", "text": "Hello", "team": "Notus"}).json()
    assert [row["team"] for row in to_one["recipients"]] == ["Notus"]
    assert ask(f"{path}/{to_one['id']}", "DELETE").status_code == 204
