"""Emails triggered by dates and new agreements: who gets them, and only once, even after downtime or a moved date."""

import re
from datetime import timedelta

import pytest

from portal.actions.phases import grant_extra_time
from portal.actions.runs import withdraw_run
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.team_members import leave_team
from portal.actions.teams import join_team, register_team
from portal.models import Download, OutgoingMail, Phase
from portal.queries.occasions import AGREEMENT_IS_NEWS, notices
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    POOR,
    RELEASE,
    at_once,
    captain,
    deliver,
    new_team,
    organizer_of,
    person,
    remind,
    send_run,
    sign,
    work_off,
)

pytestmark = pytest.mark.postgres

HOUR = timedelta(hours=1)


@pytest.fixture
def closing(meltemi):
    """The phase's deadline. The team downloaded the data long before it."""
    download_data(meltemi)
    return Phase.objects.get(slug="evaluation", shared_task=meltemi.shared_task).closes


def download_data(team, at=EVALUATION):
    Download.objects.create(shared_task=team.shared_task, dataset="test", user=captain(team), team=team, at=at)


def mails(kind=""):
    """Return the kind and address of each email in the outbox whose kind begins with `kind`."""
    rows = OutgoingMail.objects.filter(kind__startswith=kind)
    return sorted(rows.values_list("kind", "address"))


def after(at):
    """Run the scheduled job at the given time, and return the kinds of all deadline reminders so far."""
    remind(at)
    return [kind for kind, _address in mails("deadline")]


def test_a_team_without_a_valid_run_gets_one_mail_72_and_one_24_hours_ahead(closing, smtp):
    assert after(closing - 73 * HOUR) == []
    assert after(closing - 72 * HOUR) == ["deadline_72"]
    assert after(closing - 40 * HOUR) == ["deadline_72"]
    assert after(closing - 24 * HOUR) == ["deadline_24", "deadline_72"]
    assert after(closing - HOUR) == ["deadline_24", "deadline_72"]
    deliver(closing - 24 * HOUR)
    mail = next(mail for mail in smtp.mails if "24 h 0 min" in mail["Subject"])
    assert mail["Subject"] == "Tiny: Evaluation closes in 24 h 0 min"
    text = " ".join(mail.get_body(("plain",)).get_content().split())
    assert "Wed 15 May, 12:00 AoE · Thu 16 May, 00:00 UTC" in text
    assert "Your team Meltemi has downloaded the data but has no valid run" in text
    assert "/tasks/tiny/submit/" in text


def test_every_member_gets_a_mail(meltemi, closing):
    join_team(person("Friend"), meltemi.shared_task, EVALUATION, code=meltemi.invitation_code)
    gone = person("Gone")
    join_team(gone, meltemi.shared_task, EVALUATION, code=meltemi.invitation_code)
    gone.is_active = False
    gone.save()
    remind(closing - HOUR)
    assert mails() == [("deadline_24", "friend@example.org"), ("deadline_24", "meltemi@example.org")]


@pytest.mark.parametrize("state", ["pending", "declined", "withdrawn"])
def test_a_team_that_takes_no_part_gets_no_mail(meltemi, closing, state):
    meltemi.state = state
    meltemi.save()
    assert after(closing - HOUR) == []


@pytest.mark.slow
def test_a_valid_run_is_enough_and_a_withdrawn_or_rejected_one_is_not(meltemi, closing):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    assert after(closing - 72 * HOUR) == []
    withdraw_run(captain(meltemi), run, EVALUATION, reason="wrong file")
    assert after(closing - 71 * HOUR) == ["deadline_72"]
    send_run(meltemi, ["NEITHER"] * 4, 2, EVALUATION)
    work_off(EVALUATION)
    assert after(closing - 24 * HOUR) == ["deadline_24", "deadline_72"]


