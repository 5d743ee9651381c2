"""Accounts: teams, permissions and the demo's email."""

import pytest
from django.conf import settings
from django.core.mail import EmailMessage

from portal.actions.base.errors import Conflict, Invalid, NotAllowed
from portal.actions.teams import join_team, register_team
from portal.mail.demo import EmailBackend
from portal.models import AuditEntry, Team
from portal.permissions import may_download_run, may_see_run
from tests.portal.world import EVALUATION, GOOD, captain, new_team, organizer_of, person, send_run


def test_captain_registers_a_team_and_members_join(tiny):
    user, friend = person("Cleo"), person("Milo")
    team = register_team(user, tiny, EVALUATION, name="Meltemi", affiliation="Aegean")
    assert (team.state, captain(team)) == (Team.State.APPROVED, user)
    membership = join_team(friend, team.shared_task, EVALUATION, code=team.invitation_code)
    assert (membership.team, membership.is_captain) == (team, False)
    assert join_team(friend, team.shared_task, EVALUATION, code=team.invitation_code) == membership
    assert list(AuditEntry.objects.filter(subject="team Meltemi").values_list("verb", flat=True).order_by("pk")) == [
        "register_team",
        "join_team",
    ]


@pytest.mark.parametrize("name", ["", "x", "two words", "a/b", "x" * 31, "Melt\nemi"])
def test_name_outside_the_rule_is_rejected(tiny, name):
    with pytest.raises(Invalid):
        register_team(person("Cleo"), tiny, EVALUATION, name=name)
    assert not Team.objects.exists()


def test_names_that_differ_in_case_only_are_the_same(meltemi):
    with pytest.raises(Conflict, match="MELTEMI"):
        register_team(person("Cleo"), meltemi.shared_task, EVALUATION, name="MELTEMI")


def test_no_one_is_in_two_teams_of_a_task(meltemi):
    rival = new_team(meltemi.shared_task, "Sirocco")
    with pytest.raises(Conflict, match="already on the team Meltemi in Tiny"):
        join_team(captain(meltemi), rival.shared_task, EVALUATION, code=rival.invitation_code)
    with pytest.raises(Conflict):
        register_team(captain(meltemi), meltemi.shared_task, EVALUATION, name="Ostro")
    assert Team.objects.count() == 2


def test_invitation_must_be_real(meltemi, gated):
    elsewhere = register_team(person("Cleo"), gated, EVALUATION, name="Bora", answers={"use": "research"})
    for code in ("", "nonsense", elsewhere.invitation_code):
        with pytest.raises(NotAllowed):
            join_team(person(f"Milo{len(code)}"), meltemi.shared_task, EVALUATION, code=code)
    Team.objects.update(state=Team.State.DECLINED)
    with pytest.raises(NotAllowed):
        join_team(person("Ada"), meltemi.shared_task, EVALUATION, code=meltemi.invitation_code)


def test_who_may_do_what_with_a_run(meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    member, rival = captain(meltemi), captain(new_team(meltemi.shared_task, "Sirocco"))
    organizer = organizer_of(meltemi.shared_task, "Organizer")
    for user, is_allowed in [(member, True), (organizer, True), (rival, False)]:
        assert may_see_run(user, run) is is_allowed
        assert may_download_run(user, run) is is_allowed
    assert meltemi.shared_task.is_organized_by(organizer)
    assert not meltemi.shared_task.is_organized_by(member)


def test_demo_mail_is_a_file_and_its_links_are_logged(caplog):
    link = "http://127.0.0.1:8000/accounts/confirm-email/key/"
    message = EmailMessage("Verify", f"Follow {link}\n", "agon@localhost", ["cleo@example.org"])
    assert EmailBackend().send_messages([message]) == 1
    (file,) = settings.MAIL_ROOT.iterdir()
    assert link in file.read_text()
    assert link in caplog.text
    file.unlink()
