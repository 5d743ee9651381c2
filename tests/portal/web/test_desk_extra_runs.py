"""Extra runs for one team: what they allow, and to whom, also if uploads arrive at the same time."""

from functools import partial
from typing import Any

import pytest
from django.test import Client

from portal.actions.base.errors import ActionError, Conflict, LimitReached
from portal.actions.desk.extra_runs import grant_extra_runs
from portal.models import ExtraRuns, Phase, Quota, Run, Team, User
from portal.queries.quota import remaining
from tests.portal.remembered import remembered
from tests.portal.script import Script
from tests.portal.world import EVALUATION, GOOD, at_once, captain, new_team, organizer_of, send_run


@remembered
def full(meltemi: Team) -> Team:
    """A team that has used all its runs in a phase with one run per track and free numbers."""
    meltemi.shared_task.phases.filter(slug="evaluation").update(runs_per_track=1, run_numbers="free")
    send_run(meltemi, GOOD, 1, EVALUATION)
    return meltemi


@remembered
def organizer(full: Team) -> User:
    return organizer_of(full.shared_task)


def phase_of(team: Team) -> Phase:
    return team.shared_task.phases.get(slug="evaluation")


def granted(organizer: User, team: Team, runs: int) -> ExtraRuns:
    return grant_extra_runs(organizer, phase_of(team), EVALUATION, team=team, runs=runs, reason="An error on our side.")


def left(team: Team) -> int | None:
    limits = remaining(team, captain(team), phase_of(team), EVALUATION)
    return next(limit.left for limit in limits if limit.track.slug == "one")


def test_one_team_can_use_them_and_no_other(full: Team, organizer: User) -> None:
    other = new_team(full.shared_task, "Notus")
    assert left(full) == 0
    granted(organizer, full, 1)
    assert (left(full), left(other)) == (1, 1)
    send_run(full, GOOD, 2, EVALUATION)
    with pytest.raises(LimitReached, match="no_runs_left"):
        send_run(full, GOOD, 3, EVALUATION)
    send_run(other, GOOD, 1, EVALUATION)
    with pytest.raises(LimitReached, match="no_runs_left"):
        send_run(other, GOOD, 2, EVALUATION)
    granted(organizer, full, 2)
    send_run(full, GOOD, 3, EVALUATION)
    granted(organizer, full, 0)
    assert left(full) == 0


def test_a_phase_without_room_for_more_runs_says_why(full: Team, organizer: User) -> None:
    phase = Phase.objects.filter(pk=phase_of(full).pk)
    for change, code in (
        ({"runs_per_track": None}, "no_limit"),
        ({"runs_per_track": 1, "contrastive": 1}, "with_slots"),
    ):
        phase.update(**change)
        with pytest.raises(Conflict, match=code):
            granted(organizer, full, 1)


@pytest.mark.django_db(transaction=True)
def test_of_two_uploads_at_the_same_time_only_one_gets_the_extra_run(full: Team, organizer: User) -> None:
    granted(organizer, full, 1)
    done = at_once([partial(send_run, full, GOOD, number, EVALUATION) for number in (2, 3)])
    assert [result.code for result in done if isinstance(result, ActionError)] == ["no_runs_left"]
    assert Run.objects.filter(team=full, track__slug="one").count() == 2
    assert set(Quota.objects.filter(team=full, day="", track__slug="one").values_list("used", flat=True)) == {2}


@pytest.mark.django_db(transaction=True)
def test_a_grant_during_an_upload_never_loses_count(full: Team, organizer: User) -> None:
    def upload() -> Any:
        return send_run(full, GOOD, 2, EVALUATION)

    done = at_once([upload, partial(granted, organizer, full, 1)])
    accepted = 2 if isinstance(done[0], Run) else 1
    assert set(Quota.objects.filter(team=full, day="", track__slug="one").values_list("used", flat=True)) == {accepted}
    assert left(full) == 2 - accepted


def test_organizers_grant_them_on_the_team_page_and_by_script(full: Team, organizer: User, client: Client) -> None:
    client.force_login(organizer)
    page = f"/tasks/tiny/organize/teams/{full.pk}/"
    given = {"phase": "evaluation", "runs": "2", "reason": "An error on our side."}
    assert client.post(f"{page}extra-runs/", given | {"runs": "many"}).status_code == 422
    text = client.post(f"{page}extra-runs/", given, follow=True).content.decode()
    assert "An error on our side." in text
    assert left(full) == 2
    path = "/tasks/tiny/phases/evaluation/extra-runs"
    ask = Script(organizer, "organize")
    assert ask(path, "POST", {"team": "Meltemi", "runs": 0, "reason": "A mistake."}).status_code == 204
    assert left(full) == 0
    assert ask(path, "POST", {"team": "Unknown", "runs": 1, "reason": "A mistake."}).status_code == 404
    assert (
        Script(captain(full), "organize")(path, "POST", {"team": "Meltemi", "runs": 9, "reason": "x"}).status_code
        == 403
    )
