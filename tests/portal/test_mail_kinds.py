"""Rules for every kind of email: two complete parts, the recipient's language, and no score before its release."""

import re
from datetime import timedelta
from html.parser import HTMLParser
from itertools import product

import html5lib
import pytest
from allauth.account.models import EmailAddress
from django.conf import settings as portal_settings

from portal.actions.approval import approve_team
from portal.actions.teams import register_team
from portal.mail.texts import TEXTS
from portal.models import Evaluation, OutgoingMail, Phase, Team, TeamMessage
from portal.times_and_numbers import score
from tests.portal.world import (
    EVALUATION,
    GOOD,
    RELEASE,
    deliver,
    organizer_of,
    person,
    remind,
    send_run,
    sign,
    work_off,
)

KINDS = OutgoingMail.Kind.values
LANGUAGES = [code for code, _name in portal_settings.LANGUAGES]
DETAILS = {
    "team_declined": {"reason": "Wer seid ihr?\nQui êtes-vous?"},
    "invitation": {"inviter": "Zoë"},
    "agreement_changed": {"version": "1"},
    "account": {"letter": "password_reset_key"},
}

TEXT = "Dear {captain},\n\n- {team} has {runs_left} runs left.\n- See https://agon.example/."


class World:
    """The task `gated` with two teams: Bora, with a scored run and a rejected upload, and Notus, without runs."""

    def __init__(self, gated, smtp):
        self.task, self.smtp = gated, smtp
        organizer = organizer_of(gated, "Oana")
        self.organizer, self.teams = organizer, {}
        for name in ("Bora", "Notus"):
            user = person(name)
            EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
            sign(user, gated)
            self.teams[name] = register_team(user, gated, EVALUATION, name=name, answers={"use": "research"})
            approve_team(organizer, self.teams[name], EVALUATION)
        bora = self.teams["Bora"]
        self.good = send_run(bora, GOOD, 1, EVALUATION).submission
        self.bad = send_run(bora, ["NEITHER"] * 4, 2, EVALUATION).submission
        work_off(EVALUATION)
        OutgoingMail.objects.all().delete()
        self.phase = Phase.objects.get(shared_task=gated, slug="evaluation")
        self.message = TeamMessage.objects.create(
            shared_task=gated, subject="Hello {team}", text=TEXT, audience="members", by=organizer,
            prepared_at=EVALUATION,
        )  # fmt: skip

    def mail_of(self, kind, at=EVALUATION, language="en"):
        """Queue an email of this kind, send it, and return the message."""
        team = self.teams["Notus" if kind.startswith("deadline") else "Bora"]
        user = self.organizer if kind == "team_waiting" else team.members.get()
        user.language = language
        user.save()
        state = {"team_declined": "declined", "team_waiting": "pending"}.get(kind, "approved")
        Team.objects.filter(pk=team.pk).update(state=state)
        user.signatures.update(version="0" if kind == "agreement_changed" else "1")
        row = OutgoingMail.objects.create(
            kind=kind,
            shared_task=self.task,
            team=team,
            user=None if kind == "invitation" else user,
            address="ada@example.org" if kind == "invitation" else user.email,
            phase=self.phase,
            submission=self.bad if kind == "runs_rejected" else self.good,
            details={"closes": self.phase.closes.isoformat(), "language": language, "message": self.message.pk}
            | DETAILS.get(kind, {}),
            queued_at=at,
        )
        deliver(at)
        row.refresh_from_db()
        assert (row.state, row.error) == ("sent", ""), kind
        return self.smtp.mails[-1]


@pytest.fixture
def world(gated, smtp, settings):
    settings.PUBLIC_URL = "https://agon.example"
    return World(gated, smtp)


def moment_of(kind):
    return RELEASE if kind == "released" else EVALUATION