def test_without_the_data_and_with_late_data_no_one_gets_a_mail(meltemi, tiny):
    closing = Phase.objects.get(slug="evaluation", shared_task=tiny).closes
    assert after(closing - 72 * HOUR) == []
    download_data(meltemi, closing - 71 * HOUR)
    assert after(closing - 70 * HOUR) == []
    assert after(closing - 24 * HOUR) == ["deadline_24"]


def test_a_schedule_that_was_down_still_sends_what_is_due(closing):
    assert after(closing - 25 * HOUR) == ["deadline_72"]
    assert after(closing) == ["deadline_72"]  # too late for the 24-hour reminder


def test_a_moved_deadline_gets_a_new_mail_and_the_old_one_is_not_sent(meltemi, closing, smtp):
    assert after(closing - 24 * HOUR) == ["deadline_24"]
    later = closing + timedelta(days=5)
    Phase.objects.filter(slug="evaluation").update(closes=later)
    deliver(closing - 24 * HOUR)
    assert smtp.mails == []
    assert OutgoingMail.objects.get().state == "canceled"
    assert after(closing - 23 * HOUR) == ["deadline_24"]
    assert after(later - 72 * HOUR) == ["deadline_24", "deadline_72"]
    assert after(later - 24 * HOUR) == ["deadline_24", "deadline_24", "deadline_72"]
    deliver(later - 24 * HOUR)
    assert {mail["Subject"] for mail in smtp.mails} == {"Tiny: Evaluation closes in 24 h 0 min"}


def test_extra_time_of_a_team_is_a_deadline_of_its_own(meltemi, closing):
    notus = new_team(meltemi.shared_task, "Notus")
    download_data(notus)
    organizer = organizer_of(meltemi.shared_task, "Oana")
    until = closing + timedelta(days=2)
    grant_extra_time(
        organizer, Phase.objects.get(slug="evaluation"), closing - HOUR, team=notus, until=until, reason="outage"
    )
    for at in (until - 72 * HOUR, until - 24 * HOUR, until - HOUR):
        remind(at)
    notus_mails = [kind for kind, address in mails("deadline") if address.startswith("notus")]
    assert notus_mails == ["deadline_24", "deadline_72"]
    assert ("deadline_72", "meltemi@example.org") not in mails()  # the job first ran 24 hours before this deadline


def test_who_made_it_before_the_mail_went_out_gets_none(meltemi, closing, smtp):
    remind(closing - 24 * HOUR)
    send_run(meltemi, GOOD, 1, closing - 24 * HOUR)
    deliver(closing - 23 * HOUR)
    assert smtp.mails == []


@remembered
def ranked(meltemi):
    """Meltemi's chosen run, the better of its two. A second team, Notus, has no runs."""
    best = send_run(meltemi, PERFECT, 1, EVALUATION)
    send_run(meltemi, POOR, 2, EVALUATION)
    work_off(EVALUATION)
    best.refresh_from_db()
    best.chosen_at, best.chosen_by = EVALUATION, captain(meltemi)
    best.save()
    new_team(meltemi.shared_task, "Notus")
    organizer_of(meltemi.shared_task, "Oana")
    OutgoingMail.objects.all().delete()
    return best


@pytest.mark.slow
def test_a_release_is_mailed_to_teams_with_runs_and_to_organizers_once(ranked, smtp):
    remind(RELEASE - HOUR)
    assert mails() == []
    for at in (RELEASE, RELEASE + HOUR):
        remind(at)
        assert mails() == [("released", "meltemi@example.org"), ("released", "oana@example.org")]
    deliver(RELEASE + HOUR)
    (mail,) = smtp.to("meltemi@example.org")
    assert mail["Subject"] == "Tiny: the leaderboards for Evaluation are public"
    text = mail.get_body(("plain",)).get_content()
    assert re.search(r"^- Track one\n  one_Meltemi_1.json · Acc 1.0000$", text.replace("\r", ""), re.MULTILINE)
    assert "one_Meltemi_2.json" not in text
    (mail,) = smtp.to("oana@example.org")
    assert "one_Meltemi" not in mail.get_body(("plain",)).get_content()
    assert "because you are an organizer" in mail.get_body(("plain",)).get_content()


