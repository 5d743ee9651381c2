"""Limits apply to people as well as teams: registering again or joining other teams gives no additional runs."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser
from django.db import connection, transaction

from portal.actions.base.errors import Conflict, LimitReached, NotAllowed
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.team_members import INVITATIONS_A_DAY, invite_by_mail, leave_team
from portal.actions.teams import join_team, register_team, withdraw_team
from portal.actions.uploads.submit import submit
from portal.models import Board, Evaluation, ExtraTime, Quota, Run, Submission, Team, User
from portal.queries.desk.team_filter import TeamFilter
from portal.queries.desk.teams import all_team_rows
from portal.queries.duties import to_do
from portal.queries.quota import remaining
from portal.queries.runs import team_runs
from tests.portal.world import (
    EVALUATION,
    GOOD,
    MILLISECOND,
    POST,
    at_once,
    board,
    captain,
    new_team,
    organizer_of,
    person,
    rescored,
    run_file,
    send_run,
    work_off,
)

pytestmark = pytest.mark.postgres


def another_team(user: User, team: Team, name: str) -> Team:
    """Have the user leave the team and register a new one."""
    leave_team(user, team, EVALUATION)
    return register_team(user, team.shared_task, EVALUATION, name=name)


def send_as(user: User, team: Team, number: int, at=EVALUATION, phase="evaluation") -> Submission:
    there, name = team.shared_task.phases.get(slug=phase), f"one_{team.name}_{number}.json"
    return submit(user, there, at, content=[run_file(GOOD)], file_name=name)


def test_registering_again_gives_no_runs_of_the_phase(meltemi):
    user = captain(meltemi)
    for number in (1, 2):
        send_run(meltemi, GOOD, number, EVALUATION)
    sirocco = another_team(user, meltemi, "Sirocco")
    send_run(sirocco, GOOD, 1, EVALUATION)
    ostro = another_team(user, sirocco, "Ostro")
    with pytest.raises(LimitReached, match="counting runs for your earlier teams: 0 of 3") as raised:
        send_run(ostro, GOOD, 1, EVALUATION)
    assert raised.value.code == "no_runs_left"
    assert Run.objects.filter(submission__sent_by=user).count() == 3
    line = remaining(ostro, user, ostro.shared_task.phases.get(slug="evaluation"), EVALUATION)[0]
    assert (line.used, line.limit, line.left, line.whose) == (3, 3, 0, "person")


def test_registering_again_gives_no_runs_of_the_day(meltemi):
    user = captain(meltemi)
    for number in (1, 2):
        send_run(meltemi, GOOD, number, POST, "post")
    sirocco = another_team(user, meltemi, "Sirocco")
    with pytest.raises(LimitReached, match=r"today \(UTC\) .* your earlier teams: 0 of 2"):
        send_run(sirocco, GOOD, 1, POST, "post")


def test_a_person_brings_nothing_to_the_count_of_the_team_they_join(meltemi):
    user = captain(meltemi)
    for number in (1, 2, 3):
        send_run(meltemi, GOOD, number, EVALUATION)
    leave_team(user, meltemi, EVALUATION)
    sirocco = new_team(meltemi.shared_task, "Sirocco")
    join_team(user, sirocco.shared_task, EVALUATION, code=sirocco.invitation_code)
    with pytest.raises(LimitReached):
        send_as(user, sirocco, 1)
    assert send_as(captain(sirocco), sirocco, 1).runs.count() == 1


def test_two_accounts_of_one_team_share_its_limit_and_keep_it_apart(meltemi):
    friend = person("Friend")
    join_team(friend, meltemi.shared_task, EVALUATION, code=meltemi.invitation_code)
    for number, user in enumerate((friend, captain(meltemi), friend), start=1):
        send_as(user, meltemi, number)
    for user in (friend, captain(meltemi)):
        with pytest.raises(LimitReached, match="in Evaluation: 0 of 3"):
            send_as(user, meltemi, 4)
    sirocco = another_team(friend, meltemi, "Sirocco")
    send_run(sirocco, GOOD, 1, EVALUATION)
    with pytest.raises(LimitReached):
        send_run(sirocco, GOOD, 2, EVALUATION)


@pytest.mark.slow
def test_a_rejected_run_is_given_back_to_its_sender(meltemi):
    user = captain(meltemi)
    send_run(meltemi, ["MAYBE"], 1, EVALUATION)
    work_off(EVALUATION)
    sirocco = another_team(user, meltemi, "Sirocco")
    for number in (1, 2, 3):
        send_run(sirocco, GOOD, number, EVALUATION)
    assert Quota.objects.get(user=user).used == 3


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_parallel_uploads_of_a_person_for_two_teams_admit_the_limit(meltemi):
    """A person may leave a team while uploading for it. The upload still counts when it is committed."""
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


def test_without_all_rows_nothing_is_reserved(meltemi, monkeypatch):
    """A limit whose row is missing cannot be checked."""
    insert = Quota.objects.bulk_create
    monkeypatch.setattr(Quota.objects, "bulk_create", lambda new, **given: insert(new[:1], **given))
    with pytest.raises(Conflict) as raised:
        send_run(meltemi, GOOD, 1, EVALUATION)
    assert raised.value.code == "phase_moves"
    assert not Submission.objects.exists()


@pytest.mark.slow
def test_an_upgrade_counts_what_persons_have_sent(meltemi):
    for number in (1, 2):
        send_run(meltemi, GOOD, number, EVALUATION)
    send_run(meltemi, ["MAYBE"], 3, EVALUATION)
    work_off(EVALUATION)
    user = captain(meltemi)
    expected = set(Quota.objects.filter(user=user, used__gt=0).values_list("phase", "track", "day", "used"))
    Quota.objects.filter(user=user).delete()
    import_module("portal.migrations.0005_person_limits").count_runs_of_persons(apps, connection.schema_editor())
    counted = set(Quota.objects.filter(user=user).values_list("phase", "track", "day", "used"))
    assert expected <= counted
    assert {used for *_, used in counted} == {2}


@pytest.fixture
def stepped(meltemi):
    """The team Meltemi, in a phase that shows scores immediately and in steps of 0.05."""
    rules = {"scores": "at-once", "official": "best", "ladder_step": 0.05, "released": None, "runs_per_track": None}
    meltemi.shared_task.phases.filter(slug="evaluation").update(**rules)
    return meltemi


def shown_scores(user, team):
    """Return the scores that a member sees for the team's runs, keyed by run number."""
    return {line.run.number: [score.value for score in line.scores] for line in team_runs(team, user, EVALUATION)}


