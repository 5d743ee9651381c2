"""Limits belong to persons as well as to teams: whoever leaves and registers again, or joins others, gets no more."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection, transaction

from portal.actions.membership import leave_team
from portal.actions.refusal import LimitReached
from portal.actions.submit import submit
from portal.actions.teams import join_team, register_team
from portal.models import Quota, Run, Submission, Team, User
from portal.queries.quota import remaining
from portal.queries.uploads import UPLOAD_BYTES, inspect
from portal.storage import store_upload
from tests.portal.world import EVALUATION, GOOD, POST, at_once, captain, new_team, person, run_file, send_run, work_off


def another_team(user: User, team: Team, name: str) -> Team:
    """The team that the person registers after leaving that one."""
    leave_team(user, team, EVALUATION)
    return register_team(user, team.shared_task, name, "", EVALUATION)


def send_as(user: User, team: Team, number: int, at=EVALUATION, phase="evaluation") -> Submission:
    with store_upload([run_file(GOOD)], f"one_{team.name}_{number}.json", UPLOAD_BYTES) as stored:
        upload = inspect(team.shared_task, stored, team)
        return submit(user, team.shared_task, team.shared_task.phases.get(slug=phase), stored, upload, "", at)


def test_whoever_registers_again_has_no_runs_of_the_phase_left(meltemi):
    user = captain(meltemi)
    for number in (1, 2):
        send_run(meltemi, GOOD, number, EVALUATION)
    sirocco = another_team(user, meltemi, "Sirocco")
    send_run(sirocco, GOOD, 1, EVALUATION)
    ostro = another_team(user, sirocco, "Ostro")
    with pytest.raises(LimitReached, match="counting those for your earlier teams: 0 of 3") as refused:
        send_run(ostro, GOOD, 1, EVALUATION)
    assert refused.value.code == "no_runs_left"
    assert Run.objects.filter(submission__sent_by=user).count() == 3
    line = remaining(ostro, user, ostro.shared_task.phases.get(slug="evaluation"), EVALUATION)[0]
    assert (line.used, line.limit, line.left, line.whose) == (3, 3, 0, "person")


def test_whoever_registers_again_has_no_runs_of_the_day_left(meltemi):
    user = captain(meltemi)
    for number in (1, 2):
        send_run(meltemi, GOOD, number, POST, "post")
    sirocco = another_team(user, meltemi, "Sirocco")
    with pytest.raises(
        LimitReached, match=r"today \(UTC\) .* your earlier teams: 0 of 2"
    ):
        send_run(sirocco, GOOD, 1, POST, "post")


def test_a_person_brings_nothing_to_the_count_of_the_team_they_join(meltemi):
    user = captain(meltemi)
    for number in (1, 2, 3):
        send_run(meltemi, GOOD, number, EVALUATION)
    leave_team(user, meltemi, EVALUATION)
    sirocco = new_team(meltemi.shared_task, "Sirocco")
    join_team(user, sirocco.invitation_code, EVALUATION)
    with pytest.raises(LimitReached):
        send_as(user, sirocco, 1)
    assert send_as(captain(sirocco), sirocco, 1).runs.count() == 1


def test_two_accounts_of_one_team_share_its_limit_and_keep_it_apart(meltemi):
    friend = person("Friend")
    join_team(friend, meltemi.invitation_code, EVALUATION)
    for number, user in enumerate((friend, captain(meltemi), friend), start=1):
        send_as(user, meltemi, number)
    for user in (friend, captain(meltemi)):
        with pytest.raises(LimitReached, match="in Evaluation: 0 of 3"):
            send_as(user, meltemi, 4)
    sirocco = another_team(friend, meltemi, "Sirocco")
    send_run(sirocco, GOOD, 1, EVALUATION)
    with pytest.raises(LimitReached):
        send_run(sirocco, GOOD, 2, EVALUATION)


def test_a_rejected_run_is_given_back_to_its_sender(meltemi):
    user = captain(meltemi)
    send_run(meltemi, ["MAYBE"], 1, EVALUATION)
    work_off(EVALUATION)
    sirocco = another_team(user, meltemi, "Sirocco")
    for number in (1, 2, 3):
        send_run(sirocco, GOOD, number, EVALUATION)
    assert Quota.objects.get(user=user).used == 3


@pytest.mark.django_db(transaction=True)
def test_parallel_uploads_of_a_person_for_two_teams_admit_the_limit(meltemi):
    """The person left the first team while uploads for it were under way: they count from the moment they commit."""
    user = captain(meltemi)
    meltemi.shared_task.phases.filter(slug="evaluation").update(run_numbers="free")
    sirocco = new_team(meltemi.shared_task, "Sirocco")
    phase, track = meltemi.shared_task.phases.get(slug="evaluation"), meltemi.shared_task.tracks.get(slug="one")

    def reserve(team):
        with transaction.atomic():
            return Quota.objects.reserve(team, user, phase, track, 1, EVALUATION)

    for _ in range(5):
        Quota.objects.all().delete()
        answers = at_once([lambda team=team: reserve(team) for team in (meltemi, sirocco) * 4])
        assert sum(answers) == 3
        assert Quota.objects.get(user=user).used == 3
        assert sum(Quota.objects.filter(team__isnull=False).values_list("used", flat=True)) == 3


def test_an_upgrade_counts_what_persons_have_sent(meltemi):
    for number in (1, 2):
        send_run(meltemi, GOOD, number, EVALUATION)
    send_run(meltemi, ["MAYBE"], 3, EVALUATION)
    work_off(EVALUATION)
    user = captain(meltemi)
    expected = set(Quota.objects.filter(user=user, used__gt=0).values_list("phase", "track", "day", "used"))
    Quota.objects.filter(user=user).delete()
    import_module("portal.migrations.0003_person_quota").count_runs_of_persons(apps, connection.schema_editor())
    counted = set(Quota.objects.filter(user=user).values_list("phase", "track", "day", "used"))
    assert expected <= counted
    assert {used for *_, used in counted} == {2}