@pytest.mark.slow
def test_a_release_that_is_put_off_is_not_mailed(ranked, smtp):
    remind(RELEASE)
    Phase.objects.filter(slug="evaluation").update(released=RELEASE + timedelta(days=1))
    deliver(RELEASE)
    assert smtp.mails == []
    assert set(OutgoingMail.objects.values_list("state", flat=True)) == {"canceled"}


@pytest.mark.slow
def test_a_late_schedule_announces_a_release_but_not_an_old_one(ranked):
    remind(RELEASE + timedelta(days=8))
    assert mails() == []
    remind(RELEASE + timedelta(days=6))
    assert len(mails()) == 2


def test_two_schedules_that_saw_the_same_send_once(closing):
    at = closing - HOUR
    seen = [list(notices(at)), list(notices(at))]
    for due in seen[0] + seen[1]:
        OutgoingMail.objects.notify(due.user, due.kind, due.occasion, at, **due.about)
    assert mails() == [("deadline_24", "meltemi@example.org")]


@pytest.mark.django_db(transaction=True)
def test_schedules_on_connections_of_their_own_send_once(meltemi, closing):
    for number in range(5):
        join_team(person(f"P{number}"), meltemi.shared_task, EVALUATION, code=meltemi.invitation_code)
    at_once([lambda: remind(closing - HOUR)] * 4)
    assert len(mails()) == len(set(mails())) == 6


@pytest.fixture
def new_agreement(gated, gated_folder):
    """The folder of the task `gated`, with a new version of the agreement since the first import."""
    path = gated_folder / "task.yaml"
    path.write_text(path.read_text().replace('agreement: {version: "1"', 'agreement: {version: "2"'))
    (gated_folder / "pages/terms.md").write_text("# Terms\n\nUse the data for research, and cite it.\n")
    return gated_folder


@remembered
def resigned(gated, new_agreement):
    """The task after a new version of the agreement. Bora and Notus have signed the old version."""
    for name in ("Bora", "Notus"):
        team = new_team_of(gated, name)
        team.state = "approved"
        team.save()
    return import_shared_task(None, new_agreement, EVALUATION).shared_task


def new_team_of(gated, name):
    user = person(name)
    sign(user, gated)
    return register_team(user, gated, EVALUATION, name=name, answers={"use": "research"})


def test_who_signed_an_older_agreement_is_asked_again_once(resigned, smtp):
    sign(captain(resigned.teams.get(name="Notus")), resigned)
    for _ in range(2):
        remind(EVALUATION)
    assert mails("agreement") == [("agreement_changed", "bora@example.org")]
    deliver()
    (mail,) = [mail for mail in smtp.mails if "agreement" in mail["Subject"]]
    assert mail["Subject"] == "Gated: please sign the new data agreement"
    assert "/tasks/gated/agreement/" in mail.get_body(("plain",)).get_content()
    assert mail["List-Unsubscribe"] is None  # cannot be turned off: people must sign to continue


def test_who_has_signed_before_the_mail_went_out_is_not_asked(resigned, smtp):
    remind(EVALUATION)
    sign(captain(resigned.teams.get(name="Notus")), resigned)
    deliver()
    assert [mail["To"] for mail in smtp.mails if "agreement" in mail["Subject"]] == ["bora@example.org"]


def test_who_left_is_not_asked(resigned):
    team = resigned.teams.get(name="Bora")
    leave_team(captain(team), team, EVALUATION)
    remind(EVALUATION)
    assert mails("agreement") == [("agreement_changed", "notus@example.org")]


def test_an_agreement_that_changed_long_ago_is_no_news(resigned):
    """To stay fast with many tasks, the job only looks at recently imported ones."""
    remind(EVALUATION + AGREEMENT_IS_NEWS)
    assert mails("agreement") == []
    remind(EVALUATION + AGREEMENT_IS_NEWS - HOUR)
    assert len(mails("agreement")) == 2