def scored_run(team, value, number):
    """Create a run with this accuracy, uploaded by the captain."""
    run = send_run(team, GOOD, number, EVALUATION + number * MILLISECOND)
    work_off(EVALUATION)
    rescored(run, {"accuracy": value})
    return run


@pytest.mark.slow
def test_registering_again_gives_no_second_first_score(stepped):
    user = captain(stepped)
    scored_run(stepped, 0.7, 1)
    sirocco = another_team(user, stepped, "Sirocco")
    for number, value in ((2, 0.72), (3, 0.74), (4, 0.77)):
        scored_run(sirocco, value, number)
    assert shown_scores(user, sirocco) == {2: [], 3: [], 4: [0.75]}
    rows = [(row.team, row.scores["accuracy"]) for row in board(stepped.shared_task, EVALUATION, baselines=False).rows]
    assert rows == [("Sirocco", 0.75)]


@pytest.mark.slow
def test_a_run_waits_for_its_senders_run_in_another_team(stepped):
    user = captain(stepped)
    first = scored_run(stepped, 0.7, 1)
    sirocco = another_team(user, stepped, "Sirocco")
    scored_run(sirocco, 0.8, 2)
    assert shown_scores(user, sirocco) == {2: [0.8]}
    Evaluation.objects.filter(run=first).delete()
    Run.objects.filter(pk=first.pk).update(state=Run.State.RECEIVED)
    assert shown_scores(user, sirocco) == {2: []}


@pytest.mark.slow
def test_who_changed_teams_is_no_obstacle_for_the_others(stepped):
    friend = person("Friend")
    join_team(friend, stepped.shared_task, EVALUATION, code=stepped.invitation_code)
    scored_run(stepped, 0.7, 1)
    sirocco = another_team(friend, stepped, "Sirocco")
    scored_run(sirocco, 0.7, 2)
    assert shown_scores(friend, sirocco) == {2: [0.7]}


def test_invitations_are_counted_for_the_person_as_well(meltemi):
    user, team = captain(meltemi), meltemi
    for number in range(INVITATIONS_A_DAY):
        invite_by_mail(user, team, EVALUATION, address=f"p{number}@example.org")
        if number == INVITATIONS_A_DAY // 2:
            team = another_team(user, team, "Sirocco")
    with pytest.raises(LimitReached) as raised:
        invite_by_mail(user, team, EVALUATION, address="one.more@example.org")
    assert raised.value.code == "too_many_invitations"
    invite_by_mail(user, team, EVALUATION + timedelta(days=1), address="one.more@example.org")


def test_closed_registration_accepts_no_new_team(gated):
    answers = {"use": "research"}
    closing = gated.closing_of_teams()
    with pytest.raises(NotAllowed) as raised:
        register_team(person("Late"), gated, closing, name="Late", answers=answers)
    assert raised.value.code == "teams_closed"
    assert register_team(person("Early"), gated, closing - MILLISECOND, name="Early", answers=answers).pk


