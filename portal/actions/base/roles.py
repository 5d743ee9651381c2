"""Roles: who may call an action.

A role returns an error for users who lack it. The rules are in `portal.permissions`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.actions.base.errors import ErrorCode, NotAllowed
from portal.models import AccessToken, SharedTask, Team, User, Viewer
from portal.permissions import is_captain, is_member, lacks_second_factor, may_create_tasks, team_of

SIGNED_OUT = NotAllowed.declare("signed_out", _("Sign in first."))
NOT_OWN_ACCOUNT = NotAllowed.declare("not_own_account", _("You can do this only with your own account."))
NO_MEMBER = NotAllowed.declare("no_member", _("Only team members can do this."))
NO_TEAM = NotAllowed.declare("no_team", _("Create or join a team first."))
TEAM_NOT_APPROVED = NotAllowed.declare(
    "team_not_approved",
    _(
        "Your team can’t submit runs because it isn’t approved yet, was declined or was withdrawn. See the team "
        "page for next steps."
    ),
)
NO_CAPTAIN = NotAllowed.declare("no_captain", _("Only the team captain can do this."))
NO_ORGANIZER = NotAllowed.declare("no_organizer", _("Only the task’s organizers can do this."))
NO_ADMINISTRATOR = NotAllowed.declare("no_administrator", _("Only administrators of this portal can do this."))
NO_SECOND_FACTOR = NotAllowed.declare(
    "no_second_factor", _("Set up a second factor first. Organizers need more than a password.")
)
ONLY_ON_SERVER = NotAllowed.declare("server_only", _("Only a command on the server can do this."))
MAY_NOT_CREATE = NotAllowed.declare(
    "may_not_create", _("Your account can’t create tasks. Ask the administrators of this portal to allow it.")
)
TOKEN_SCOPE = NotAllowed.declare(
    "token_scope", _("This token has the “%(scope)s” scope. This action requires a token with the “%(needed)s” scope.")
)
TOKEN_TASK = NotAllowed.declare("token_task", _("This token works only for the task %(task)s."))
NOT_BY_TOKEN = NotAllowed.declare("not_by_token", _("You can’t do this with a token. Sign in on the website instead."))
TOKEN_ERRORS = (TOKEN_SCOPE, TOKEN_TASK, NOT_BY_TOKEN)
"""Errors that any action can raise if it is called with a token."""
NOT_ON_SERVER = NotAllowed.declare("people_only", _("Only a person with an account can do this."))


@dataclass(frozen=True, slots=True)
class Role:
    """A role. `find` returns the error if the user may not act on the target.

    Otherwise, it returns None or, for TAKING_PART, the user's team.
    """

    name: str | Promise
    errors: tuple[ErrorCode, ...]
    find: Callable[[Viewer, Any], ErrorCode | Team | None]
    needs_second_factor: bool = False
    on_server: bool = False  # whether commands on the server may call the action without an account
    scope: AccessToken.Scope | None = AccessToken.Scope.SUBMIT  # that a token needs; None if no token is enough

    def missing(self, who: Viewer, target: Any) -> ErrorCode | None:
        """Return the error if the user may not act on the target."""
        found = self.find(who, target)
        return found if isinstance(found, ErrorCode) else None

    def check(self, who: Viewer | None, target: Any) -> Any:
        """Raise the error that `find` returns, or one of TOKEN_ERRORS. Return the team that it finds, if any."""
        if who is None:
            if not self.on_server:
                raise NOT_ON_SERVER()
            return None
        token = who.token if isinstance(who, User) else None
        if token is not None:
            self._check_token(token, target)
        found = self.find(who, target)
        if found is NO_SECOND_FACTOR and token is not None:
            # With a lower scope, the token does not count as a second factor.
            _require_scope(token, AccessToken.Scope.ORGANIZE)
        if isinstance(found, ErrorCode):
            raise found()
        return found

    def _check_token(self, token: AccessToken, target: Any) -> None:
        if self.scope is None:
            raise NOT_BY_TOKEN()
        _require_scope(token, self.scope)
        if not isinstance(target, User):
            require_task(token, _shared_task(target))
        elif token.shared_task is not None:  # no task is involved
            raise TOKEN_TASK(task=token.shared_task)


def _require_scope(token: AccessToken, needed: AccessToken.Scope) -> None:
    if not token.allows(needed):
        raise TOKEN_SCOPE(scope=token.scope, needed=needed.value)


def require_task(token: AccessToken, shared_task: SharedTask) -> None:
    """Raise TOKEN_TASK if the token is for a different shared task."""
    if not token.is_for(shared_task):
        raise TOKEN_TASK(task=token.shared_task)


def _shared_task(target: Any) -> SharedTask:
    return target if isinstance(target, SharedTask) else target.shared_task


def _team(target: Any) -> Team | None:
    return target if isinstance(target, Team) else target.team


def _is_signed_out(who: Viewer, _target: Any) -> ErrorCode | None:
    return None if who.is_authenticated and who.is_active else SIGNED_OUT


def _is_not_own(who: Viewer, target: Any) -> ErrorCode | None:
    if _is_signed_out(who, target):
        return SIGNED_OUT
    owner = target.pk if isinstance(target, User) else target.user_id
    return None if who.pk == owner else NOT_OWN_ACCOUNT


def _is_no_member(who: Viewer, target: Any) -> ErrorCode | None:
    team = _team(target)
    return None if team is not None and is_member(who, team) else NO_MEMBER


def _takes_part(who: Viewer, target: Any) -> ErrorCode | Team:
    if not (who.is_authenticated and who.is_active):
        return SIGNED_OUT
    team = team_of(who, _shared_task(target))
    if team is None:
        return NO_TEAM
    return team if team.takes_part else TEAM_NOT_APPROVED


def _is_no_captain(who: Viewer, target: Any) -> ErrorCode | None:
    team = _team(target)
    if team is None or not is_captain(who, team):
        return _is_no_member(who, target) or NO_CAPTAIN
    return None


def _is_no_organizer(who: Viewer, target: Any) -> ErrorCode | None:
    shared_task = _shared_task(target)
    if shared_task.is_organized_by(who):
        return None
    return NO_SECOND_FACTOR if shared_task.is_assigned_to(who) else NO_ORGANIZER


def _is_no_creator(who: Viewer, _target: Any) -> ErrorCode | None:
    if not isinstance(who, User) or not who.is_active:
        return SIGNED_OUT
    if not may_create_tasks(who):
        return MAY_NOT_CREATE
    return NO_SECOND_FACTOR if lacks_second_factor(who) else None


def _is_no_administrator(who: Viewer, _target: Any) -> ErrorCode | None:
    if not (isinstance(who, User) and who.is_active and who.is_staff):
        return NO_ADMINISTRATOR
    return NO_SECOND_FACTOR if lacks_second_factor(who) else None


def _is_neither(who: Viewer, target: Any) -> ErrorCode | None:
    shared_task = _shared_task(target)
    if shared_task.is_organized_by(who):
        return None
    missing = _is_no_captain(who, target)
    return NO_SECOND_FACTOR if missing and shared_task.is_assigned_to(who) else missing


ANYONE = Role(_("anyone"), (), lambda _who, _target: None, on_server=True, scope=AccessToken.Scope.READ)
SIGNED_IN = Role(_("people with an account"), (SIGNED_OUT,), _is_signed_out)
READERS = replace(SIGNED_IN, scope=AccessToken.Scope.READ)
OWN_ACCOUNT = Role(_("the account owner"), (SIGNED_OUT, NOT_OWN_ACCOUNT), _is_not_own, scope=None)
MEMBERS = Role(_("team members"), (NO_MEMBER,), _is_no_member)
TAKING_PART = Role(_("members of an approved team"), (SIGNED_OUT, NO_TEAM, TEAM_NOT_APPROVED), _takes_part)
CAPTAIN = Role(_("the team captain"), (NO_MEMBER, NO_CAPTAIN), _is_no_captain)
ORGANIZERS = Role(
    _("organizers of the task"),
    (NO_ORGANIZER, NO_SECOND_FACTOR),
    _is_no_organizer,
    needs_second_factor=True,
    scope=AccessToken.Scope.ORGANIZE,
)
CREATORS = Role(
    _("accounts that are allowed to create tasks"),
    (SIGNED_OUT, MAY_NOT_CREATE, NO_SECOND_FACTOR),
    _is_no_creator,
    needs_second_factor=True,
    scope=AccessToken.Scope.ORGANIZE,
)
ADMINISTRATORS = Role(
    _("administrators of the portal"),
    (NO_ADMINISTRATOR, NO_SECOND_FACTOR),
    _is_no_administrator,
    needs_second_factor=True,
    scope=None,
)
ORGANIZERS_OR_SERVER = replace(ORGANIZERS, on_server=True)
SERVER = Role(
    _("commands on the server"),
    (ONLY_ON_SERVER,),
    lambda _who, _target: ONLY_ON_SERVER,
    on_server=True,
    scope=None,
)
CAPTAIN_OR_ORGANIZERS = Role(
    _("the team captain, or organizers of the task with a second factor"),
    (NO_MEMBER, NO_CAPTAIN, NO_SECOND_FACTOR),
    _is_neither,
)
