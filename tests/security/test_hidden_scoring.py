"""Before the release, nothing that a team can see depends on scoring.

Of two opposite runs, one is scored at once. The other is left to wait, given up, or scored by a scorer that sleeps
while the team's second upload is checked. To the team, another team and people who are not signed in, every page, API
response, email, feed, export and limit looks the same, except for the run's own hash.
"""

import hashlib
import pickle
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import patch

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
from portal.storage import store_content
from tests.portal.script import Script
from tests.portal.web.conftest import Clock
from tests.portal.web.conftest import at as at
from tests.portal.world import EVALUATION, POOR, NoChild, check_submission, run_file, send_run, without_children
from tests.security.api import NAMES as API_NAMES
from tests.security.api import address_of as api_address_of
from tests.security.conftest import World
from tests.security.pages import address_of
from tests.security.test_access import OWN_NAMES

MINUTE = timedelta(minutes=1)
LATER = EVALUATION + 3 * MINUTE
_SIGNATURE = re.compile(r'signature(":|&quot;:) *("|&quot;)[0-9a-f]+')
_TAG = re.compile(r'(?<=^\d{3} )(W/)?"[0-9a-f]+"')
ROLES = ("anonymous", "captain", "rival")
# Different in each response: tokens and keys in forms, nonces of scripts, and the current time in empty feeds.
_RANDOM = re.compile(
    r'(name="(csrfmiddlewaretoken|key)" value=|nonce=|"X-CSRFToken": )"[^"]+"|<updated>[^<]+\.\d{6}[^<]+</updated>'
)


# Opposite answers in files of the same size. The gold says that the first one is better.
VALUES, OPPOSITE = ["YES", "YES", "NO", "NO"], ["NO", "NO", "YES", "YES"]

_CONTENTS = [run_file(values) for values in (VALUES, OPPOSITE)]
_OWN = re.compile(
    "|".join(
        pattern
        for content in _CONTENTS
        for pattern in (hashlib.sha256(content).hexdigest()[:8] + "[0-9a-f ]*", re.escape(content.decode()))
    )
)
Then = Callable[[], None]


def score_at_once(run: Run, then: Then) -> None:
    with without_children():
        assert score_run(run.pk, EVALUATION)
    then()


def wait(run: Run, then: Then) -> None:
    """Leave the run to wait for a worker."""
    then()


def sleep(run: Run, then: Then) -> None:
    """Score the run at the second attempt, by a scorer that sleeps until the second upload has been checked."""

    class Sleeper(NoChild):
        def _answer(self, question: bytes) -> dict[str, Any]:
            if pickle.loads(question)[0] == "score":
                then()
                has_slept.append(True)
            return super()._answer(question)

    has_slept: list[bool] = []
    _kill(run, 1)
    with without_children(), patch.object(score, "Child", Sleeper):
        assert score_run(run.pk, EVALUATION + 2 * MINUTE)
    assert has_slept


def give_up(run: Run, then: Then) -> None:
    _kill(run, ATTEMPTS)
    run.refresh_from_db()
    assert run.state == Run.State.UNSCORABLE
    then()


def _kill(run: Run, times: int) -> None:
    for hour in range(times):
        token = claim_run(run.pk, at := EVALUATION + hour * MINUTE)
        assert token is None or record_error(run, token, ChildError("timed out"), at)


OUTCOMES = (sleep, wait, give_up)


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
    expected = _world(world, score_at_once, OPPOSITE, run, second, at)
    for outcome in OUTCOMES:
        found = _world(world, outcome, VALUES, run, second, at)
        different = [address for address in expected if found[address] != expected[address]]
        differences = (f"{outcome.__name__}: {one}: {_difference(expected[one], found[one])}" for one in different)
        assert not different, "\n".join(differences)


def _world(
    world: World,
    outcome: Callable[[Run, Then], None],
    values: list[str],
    run: Run,
    second: Run,
    at: Clock,
) -> dict[str, str]:
    """Return what people see of a run with these values after this outcome. Afterwards, the database is as before."""
    point = transaction.savepoint()
    content = run_file(values)
    sha256 = hashlib.sha256(content).hexdigest()
    store_content(sha256, lambda: [content], EVALUATION)
    Run.objects.filter(pk=run.pk).update(file_sha256=sha256)
    Submission.objects.filter(pk=run.submission_id).update(sha256=sha256, size=len(content))
    check_submission(run.submission_id, EVALUATION)
    run.refresh_from_db()

    def check_second() -> None:
        check_submission(second.submission_id, EVALUATION + 2 * MINUTE)

    outcome(run, check_second)
    assert Submission.objects.get(pk=second.submission_id).state == Submission.State.ACCEPTED
    sweep(LATER)
    found = {address: _without_own_content(text) for address, text in seen(world, at)}
    found["limits"] = str(count_uploads(world.people["captain"], world.bora, LATER))
    transaction.savepoint_rollback(point)
    return found


def _without_own_content(text: str) -> str:
    """Leave out the run's answers, its hash in any form, and what depends on the hash: signature and entity tag."""
    plain = _OWN.sub("", text)
    return text if plain == text else _SIGNATURE.sub("", _TAG.sub("", plain))


def _difference(before: str, after: str) -> str:
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    return next((f"{one}\n{other}" for one, other in lines if one != other), f"{len(before)} {len(after)}")
