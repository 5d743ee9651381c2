"""The registry of all actions and their errors. It imports every module that declares actions."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from django.utils.functional import Promise

from portal.actions.action import ACTIONS, Action
from portal.actions.errors import ErrorCode
from portal.actions.input import INPUT_ERRORS
from portal.actions.roles import TOKEN_ERRORS


def every_action() -> dict[str, Action[Any, Any, Any]]:
    """Return all actions, sorted by name."""
    package = __name__.rpartition(".")[0]
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"{package}.{module.name}")
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
