"""Access tokens for scripts. Their owners create and revoke them in a browser."""

from datetime import datetime
from typing import Annotated

from django.utils.crypto import get_random_string
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import LimitReached
from portal.actions.base.input import column
from portal.actions.base.roles import NO_SECOND_FACTOR, OWN_ACCOUNT
from portal.models import AccessToken, AuditEntry, SharedTask, User
from portal.models.access_token import SECRET_LENGTH
from portal.permissions import lacks_second_factor

TOKENS = 50  # maximum number of valid tokens per person
LONGEST_DAYS = 365
TO_ORGANIZE = "for tokens that may organize"  # which tokens require a second factor

TOO_MANY_TOKENS = LimitReached.declare(
    "too_many_tokens", _("You already have %(limit)d tokens. Revoke a token that you no longer use.")
)


@action(
    who=OWN_ACCOUNT,
    second_factor=TO_ORGANIZE,
    says=_("created a token"),
    errors=[TOO_MANY_TOKENS],
    locks=True,
)
def create_token(
    call: ActionCall,
    account: User,
    *,
    name: Annotated[str, column(AccessToken, "name", required=True)],
    scope: AccessToken.Scope,
    shared_task: SharedTask | None = None,
    days: Annotated[int, Field(ge=1, le=LONGEST_DAYS, title="Days until the token expires")],
) -> tuple[AccessToken, str]:
    """Create a token with its owner's permissions, limited to its scope. Its text is returned once and not stored.

    A token that may organize acts as a session with a second factor, so only such a session can create it.
    """
    require_token(account, scope, call.at)
    secret, task = get_random_string(SECRET_LENGTH), shared_task and shared_task.slug
    token, text = AccessToken.objects.issue(
        account, secret, call.at, name=name, scope=scope, task=shared_task, days=days
    )
    call.target = token
    call.record(name=name, scope=scope, task=task, expires=token.expires_at.isoformat())
    return token, text


def needs_second_factor(account: User, scope: str) -> bool:
    """Return whether the account must set up a second factor before it can get a token with this scope."""
    return scope == AccessToken.Scope.ORGANIZE and lacks_second_factor(account)


def require_token(account: User, scope: str, at: datetime) -> None:
    """Raise NO_SECOND_FACTOR or TOO_MANY_TOKENS if the account may not have a token with this scope."""
    if needs_second_factor(account, scope):
        raise NO_SECOND_FACTOR()
    if account.access_tokens.valid(at).count() >= TOKENS:
        raise TOO_MANY_TOKENS(limit=TOKENS)


@action(who=OWN_ACCOUNT, says=AuditEntry.Event.REVOKE_TOKEN.label, repeatable=True)
def revoke_token(call: ActionCall, token: AccessToken) -> None:
    """Revoke a token immediately."""
    if token.revoked_at is None:
        token.revoke(call.at)
        call.record(name=token.name)
