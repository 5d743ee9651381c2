"""Before the release, nothing that a team can see depends on scoring.

The same upload is left to wait, scored after a while, or given up, and a second one is checked meanwhile. To the
team, another team and people who are not signed in, every page, API response, email and limit looks the same.
"""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.core.cache import cache, caches
from django.db import transaction
from django.urls import reverse

from portal.actions.uploads.rejections import count_uploads
from portal.evaluation import check, score
from portal.evaluation.child import ChildError
from portal.evaluation.claim import claim_run
from portal.evaluation.limits import ATTEMPTS
from portal.evaluation.record import record_error
from portal.evaluation.score import score_run
from portal.evaluation.sweep import sweep
from portal.mail.messages import message
from portal.models import OutgoingMail, Run, Submission, User
from portal.queries.mails import facts
from tests.portal.script import Script
from tests.portal.web.conftest import Clock
from tests.portal.web.conftest import at as at
from tests.portal.world import EVALUATION, POOR, check_submission, send_run, without_children
from tests.security.api import NAMES as API_NAMES
from tests.security.api import address_of as api_address_of
from tests.security.conftest import World
from tests.security.pages import address_of
from tests.security.test_access import OWN_NAMES

MINUTE = timedelta(minutes=1)
LATER = EVALUATION + 3 * MINUTE
ROLES = ("anonymous", "captain", "rival")
# Different in each response: tokens and keys in forms, nonces of scripts, and the current time in empty feeds.
_RANDOM = re.compile(
    r'(name="(csrfmiddlewaretoken|key)" value=|nonce=|"X-CSRFToken": )"[^"]+"|<updated>[^<]+\.\d{6}[^<]+</updated>'
)


def wait(run: Run) -> None:
    """Leave the run to wait for a worker."""


def score_slowly(run: Run) -> None:
    """Score the run at the second attempt, after a worker and a child died on it."""
    claim_run(run.pk, EVALUATION)
    _kill(run, 1)
    with without_children():
        assert score_run(run.pk, EVALUATION + 2 * MINUTE)


def give_up(run: Run) -> None:
    _kill(run, ATTEMPTS)
    run.refresh_from_db()
    assert run.state == Run.State.UNSCORABLE


def _kill(run: Run, times: int) -> None:
    for hour in range(times):
        token = claim_run(run.pk, at := EVALUATION + hour * MINUTE)
        assert token is None or record_error(run, token, ChildError("timed out"), at)


OUTCOMES = (wait, score_slowly, give_up)


def seen(world: World, now: Clock) -> Iterator[tuple[str, str]]:
    """Yield what each person sees at each address, and in which emails."""
    now(LATER)
    baseline = Run.objects.filter(track__shared_task__slug="gated", kind=Run.Kind.BASELINE).first()
    runs = [*Run.objects.filter(team=world.bora, track__slug="one").order_by("number"), baseline]
    for role in ROLES:
        user = world.people.get(role)
        client, ask = world.client(role), world.scripts[role]
        cache.clear()  # resets rate limits
        caches["rates"].clear()
        caches["boards"].clear()
        for get, addresses in ((client.get, _pages(world, runs)), (ask, _api_addresses(world, runs))):
            for address in addresses:
                answer = get(address)
                body = b"".join(answer.streaming_content) if answer.streaming else answer.content
                text = _RANDOM.sub("", body.decode(errors="replace"))
                yield f"{role} {address}", f"{answer.status_code} {answer.headers.get('ETag')} {text}"
        if user is not None:
            yield f"{role} emails", _mails_to(user)


def _pages(world: World, runs: list[Run]) -> Iterator[str]:
    for name in OWN_NAMES:
        if name not in ("account_logout", "healthz", "readyz", "metrics") and not name.startswith(
            ("run", "submission")
        ):
            yield address_of(world, name)
    for run in runs:
        yield reverse("run", args=[run.pk])
        yield reverse("run_file", args=[run.pk])
        if run.submission_id is not None:
            for name in ("submission", "submission_status", "submission_report", "receipt"):
                yield reverse(name, args=["gated", run.submission_id])


def _api_addresses(world: World, runs: list[Run]) -> Iterator[str]:
    for name in API_NAMES:
        if name in ("api:run", "api:run_items", "api:run_file"):
            yield from (reverse(name, args=["gated", run.pk]) for run in runs)
        elif name in ("api:submission", "api:report", "api:receipt"):
            yield from (reverse(name, args=["gated", run.submission_id]) for run in runs if run.submission_id)
        else:
            yield api_address_of(world, name)


def _mails_to(user: User) -> str:
    related = ("shared_task", "team__shared_task", "user", "phase", "submission__phase")
    mails = OutgoingMail.objects.filter(user=user).select_related(*related).order_by("queued_at", "kind", "occasion")
    texts = []
    for mail in mails:
        known = facts(mail, LATER) if mail.submission_id else None  # other emails have new passwords
        text = "" if known is None else message(mail, known, LATER).body
        texts.append(f"{mail.kind} {mail.state} {mail.queued_at} {mail.lease_ends} {text}")
    return "\n".join(texts)


@pytest.mark.slow
def test_before_the_release_nothing_that_a_team_sees_depends_on_scoring(
    world: World, at: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(EVALUATION)
    for module in (check, score):
        monkeypatch.setattr(module, "running_from", lambda at: lambda: at)
    run, second = world.run, send_run(world.bora, POOR, 2, EVALUATION + MINUTE)
    for role in ROLES:
        world.client(role)  # signs in
    world.scripts |= {role: Script(world.people.get(role), "submit") for role in ROLES}
    check_submission(run.submission_id, EVALUATION)
    worlds = {}
    for outcome in OUTCOMES:
        worlds[outcome.__name__] = _world(world, outcome, run, second, at)
    expected = worlds.pop("wait")
    for name, found in worlds.items():
        different = [address for address in expected if found[address] != expected[address]]
        assert not different, "\n".join(f"{name}: {one}: {_difference(expected[one], found[one])}" for one in different)


def _world(world: World, outcome: Callable[[Run], None], run: Run, second: Run, at: Clock) -> dict[str, str]:
    """Return what people see after this outcome. Afterwards, the database is as before."""
    point = transaction.savepoint()
    outcome(run)
    check_submission(second.submission_id, EVALUATION + 2 * MINUTE)
    assert Submission.objects.get(pk=second.submission_id).state == Submission.State.ACCEPTED
    sweep(LATER)
    found = dict(seen(world, at))
    found["limits"] = str(count_uploads(world.people["captain"], world.bora, LATER))
    transaction.savepoint_rollback(point)
    return found


def _difference(before: str, after: str) -> str:
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    return next((f"{one}\n{other}" for one, other in lines if one != other), f"{len(before)} {len(after)}")
