"""manage.py list_actions: print all actions and their declarations as Markdown, for docs/actions.md."""

import builtins
import inspect
import types
import typing
from collections import abc
from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import Enum
from itertools import groupby
from pathlib import Path
from typing import Any, get_args, get_origin

from annotated_types import MaxLen, MinLen
from django.core.management.base import BaseCommand
from django.utils.translation import override
from pydantic.fields import FieldInfo

from portal.actions.action import GONE, Action
from portal.actions.errors import ErrorCode
from portal.actions.input import INPUT_ERRORS
from portal.actions.registry import every_action
from portal.actions.roles import SERVER, TOKEN_ERRORS

HEAD = """\
# Actions

Everything that people can change, as it is declared in `portal/actions/`. Written by
`python manage.py list_actions > docs/actions.md`; a test fails while this page is out of date.

Every call has one form: `action(user, target, at, **input)`. The call checks the input, opens a transaction, checks
whether the person may do it, runs, and adds an entry to the audit log. An error undoes everything.

An action that is *repeatable* changes nothing when it is called again with the same input.

A person may also ask by an access token. Its scope, `read`, `submit` or `organize`, limits what it can do; each scope
includes those before it.

Any action can also raise these errors about its input, and about the token that it is asked by:
"""

_NAMES = {str: "text", bool: "true or false", int: "number", datetime: "time", Path: "folder", types.NoneType: "none"}


class Command(BaseCommand):
    help = "Print every action with its input, its errors and who can do it, as Markdown."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        with override("en"):
            self.stdout.write("\n".join(_page()))


def _page() -> Iterator[str]:
    yield HEAD
    yield from _errors((*INPUT_ERRORS, *TOKEN_ERRORS))
    actions = sorted(every_action().values(), key=lambda one: (one.__module__, one.name))
    for module, there in groupby(actions, inspect.getmodule):
        assert module is not None
        title = module.__name__.rpartition(".")[2].replace("_", " ")
        yield f"\n## {title.capitalize()}\n\n{_first_line(module)}"
        for one in there:
            yield from _section(one)


def _section(action: Action[Any, Any, Any]) -> Iterator[str]:
    (_act, target, *_rest) = inspect.signature(inspect.unwrap(action)).parameters.values()
    server = ", and commands on the server" if action.who.on_server and action.who is not SERVER else ""
    factor = ". Needs a second factor" if action.who.needs_second_factor else ""
    yield f"\n### {action.name}\n\n{_first_line(action)}\n"
    yield f"- Target: {_type(target.annotation)}"
    yield f"- Who: {action.who.name}{server}{factor}"
    yield f"- Scope of a token: {action.who.scope or 'none, no token can do this'}"
    yield f"- Audit log: {action.says or 'no entry'}"
    if action.repeatable:
        yield "- Repeatable"
    if action.Input.model_fields:
        yield "\n| input | type | limits |\n| --- | --- | --- |"
        for name, field in action.Input.model_fields.items():
            yield f"| `{name}` | {_type(field.annotation)} | {_limits(field)} |"
    errors = [one for one in action.errors if one != GONE] + [one for one in action.errors if one == GONE]
    if errors:
        yield ""
        yield from _errors(errors)


def _errors(errors: Iterable[ErrorCode]) -> Iterator[str]:
    yield "| error | status | message |\n| --- | --- | --- |"
    for one in errors:
        yield f"| `{one.code}` | {one.error.http_status} | {one.pattern} |"


def _type(kind: Any) -> str:
    """Describe the type: "text or none", "one of: system, baseline", "Run"."""
    inner = [_type(one) for one in get_args(kind)]
    match get_origin(kind) or kind:
        case typing.Annotated:
            return inner[0]
        case typing.Literal:
            return " or ".join(repr(one) if one else "empty" for one in get_args(kind))
        case typing.Union | types.UnionType:
            return " or ".join(inner)
        case builtins.dict:
            return "texts by key"
        case builtins.list:
            return f"list of {inner[0]}"
        case abc.Iterable:
            return f"{inner[0]} in pieces"
        case enum if inspect.isclass(enum) and issubclass(enum, Enum):
            return "one of: " + ", ".join(repr(one.value) for one in enum)
        case name:
            return _NAMES.get(name, getattr(name, "__name__", str(name)))


def _limits(field: FieldInfo) -> str:
    limits = {type(one): one for one in field.metadata}
    words = []
    if MaxLen in limits:
        words.append(f"at most {limits[MaxLen].max_length:,} characters")
    if field.is_required():
        words.append("required" if MinLen not in limits or limits[MinLen].min_length else "can be empty")
    else:
        words.append(f"default: {field.default!r}" if field.default not in ("", None) else "optional")
    return ", ".join(words)


def _first_line(documented: Any) -> str:
    return (inspect.getdoc(documented) or "").partition("\n")[0]
