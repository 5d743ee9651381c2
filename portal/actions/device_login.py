"""Command-line sign-in: `agon` requests a token, a person allows it in a browser, and `agon` then collects it.

The error codes follow RFC 8628.
"""

import secrets
from datetime import datetime
from typing import Annotated

from allauth.core.internal import ratelimit
from django.db import transaction
from django.http import HttpRequest
from django.utils.crypto import get_random_string
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.access_tokens import TO_ORGANIZE, TOO_MANY_TOKENS, create_token, require_token
from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, LimitReached, NotAllowed
from portal.actions.base.input import column
from portal.actions.base.roles import ANYONE, OWN_ACCOUNT, SIGNED_OUT
from portal.models import AccessToken, DeviceLogin, SharedTask, User
from portal.models.device_login import CODE_LENGTH, LETTERS, LIFETIME, digest

MOST_WAITING = 50  # maximum number of waiting logins per network address
TOKEN_DAYS = 90

TOO_MANY_LOGINS = LimitReached.declare(
    "too_many_logins", _("Too many sign-ins from your network are waiting for approval. Try again in 10 minutes.")
)
UNKNOWN_CODE = Conflict.declare(
    "unknown_code",
    _(
        "This code is invalid or has expired. Check the code, or run “agon login” again. Codes are valid for 10 "
        "minutes."
    ),
)
TOO_MANY_CODES = LimitReached.declare("too_many_codes", _("You’ve tried too many codes. Wait an hour, then try again."))
PENDING = Conflict.declare("authorization_pending", _("Allow the sign-in in your browser."))
SLOW_DOWN = LimitReached.declare("slow_down", _("Too many requests. Increase the time between requests by 5 seconds."))
EXPIRED = NotAllowed.declare("expired_token", _("The code has expired or was already used. Run “agon login” again."))
NO_SUCH_TASK = Conflict.declare(
    "no_such_task",
    _("You don’t have access to the task “%(task)s”. Run “agon login” again with a different task."),
)
DENIED = NotAllowed.declare("access_denied", _("The sign-in was denied in the browser."))

Code = Annotated[str, Field(min_length=1, max_length=20, title=_("Code"))]


@action(who=ANYONE, errors=[TOO_MANY_LOGINS])
def start_device_login(
    call: ActionCall,
    login: DeviceLogin,
    *,
    name: Annotated[str, column(DeviceLogin, "name", required=True)],
    scope: AccessToken.Scope = AccessToken.Scope.SUBMIT,
    task: Annotated[str, column(DeviceLogin, "task")] = "",
) -> tuple[DeviceLogin, str]:
    """Request a token with this scope, for one task or all. Return the login and its device code, which is not stored.

    Whether the task exists is shown only to people who can see it, when they allow the login.
    """
    DeviceLogin.objects.filter(expires_at__lte=call.at).delete()
    if DeviceLogin.objects.filter(address=login.address).count() >= MOST_WAITING:
        raise TOO_MANY_LOGINS()
    device_code = secrets.token_urlsafe(32)
    created = DeviceLogin.objects.create(
        sha256=digest(device_code),
        code=get_random_string(CODE_LENGTH, LETTERS),
        name=name,
        address=login.address,
        scope=scope,
        task=task,
        created_at=call.at,
        expires_at=call.at + LIFETIME,
        next_poll_at=call.at,
    )
    return created, device_code


def waiting_login(account: User, code: str, at: datetime) -> DeviceLogin | None:
    """Return the login with this code if it is waiting for a decision. Each call counts toward the account's limit.

    Call this outside of transactions: if they were rolled back, the attempt would not count.

    Raises:
        LimitReached: TOO_MANY_CODES.
    """
    # The limit is per account, so allauth reads nothing from the request.
    if not ratelimit.consume(HttpRequest(), app="allauth.account", action="device_code", user=account):
        raise TOO_MANY_CODES()
    return DeviceLogin.objects.waiting(code, at).first()


@action(
    who=OWN_ACCOUNT,
    second_factor=TO_ORGANIZE,
    says=_("allowed a command-line sign-in"),
    errors=[TOO_MANY_CODES, UNKNOWN_CODE, NO_SUCH_TASK, TOO_MANY_TOKENS],
    locks=True,
    atomic=False,
)
def allow_device_login(call: ActionCall, account: User, *, code: Code) -> DeviceLogin:
    """Allow the command line that shows this code to get a token for your account. A code can be allowed only once."""
    login = waiting_login(account, code, call.at)
    if login is None:
        raise UNKNOWN_CODE()
    with call.transaction() as account:
        require_token(account, login.scope, call.at)
        _only_task(account, login)
        _decide(call, account, login, DeviceLogin.State.ALLOWED)
    return login


def _only_task(account: User, login: DeviceLogin) -> SharedTask | None:
    """Return the task that the token is limited to, or None if the login did not request one.

    Raises:
        Conflict: the person cannot see the requested task.
    """
    shared_task = login.task_for(account)
    if login.task and shared_task is None:
        raise NO_SUCH_TASK(task=login.task)
    return shared_task


@action(who=OWN_ACCOUNT, says=_("denied a command-line sign-in"), errors=[TOO_MANY_CODES, UNKNOWN_CODE], atomic=False)
def deny_device_login(call: ActionCall, account: User, *, code: Code) -> None:
    """Deny the token request of the command line that shows this code."""
    login = waiting_login(account, code, call.at)
    if login is None:
        raise UNKNOWN_CODE()
    with transaction.atomic():
        _decide(call, account, login, DeviceLogin.State.DENIED)


def _decide(call: ActionCall, account: User, login: DeviceLogin, state: DeviceLogin.State) -> None:
    """Record the decision in one statement, so that only the first of two simultaneous decisions takes effect."""
    waiting = DeviceLogin.objects.filter(pk=login.pk, state=DeviceLogin.State.WAITING)
    if not waiting.update(state=state, user=account):
        raise UNKNOWN_CODE()
    call.record(name=login.name, scope=login.scope, task=login.task)


@action(
    who=ANYONE,
    second_factor=TO_ORGANIZE,
    errors=[PENDING, SLOW_DOWN, EXPIRED, DENIED, NO_SUCH_TASK, SIGNED_OUT, TOO_MANY_TOKENS],
    atomic=False,
)
def issue_device_token(call: ActionCall, login: DeviceLogin) -> tuple[AccessToken, str]:
    """Return the token after its owner has allowed it. It can be collected only once."""
    if not DeviceLogin.objects.alive(call.at).filter(pk=login.pk).exists():
        raise EXPIRED()
    if not login.poll(call.at):
        raise SLOW_DOWN()
    if login.user is None:
        raise PENDING()
    if login.state == DeviceLogin.State.DENIED:
        raise DENIED()
    with transaction.atomic():
        account = User.objects.select_for_update(no_key=True).get(pk=login.user.pk)
        used, _rows = DeviceLogin.objects.filter(pk=login.pk, state=DeviceLogin.State.ALLOWED).delete()
        if not used:
            raise EXPIRED()
        return create_token(
            account,
            account,
            call.at,
            name=login.name,
            scope=AccessToken.Scope(login.scope),
            shared_task=_only_task(account, login),
            days=TOKEN_DAYS,
        )
