"""The registry of all actions and their errors. It imports every module that declares actions."""

from collections.abc import Mapping
from importlib import import_module  # noqa: TID251 - all modules in a folder
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from django.utils.functional import Promise

from portal import actions
from portal.actions.base.action import ACTIONS, Action
from portal.actions.base.errors import ErrorCode
from portal.actions.base.input import INPUT_ERRORS
from portal.actions.base.roles import TOKEN_ERRORS


def every_action() -> dict[str, Action[Any, Any, Any]]:
    """Return all actions, sorted by name."""
    for module in walk_packages([str(Path(actions.__file__).parent)], f"{actions.__name__}."):
        import_module(module.name)
    return dict(sorted(ACTIONS.items()))


def every_error() -> dict[str, list[tuple[str, ErrorCode]]]:
    """Return all errors by code, each with its sentence and the actions that can raise it.

    An empty action name means any action.
    """
    found: dict[str, list[tuple[str, ErrorCode]]] = {}
    of_any = [("", one) for one in (*INPUT_ERRORS, *TOKEN_ERRORS)]
    for name, one in [*of_any, *((name, one) for name, action in every_action().items() for one in action.errors)]:
        found.setdefault(one.code, []).append((name, one))
    return found


def audit_words() -> Mapping[str, str | Promise]:
    """Map each action to its words in the audit log: withdraw_run → withdrew a run."""
    return {name: one.says for name, one in every_action().items() if one.says}