def teams_shown(shared_task, at, phase="evaluation"):
    return [row.team for row in board(shared_task, at, phase, viewer=AnonymousUser(), baselines=False).rows]


@pytest.mark.slow
@pytest.mark.parametrize(("way", "is_last"), [("withdraw", False), ("leave", True)])
def test_a_team_withdrawn_while_a_phase_is_open_leaves_its_board_and_is_marked(meltemi, way, is_last):
    organizer_of(meltemi.shared_task)
    send_run(meltemi, GOOD, 1, EVALUATION)
    send_run(meltemi, GOOD, 1, POST, "post")
    work_off(POST)
    assert teams_shown(meltemi.shared_task, POST) == teams_shown(meltemi.shared_task, POST, "post") == ["Meltemi"]
    revision = Board.objects.get(phase__slug="post", track__slug="one").revision
    (leave_team if is_last else withdraw_team)(captain(meltemi), meltemi, POST)
    assert teams_shown(meltemi.shared_task, POST) == ["Meltemi"]  # this phase was already closed and released
    assert teams_shown(meltemi.shared_task, POST, "post") == []
    assert Board.objects.get(phase__slug="post", track__slug="one").revision > revision
    (line,) = all_team_rows(meltemi.shared_task, TeamFilter(), EVALUATION)
    assert line.flags == [
        "The team withdrew while Post-evaluation was open. Its runs are not on the leaderboards of that phase."
    ]
    assert "organize_teams" in [step.page for step in to_do(meltemi.shared_task, POST)]


@pytest.mark.slow
@pytest.mark.parametrize("whose", ["all", "own", "others"])
def test_extra_time_counts_as_open_for_a_withdrawal(meltemi, whose):
    send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    team = {"all": None, "own": meltemi, "others": new_team(meltemi.shared_task, "Sirocco")}[whose]
    late = phase.closes + timedelta(hours=1)
    ExtraTime.objects.create(
        phase=phase, team=team, until=late, reason="why", granted_by=captain(meltemi), granted_at=EVALUATION
    )
    withdraw_team(captain(meltemi), meltemi, late - MILLISECOND)
    assert teams_shown(meltemi.shared_task, POST) == (["Meltemi"] if whose == "others" else [])


def test_organizers_see_who_uploaded_for_several_teams(meltemi):
    user = captain(meltemi)
    send_run(meltemi, GOOD, 1, EVALUATION)
    sirocco = another_team(user, meltemi, "Sirocco")
    send_run(sirocco, GOOD, 1, EVALUATION)
    flags = {line.team.name: line.flags for line in all_team_rows(meltemi.shared_task, TeamFilter(), EVALUATION)}
    assert flags == {
        "Meltemi": [
            "The team withdrew while Evaluation was open. Its runs are not on the leaderboards of that phase.",
            "Meltemi has also uploaded runs for Sirocco.",
        ],
        "Sirocco": ["Meltemi has also uploaded runs for Meltemi."],
    }


def test_teams_are_fixed_when_registration_closes(gated, client):
    closing = gated.closing_of_teams()
    cleo, milo, noa = map(person, ("Cleo", "Milo", "Noa"))
    team = register_team(cleo, gated, closing - timedelta(days=1), name="Fixed", answers={"use": "research"})
    for member in (milo, noa):
        join_team(member, gated, closing - timedelta(days=1), code=team.invitation_code)
    leave_team(noa, team, closing - MILLISECOND)
    with pytest.raises(NotAllowed) as raised:
        leave_team(milo, team, closing)
    assert raised.value.code == "team_is_fixed"
    client.force_login(milo)
    page = client.get(f"/tasks/{gated.slug}/team/").content.decode()
    assert "so you can’t leave your team" in page
    assert f"/tasks/{gated.slug}/team/leave/" not in page
    withdraw_team(cleo, team, closing)
    leave_team(milo, team, closing)
    assert not team.memberships.filter(user=milo).exists()


def test_a_team_can_be_one_account(tiny_folder, db, client):
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text().replace("approval: automatic", "approval: automatic, max_members: 1"))
    task = import_shared_task(None, tiny_folder, EVALUATION).shared_task
    team = new_team(task, "Solo")
    with pytest.raises(Conflict) as raised:
        join_team(person("Milo"), task, EVALUATION, code=team.invitation_code)
    assert raised.value.code == "team_full"
    with pytest.raises(Conflict):
        invite_by_mail(captain(team), team, EVALUATION, address="milo@example.org")
    client.force_login(captain(team))
    page = client.get("/tasks/tiny/team/").content.decode()
    assert "In this task, a team can have only one member" in page
    assert team.invitation_code not in page
