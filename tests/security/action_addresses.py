"""The actions behind each URL, as found in the code of its view, and how tests call them."""

import dis
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any, get_type_hints

from allauth.usersessions.models import UserSession
from django.urls import URLPattern, URLResolver, get_resolver

from portal.actions.base.action import Action
from portal.actions.base.registry import every_action
from portal.models import (
    AccessToken,
    Announcement,
    DeviceLogin,
    GoldStandard,
    GoldUpload,
    OwnScorer,
    Phase,
    Run,
    SharedTask,
    TaskPush,
    Team,
    TeamMessage,
    TeamNote,
    Track,
    User,
)
from portal.permissions import team_of
from tests.security.conftest import World

Find = Callable[[World, Any], Any]


def addresses(resolver: URLResolver | None = None, namespace: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Yield the name and pattern of every URL of the portal."""
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern, f"{pattern.namespace}:" if pattern.namespace else namespace)
        else:
            yield f"{namespace}{pattern.name or pattern.pattern}", pattern


def called_actions() -> set[tuple[str, str]]:
    """Return pairs of URL name and action name for each action that a view uses.

    Views may use actions directly or through functions of `portal.web`.
    """
    return {(name, one.name) for name, pattern in addresses() for one in _actions_of(pattern.callback, set())}


def _actions_of(view: Callable[..., Any], seen: set[Any]) -> Iterator[Action[Any, Any, Any]]:
    for used in _globals_of(inspect.unwrap(view)):
        if isinstance(used, Action):
            yield used
        elif inspect.isfunction(used) and used.__module__.startswith("portal.web") and used not in seen:
            seen.add(used)
            yield from _actions_of(used, seen)


def _globals_of(function: Callable[..., Any]) -> Iterator[Any]:
    """Yield the values of a function's global names and, for modules, their attributes."""
    if not isinstance(function, FunctionType):
        return
    for code in _codes(function.__code__):
        value = None
        for step in dis.get_instructions(code):
            if step.opname == "LOAD_GLOBAL":
                value = function.__globals__.get(step.argval)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
                value = getattr(value, step.argval, None)
            else:
                value = None
            if value is not None:
                yield value


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code objects of a function and of everything defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


@dataclass(frozen=True, slots=True)
class Call:
    """A POST request that reaches the action if the caller's role is allowed.

    `target` returns the object that the URL refers to for a person, or None if there is none. If other roles call
    the action from a different page, `roles` lists those that use this page.
    """

    target: Find
    data: Find = lambda _world, _who: {}
    arguments: dict[str, Any] = field(default_factory=dict)
    roles: tuple[str, ...] = ()


def _own_membership(world: World, who: Any) -> dict[str, Any]:
    team = team_of(who, world.task)
    return {"member": team.memberships.get(user=who).pk} if team else {}


ORGANIZERS = ("organizer", "administrator")

TARGETS: dict[type, Find] = {
    AccessToken: lambda world, _who: world.token,
    Announcement: lambda world, _who: world.announcement,
    DeviceLogin: lambda _world, _who: DeviceLogin(),  # a command-line login that has not been approved yet
    GoldStandard: lambda world, _who: world.gold,
    GoldUpload: lambda world, _who: world.gold_upload,
    OwnScorer: lambda world, _who: world.scorer,
    Phase: lambda world, _who: world.run.phase,
    Run: lambda world, _who: world.run,
    SharedTask: lambda world, _who: world.task,
    TaskPush: lambda world, _who: world.push,
    TeamMessage: lambda world, _who: world.message,
    TeamNote: lambda world, _who: world.note,
    Team: lambda world, who: team_of(who, world.task),
    Track: lambda world, _who: world.run.track,
    User: lambda _world, who: who,
    UserSession: lambda world, _who: world.session,
}
"""The object that a URL refers to, by the type of the action's target, if the URL's name does not say otherwise."""

SPECIAL: dict[tuple[str, str], Call] = {
    ("device", "allow_device_login"): Call(TARGETS[User], data=lambda _world, _who: {"code": "BBBBBBBB", "allow": ""}),
    ("device", "deny_device_login"): Call(TARGETS[User], data=lambda _world, _who: {"code": "BBBBBBBB"}),
    ("device_code", "start_device_login"): Call(
        TARGETS[DeviceLogin], data=lambda _world, _who: {"client_id": "agon", "name": "x"}
    ),
    ("organize_decide_all", "approve_teams"): Call(TARGETS[SharedTask], arguments={"verb": "approve"}),
    ("organize_decide_all", "decline_teams"): Call(TARGETS[SharedTask], arguments={"verb": "decline"}),
    ("organize_note", "add_note"): Call(lambda world, _who: world.bora),
    ("organize_organizers", "remove_organizer"): Call(TARGETS[SharedTask], data=lambda _world, _who: {"remove": ""}),
    ("organize_state", "delete_draft"): Call(TARGETS[SharedTask], arguments={"verb": "delete"}),
    ("organize_state", "hide_task"): Call(TARGETS[SharedTask], arguments={"verb": "hide"}),
    ("organize_state", "open_task"): Call(TARGETS[SharedTask], arguments={"verb": "open"}),
    ("organize_state", "show_task"): Call(TARGETS[SharedTask], arguments={"verb": "show"}),
    ("organize_papers", "close_papers"): Call(TARGETS[SharedTask], data=lambda _world, _who: {"close": ""}),
    ("organize_team", "approve_team"): Call(lambda world, _who: world.auster, arguments={"verb": "approve"}),
    ("organize_team", "decline_team"): Call(lambda world, _who: world.auster, arguments={"verb": "decline"}),
    ("organize_team", "renew_password"): Call(
        lambda world, _who: world.auster, arguments={"verb": "password"}, roles=ORGANIZERS
    ),
    ("stop_mails", "stop_mails"): Call(lambda world, _who: world.people["captain"]),
    ("team_ask_again", "ask_again"): Call(TARGETS[Team], data=lambda _world, _who: {"answer-use": "research"}),
    ("team_hand_over", "hand_over"): Call(TARGETS[Team], data=_own_membership),
}
"""URL and action names of actions that need more than an empty request."""

BY_OTHER_RULES = {("dataset", "give_password"), ("dataset", "record_download")}
"""Actions of a page for reading: `portal.permissions` decides who gets a file, and the table has rows for this page."""


def _call(address: str, name: str) -> Call:
    """Return how to call the action at this URL: as in SPECIAL, or with an empty request."""
    target = list(get_type_hints(inspect.unwrap(every_action()[name])).values())[1]
    return SPECIAL.get((address, name)) or Call(TARGETS[target])


CALLS = {pair: _call(*pair) for pair in sorted(called_actions() - BY_OTHER_RULES)}
