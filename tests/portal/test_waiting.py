"""Waiting times until limits reset, exact to the second: a request fails a second earlier and then succeeds."""

from datetime import timedelta
from typing import Any

import pytest

from portal.actions import team_members
from portal.actions.base.errors import ActionError, LimitReached
from portal.actions.base.waiting import seconds_until, until_fewer, until_tomorrow
from portal.actions.team_members import invite_by_mail
from portal.actions.uploads import rejections, validate_only
from portal.actions.uploads.submit import submit
from portal.actions.uploads.validate_only import validate_only as validate
from portal.models import Phase, Team
from tests.portal.script import Script
from tests.portal.web.conftest import at as at
from tests.portal.world import EVALUATION, GOOD, captain, run_file, send_run, work_off

pytestmark = pytest.mark.postgres

A_SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


def wait_of(call: Any) -> int:
    """Make a call that exceeds a limit, and return how many seconds it is asked to wait."""
    with pytest.raises(LimitReached) as caught:
        call()
    return int(caught.value.params["seconds"])


def test_the_arithmetic() -> None:
    assert seconds_until(EVALUATION + timedelta(milliseconds=1), EVALUATION) == 1
    assert seconds_until(EVALUATION, EVALUATION) == 1
    times = [EVALUATION + number * A_SECOND for number in (3, 1, 2)]
    assert until_fewer(times, 2, HOUR, EVALUATION + 3 * A_SECOND) == 3599
    assert until_fewer(times, 4, HOUR, EVALUATION) == 0
    assert until_tomorrow(EVALUATION.replace(hour=23, minute=59, second=58)) == 2
    assert until_tomorrow(EVALUATION.replace(hour=0, minute=0, second=0)) == 86_400


def test_a_day_without_runs_left_ends_at_midnight(meltemi: Team) -> None:
    Phase.objects.filter(slug="evaluation").update(runs_per_day=1)
    send_run(meltemi, GOOD, 1, EVALUATION)
    seconds = wait_of(lambda: send_run(meltemi, GOOD, 2, EVALUATION))
    assert wait_of(lambda: send_run(meltemi, GOOD, 2, EVALUATION + (seconds - 1) * A_SECOND)) == 1
    send_run(meltemi, GOOD, 2, EVALUATION + seconds * A_SECOND)


def test_a_phase_without_runs_left_has_no_end_to_wait_for(meltemi: Team) -> None:
    Phase.objects.filter(slug="evaluation").update(runs_per_track=1)
    send_run(meltemi, GOOD, 1, EVALUATION)
    with pytest.raises(LimitReached) as caught:
        send_run(meltemi, GOOD, 2, EVALUATION)
    assert "seconds" not in caught.value.params


def test_rejected_uploads(meltemi: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejections, "REJECTED_AN_HOUR", 2)
    phase = Phase.objects.get(slug="evaluation")

    def send_bad(minutes: float) -> None:
        with pytest.raises(ActionError) as caught:
            submit(captain(meltemi), phase, EVALUATION + timedelta(minutes=minutes), content=[b""], file_name="bad")
        if isinstance(caught.value, LimitReached):
            raise caught.value

    send_bad(0)
    send_bad(10)
    assert wait_of(lambda: send_bad(15)) == 45 * 60
    send_bad(60)
    assert wait_of(lambda: send_bad(61)) == 9 * 60


def test_validations(meltemi: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate_only, "VALIDATIONS_AN_HOUR", 1)
    phase = Phase.objects.get(slug="evaluation")

    def ask(seconds: int) -> None:
        at = EVALUATION + seconds * A_SECOND
        validate(captain(meltemi), phase, at, content=[run_file(GOOD)], file_name="one_Meltemi_1.json")
        work_off(at)

    ask(0)
    assert wait_of(lambda: ask(600)) == 3000
    ask(3600)


def test_invitations(meltemi: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team_members, "INVITATIONS_A_DAY", 1)
    user = captain(meltemi)
    invite_by_mail(user, meltemi, EVALUATION, address="a@example.org")
    later = EVALUATION + timedelta(hours=23)
    assert wait_of(lambda: invite_by_mail(user, meltemi, later, address="b@example.org")) == 3600


def test_the_api_says_it_in_a_header(meltemi: Team, at: Any) -> None:
    Phase.objects.filter(slug="evaluation").update(runs_per_day=0)
    at(EVALUATION)
    script, path = Script(captain(meltemi)), "/tasks/tiny/phases/evaluation/submissions?file_name=one_Meltemi_1.json"
    sent = {"body": run_file(GOOD), "Content-Type": "application/octet-stream"}
    answer = script(path, "POST", **sent)
    assert (answer.status_code, answer["Retry-After"]) == (429, str(until_tomorrow(EVALUATION)))
    Phase.objects.filter(slug="evaluation").update(runs_per_day=None, runs_per_track=0)
    answer = script(path, "POST", **sent)
    assert (answer.status_code, answer.has_header("Retry-After")) == (429, False)
