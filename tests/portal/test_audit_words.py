"""The text of the audit log: every event has one, whether or not it comes from an action."""

import ast
import inspect
import re
from functools import cache
from types import ModuleType

from portal.actions.base.registry import audit_words, every_action
from portal.models import AuditEntry
from portal.queries.audit_words import event_words
from tests.conftest import ROOT

LITERAL_VERB = re.compile(r'AuditEntry\.objects\.\w+\([^)]*?(?:, |verb=)f?"\w+[{"]')


def recording(module: ModuleType) -> set[str]:
    """Return the functions of a module that record an event, either directly or through other functions in it."""
    actions = {f"{action.__name__}.record" for action in every_action().values()}
    functions = [one for one in ast.parse(inspect.getsource(module)).body if isinstance(one, ast.FunctionDef)]
    called = {
        one.name: {ast.unparse(call.func) for call in ast.walk(one) if isinstance(call, ast.Call)} for one in functions
    }
    found = {"call.record", "AuditEntry.objects.record", *actions}
    while more := {name for name, calls in called.items() if calls & found} - found:
        found |= more
    return found


def test_an_action_has_words_exactly_if_it_leaves_an_entry() -> None:
    records = cache(recording)
    with_words, with_entry = set(), set()
    for action in every_action().values():
        module = inspect.getmodule(inspect.unwrap(action))
        assert module is not None
        with_words |= {action.__name__} if action.says else set()
        with_entry |= {action.__name__} & records(module)
    assert with_words == with_entry
    assert len(with_words) > 30


def test_entries_of_actions_come_from_their_declarations() -> None:
    folder = ROOT / "portal" / "actions"
    found = {path.name for path in folder.rglob("*.py") if "AuditEntry.objects.record" in path.read_text()}
    assert found == {"action.py"}


def test_no_entry_is_written_or_searched_for_by_a_literal_verb() -> None:
    assert LITERAL_VERB.search('AuditEntry.objects.filter(shared_task=task, verb="submit")')
    assert LITERAL_VERB.search('AuditEntry.objects.record(actor, f"admin_{change}", row, at)')
    code = "".join(path.read_text() for path in (ROOT / "portal").rglob("*.py"))
    assert LITERAL_VERB.findall(code) == []


def test_no_words_are_written_twice() -> None:
    events, actions = dict(AuditEntry.Event.choices), audit_words()
    shared = events.keys() & actions.keys()
    assert shared == {"rescore", "revoke_token", "submit"}
    assert all(events[verb] is actions[verb] for verb in shared)


def test_an_action_s_words_are_shown() -> None:
    assert event_words("withdraw_run", audit_words()) == "withdrew a run"
    assert event_words("admin_change", audit_words()) == "changed on the administration site"
    assert event_words("long_gone", audit_words()) == "long gone"
