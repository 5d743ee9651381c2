"""The actions behind each URL, as found in the code of its view, and how tests call them."""

import dis
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from portal.actions.base.action import Action
from portal.models import DeviceLogin, SharedTask, Team
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


def _task(world: World, _who: Any) -> SharedTask:
    return world.task


def _phase(world: World, _who: Any) -> Any:
    return world.run.phase


def _run(world: World, _who: Any) -> Any:
    return world.run


def _track(world: World, _who: Any) -> Any:
    return world.run.track


def _own_account(_world: World, who: Any) -> Any:
    return who


def _nothing(_world: World, _who: Any) -> DeviceLogin:
    """Return a command-line login that has not been approved yet."""
    return DeviceLogin()


def _own_team(world: World, who: Any) -> Team | None:
    return team_of(who, world.task)


def _own_membership(world: World, who: Any) -> dict[str, Any]:
    team = team_of(who, world.task)
    return {"member": team.memberships.get(user=who).pk} if team else {}


ORGANIZERS = ("organizer", "administrator")

CALLS: dict[tuple[str, str], Call] = {
    ("access_tokens", "create_token"): Call(_own_account),
    ("agreement", "sign_agreement"): Call(_task),
    ("announcements", "publish_announcement"): Call(_task),
    ("choose_run", "choose_official_run"): Call(_run),
    ("data_password", "give_password"): Call(_task),
    ("delete_account", "delete_account"): Call(_own_account),
    ("describe_run", "describe_run"): Call(_run),
    ("device", "allow_device_login"): Call(_own_account, data=lambda _world, _who: {"code": "BBBBBBBB", "allow": ""}),
    ("device", "deny_device_login"): Call(_own_account, data=lambda _world, _who: {"code": "BBBBBBBB"}),
    ("device_code", "start_device_login"): Call(_nothing, data=lambda _world, _who: {"client_id": "agon", "name": "x"}),
    ("device_token", "collect_token"): Call(_nothing),
    ("end_session", "end_session"): Call(lambda world, _who: world.session),
    ("gold_preview", "apply_gold"): Call(lambda world, _who: world.gold_upload),
    ("grant_extra_time", "grant_extra_time"): Call(_phase),
    ("join_team", "join_team"): Call(_task),
    ("move_phase", "move_phase"): Call(_phase),
    ("new_task", "push_new_task"): Call(_own_account),
    ("organize_organizers", "add_organizer"): Call(_task),
    ("organize_organizers", "remove_organizer"): Call(_task, data=lambda _world, _who: {"remove": ""}),
    ("organize_push", "push_task"): Call(_task),
    ("organize_state", "delete_draft"): Call(_task, arguments={"verb": "delete"}),
    ("organize_state", "hide_task"): Call(_task, arguments={"verb": "hide"}),
    ("organize_state", "open_task"): Call(_task, arguments={"verb": "open"}),
    ("organize_state", "show_task"): Call(_task, arguments={"verb": "show"}),
    ("push", "apply_push"): Call(lambda world, _who: world.push),
    ("organize_gold", "upload_gold"): Call(_track),
    ("organize_papers", "close_papers"): Call(_task, data=lambda _world, _who: {"close": ""}),
    ("organize_papers", "open_papers"): Call(_task),
    ("organize_resend", "resend_mails"): Call(_task),
    ("organize_retry", "retry_failed"): Call(_task),
    ("organize_scores", "apply_scores"): Call(_task),
    ("organize_team", "approve_team"): Call(lambda world, _who: world.auster, arguments={"verb": "approve"}),
    ("organize_team", "decline_team"): Call(lambda world, _who: world.auster, arguments={"verb": "decline"}),
    ("organize_team", "renew_password"): Call(
        lambda world, _who: world.auster, arguments={"verb": "password"}, roles=ORGANIZERS
    ),
    ("paper_pack", "ask_for_pack"): Call(_phase),
    ("put_back", "put_release_back"): Call(_phase),
    ("release_scores", "release_scores"): Call(_phase),
    ("replace_dataset", "replace_dataset"): Call(_task),
    ("preview_former_gold", "preview_former_gold"): Call(lambda world, _who: world.gold),
    ("revoke_extra_time", "revoke_extra_time"): Call(_phase),
    ("revoke_token", "revoke_token"): Call(lambda world, _who: world.token),
    ("settings", "change_settings"): Call(_own_account),
    ("stop_mails", "stop_mails"): Call(lambda world, _who: world.people["captain"]),
    ("submit", "submit"): Call(_phase),
    ("take_back", "take_back_release"): Call(_phase),
    ("take_back_announcement", "take_back_announcement"): Call(lambda world, _who: world.announcement),
    ("team", "register_team"): Call(_task),
    ("team_ask_again", "ask_again"): Call(_own_team, data=lambda _world, _who: {"answer-use": "research"}),
    ("team_hand_over", "hand_over"): Call(_own_team, data=_own_membership),
    ("team_invite", "invite_by_mail"): Call(_own_team),
    ("team_leave", "leave_team"): Call(_own_team),
    ("team_paper", "give_paper"): Call(_own_team),
    ("team_password", "renew_password"): Call(_own_team),
    ("team_withdraw", "withdraw_team"): Call(_own_team),
    ("validate_only", "validate_only"): Call(_phase),
    ("withdraw_run", "withdraw_run"): Call(_run),
}

BY_OTHER_RULES = {("dataset", "give_password"), ("dataset", "record_download")}
"""Actions of a page for reading: `portal.permissions` decides who gets a file, and the table has rows for this page."""
