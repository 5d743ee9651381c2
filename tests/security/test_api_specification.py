"""The whole API, tested by Schemathesis with each role: no 5xx, and no response outside the specification."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.cache import cache, caches
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from portal.api.urls import api
from tests.portal.script import token_of
from tests.portal.web.conftest import Clock
from tests.portal.web.conftest import at as at
from tests.portal.world import EVALUATION
from tests.security.api import who
from tests.security.conftest import World

ROLES = (
    "anonymous",
    "teamless:submit",
    "member:read",
    "captain:submit",
    "organizer:organize",
    "administrator:organize",
)
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 10  # per operation, each sent in every role
BOUNDED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def operations() -> Iterator[Any]:
    for found in specification().get_all_operations():
        yield found.ok()


def specification() -> Any:
    return schemathesis.openapi.from_dict(api.get_openapi_schema(path_prefix="/api/v1/"))


@pytest.fixture(autouse=True)
def connection_stays() -> Iterator[None]:
    """Keep the test's transaction open across requests, as Django's test client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.slow
@pytest.mark.parametrize("is_read", [True, False], ids=["reads", "writes"])
def test_every_answer_is_one_that_the_specification_says(world: World, at: Clock, is_read: bool) -> None:
    at(EVALUATION)
    headers = {token: _headers(world, token) for token in ROLES}
    app = get_wsgi_application()
    for operation in operations():
        if (operation.method == "get") == is_read:
            operation.app = app
            _run(operation, _real(world), headers)


def _headers(world: World, token: str) -> dict[str, str]:
    user = who(world, token)
    if not user.is_authenticated:
        return {}
    return {"Authorization": f"Bearer {token_of(user, token.partition(':')[2])}"}


def _run(operation: Any, real: dict[str, Any], headers: dict[str, dict[str, str]]) -> None:
    """Send each generated request in every role, because generating it takes longer than answering it."""

    @BOUNDED
    @given(case=operation.as_strategy(), is_real=st.booleans())
    def run(case: Any, is_real: bool) -> None:
        if is_real:
            case.path_parameters = {name: real.get(name, value) for name, value in (case.path_parameters or {}).items()}
        for token, own in headers.items():
            cache.clear()
            caches["rates"].clear()
            before = transaction.savepoint()
            try:
                case.call_and_validate(checks=CHECKS, headers=own)
            except FailureGroup as error:
                error.add_note(f"Role and scope: {token}")
                raise
            finally:
                transaction.savepoint_rollback(before)

    run()


def _real(world: World) -> dict[str, Any]:
    """Return URL parameters that refer to existing objects."""
    return {
        "task": "gated", "track": "one", "phase": "evaluation", "dataset": "development", "number": 1, "split": "test",
        "run": str(world.run.pk), "submission": str(world.run.submission_id), "validation": str(world.validation.pk),
        "announcement": world.announcement.pk, "gold": world.gold.pk, "upload": str(world.gold_upload.pk),
        "extra_time": 1, "team": world.auster.pk, "push": str(world.push.pk),
    }  # fmt: skip
