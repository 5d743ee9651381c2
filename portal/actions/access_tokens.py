"""Access tokens for scripts: made and revoked by their owner, in a browser."""

from typing import Annotated

from django.utils.crypto import get_random_string
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.action import Act, action
from portal.actions.errors import LimitReached
from portal.actions.input import column
from portal.actions.roles import NO_SECOND_FACTOR, OWN_ACCOUNT
from portal.models import AccessToken, SharedTask, User
from portal.models.access_token import SECRET_LENGTH
from portal.permissions import lacks_second_factor

TOKENS = 50  # valid ones of a person
LONGEST_DAYS = 365

TOO_MANY_TOKENS = LimitReached.declare(
    "too_many_tokens", _("You have %(limit)d tokens. Revoke one that you no longer use.")
)


@action(
    who=OWN_ACCOUNT,
    says=_("created a token"),
    errors=[NO_SECOND_FACTOR, TOO_MANY_TOKENS],
    locks=True,
)
def create_token(
    act: Act,
    account: User,
    *,
    name: Annotated[str, column(AccessToken, "name", required=True)],
    scope: AccessToken.Scope,
    shared_task: SharedTask | None = None,
    days: Annotated[int, Field(ge=1, le=LONGEST_DAYS, title="Days until it expires")],
) -> tuple[AccessToken, str]:
    """Create a token that does what its owner may, within its scope; its text is returned here and kept nowhere.

    One that may organize stands for a session with a second factor, so only such a session creates it.
    """
    if scope == AccessToken.Scope.ORGANIZE and lacks_second_factor(account):
        raise NO_SECOND_FACTOR()
    if account.access_tokens.valid(act.at).count() >= TOKENS:
        raise TOO_MANY_TOKENS(limit=TOKENS)
    secret = get_random_string(SECRET_LENGTH)
    token, text = AccessToken.objects.issue(
        account, secret, act.at, name=name, scope=scope, task=shared_task, days=days
    )
    task = shared_task.slug if shared_task else None
    act.record(subject=token.audit_subject, name=name, scope=scope, task=task, expires=token.expires_at.isoformat())
    return token, text


@action(who=OWN_ACCOUNT, says=_("revoked a token"), repeatable=True)
def revoke_token(act: Act, token: AccessToken) -> None:
    """End a token at once."""
    if token.revoked_at is None:
        token.revoke(act.at)
        act.record(name=token.name)
