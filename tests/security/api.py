"""Every URL of the API with Bora's objects, and tokens for people in each role."""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache, caches
from django.db import transaction
from django.http.response import HttpResponseBase
from django.urls import reverse

from portal.models import AccessToken
from tests.portal.script import Script
from tests.security.action_addresses import addresses
from tests.security.conftest import World

TOKENS = (
    "anonymous", "teamless:read", "teamless:submit", "pending:submit", "member:read", "member:submit", "captain:submit",
    "captain:organize", "rival:submit", "other_organizer:organize", "password_organizer:organize", "organizer:read",
    "organizer:submit", "organizer:organize", "elsewhere:organize", "administrator:organize",
)  # fmt: skip
"""Role and scope; `elsewhere` is the organizer with a token for a different shared task."""

PATTERNS = {name: pattern for name, pattern in addresses() if name.startswith("api:")}
NAMES = list(PATTERNS)


def arguments(world: World, name: str) -> dict[str, Any]:
    """Return the arguments for the URL with this name."""
    known = {
        "task": "gated",
        "track": "one",
        "phase": "evaluation",
        "dataset": "development",
        "number": 1,
        "run": world.run.pk,
        "submission": world.run.submission_id,
        "validation": world.validation.pk,
        "announcement": world.announcement.pk,
        "gold": world.gold.pk,
        "upload": world.gold_upload.pk,
        "extra_time": 1,
        "message": world.message.pk,
        "note": world.note.pk,
        "push": world.push.pk,
        "split": "test",
        "team": world.auster.pk,
    }
    return {one: known[one] for one in PATTERNS[name].pattern.converters}


def address_of(world: World, name: str) -> str:
    if name == "api:nothing":
        return "/api/v1/nothing"
    return reverse(name, kwargs=arguments(world, name))


def who(world: World, token: str) -> Any:
    """Return the user as the API sees them, limited by the token."""
    role, _, scope = token.partition(":")
    if role == "anonymous":
        return AnonymousUser()
    user = world.people["organizer" if role == "elsewhere" else role]
    user.token = AccessToken(user=user, scope=scope, shared_task=world.tiny if role == "elsewhere" else None)
    return user


def script(world: World, token: str) -> Script:
    """Return an API client with a token of this role and scope."""
    if token not in world.scripts:
        user = who(world, token)
        as_user = (user, user.token.scope, user.token.shared_task) if user.is_authenticated else ()
        world.scripts[token] = Script(*as_user)
    return world.scripts[token]


def answer(world: World, token: str, name: str, method: str) -> HttpResponseBase:
    """Return the response to an empty request. Any database changes are rolled back."""
    cache.clear()
    caches["rates"].clear()
    ask = script(world, token)
    before = transaction.savepoint()
    found: HttpResponseBase = ask(address_of(world, name), method)
    transaction.savepoint_rollback(before)
    return found
