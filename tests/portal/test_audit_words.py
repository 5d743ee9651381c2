"""The text of the audit log: every event has one, whether or not it comes from an action."""

import ast
import inspect
import re
from types import ModuleType

import pytest

from portal.actions.registry import audit_words, every_action
from portal.queries.audit_words import EVENTS, event_words
from tests.conftest import ROOT

WRITTEN = re.compile(r'AuditEntry\.objects\.(?:record|create)\([^)]*?(?:, |verb=)"(\w+)"')


def recording(module: ModuleType) -> set[str]:
    """Return the functions of a module that record an event, either directly or through other functions in it."""
    actions = {f"{name}.record" for name in every_action()}
    functions = [one for one in ast.parse(inspect.getsource(module)).body if isinstance(one, ast.FunctionDef)]
    called = {
        one.name: {ast.unparse(call.func) for call in ast.walk(one) if isinstance(call, ast.Call)} for one in functions
    }
    found = {"act.record", "AuditEntry.objects.record", *actions}
    while more := {name for name, calls in called.items() if calls & found} - found:
        found |= more
    return found


@pytest.mark.parametrize("name", every_action())
def test_an_action_has_words_exactly_if_it_leaves_an_entry(name: str) -> None:
    action = every_action()[name]
    module = inspect.getmodule(inspect.unwrap(action))
    assert module is not None
    assert bool(action.says) == (name in recording(module))


def test_entries_of_actions_come_from_their_declarations() -> None:
    """A draft is created by a worker, and the declaration of `Action` itself writes all other entries."""
    folder = ROOT / "portal" / "actions"
    found = {path.name for path in folder.glob("*.py") if "AuditEntry.objects.record" in path.read_text()}
    assert found == {"action.py", "pushed_folder.py"}
    assert WRITTEN.findall((folder / "pushed_folder.py").read_text()) == ["create_draft"]


def test_every_other_entry_has_words() -> None:
    code = "".join(path.read_text() for path in (ROOT / "portal").rglob("*.py"))
    verbs = set(WRITTEN.findall(code))
    assert "add_gold_standard" in verbs
    assert verbs <= {*EVENTS, *audit_words()}


def test_no_words_are_written_twice() -> None:
    assert not {*EVENTS} & {*audit_words()}


def test_an_action_s_words_are_shown() -> None:
    assert event_words("withdraw_run", audit_words()) == "withdrew a run"
    assert event_words("admin_change", audit_words()) == "changed on the administration site"
    assert event_words("long_gone", audit_words()) == "long gone"