class Words(HTMLParser):
    """A parser that collects a page's text and the addresses of its links."""

    def __init__(self, html):
        super().__init__()
        self.found = ""
        self.feed(html.partition("<body")[2].partition(">")[2])

    def handle_data(self, data):
        self.found += f" {data}"

    def handle_starttag(self, tag, attributes):
        self.found += f" {dict(attributes).get('href', '')}"


def words(text):
    return set(re.findall(r"[\w@./:]*\w", text))


def parts(mail):
    plain, html = (mail.get_body((kind,)).get_content().replace("\r\n", "\n") for kind in ("plain", "html"))
    return plain, html


def test_each_kind_has_a_letter():
    assert set(TEXTS) == set(KINDS)


@pytest.mark.slow
def test_both_parts_say_the_same(world):
    for kind in KINDS:
        plain, html = parts(world.mail_of(kind, moment_of(kind)))
        html5lib.HTMLParser(strict=True).parse(html)
        assert words(plain) - words(Words(html).found) == set(), kind
        assert words(Words(html).found) - words(plain) <= {"Agon"}, kind
        assert "https://agon.example/" in plain
        assert max(map(len, plain.encode().splitlines())) < 998, kind  # line length limit in RFC 5322


@pytest.mark.slow
def test_mails_that_a_step_waits_for_have_no_switch_and_the_others_have(world):
    for kind in KINDS:
        mail = world.mail_of(kind, moment_of(kind))
        assert (mail["List-Unsubscribe"] is not None) == (kind in OutgoingMail.WISHES), kind


DATA = re.compile(  # what is the same in all languages: names, numbers, addresses
    r"https://\S+|-- |[\w-]{22}|SHA-256 +\w{64}|- (one_Bora|Track)\S*.*|  Track one.*|  one_Bora_1.*|Wer .*|Qui .*|"
)
NO_SCORES = re.compile(r"[0-9a-f]{16,}|[0-9a-f-]{36}|mails/stop/\S+|<style>.*?</style>|style=\"[^\"]*\"", re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
def test_every_line_is_in_the_reader_s_language(world, language):
    for kind in KINDS:
        if kind == "message":  # organizers write its subject and text
            continue
        english, own = (world.mail_of(kind, moment_of(kind), code) for code in ("en", language))
        assert english["Subject"] != own["Subject"], kind
        left = set(parts(english)[0].splitlines()) & set(parts(own)[0].splitlines())
        assert [line for line in left if not DATA.fullmatch(line)] == [], kind
        assert f'<html lang="{language}">' in parts(own)[1]


def printed_scores():
    """Return all scores in every format that emails could use."""
    values = {
        value for found in Evaluation.objects.all() for value in found.scores.values() if value not in (None, 0, 1)
    }
    assert 0.75 in values
    short = {form for value, decimals in product(values, (2, 3, 4)) for form in [score(value, decimals)]}
    return short | {form.replace(".", ",") for form in short} | {f"{value:.1%}" for value in values}


@pytest.mark.slow
def test_no_mail_of_any_kind_holds_a_score_before_its_release(world):
    for language in LANGUAGES:
        for kind in KINDS:
            if kind == "released":
                continue
            mail = world.mail_of(
                kind, RELEASE - timedelta(seconds=1) if kind.startswith("runs") else EVALUATION, language
            )
            said = "".join([*mail.values(), *parts(mail), *(str(one.get_content()) for one in mail.iter_attachments())])
            visible = re.sub(
                r"[0-9a-f]{16,}|[0-9a-f-]{36}|mails/stop/\S+|<style>.*?</style>|style=\"[^\"]*\"", "", said, flags=re.S
            )
            assert [form for form in printed_scores() if form in visible] == [], kind


@pytest.mark.slow
def test_after_the_release_scores_are_shown(world):  # shows that the test above could fail
    remind(RELEASE)
    for kind in ("runs_scored", "released"):
        assert "0.7500" in parts(world.mail_of(kind, RELEASE))[0]
