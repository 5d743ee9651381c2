"""Rules for every action: calls, declared errors, input limits, and audit entries."""

import ast
import json
import re
from contextlib import nullcontext
from datetime import timedelta

import pytest
from django import forms
from django.contrib.auth.models import AnonymousUser

from portal.actions.access_tokens import create_token
from portal.actions.announcements import publish_announcement
from portal.actions.base.action import ACTIONS, ActionCall, action
from portal.actions.base.errors import ActionError, Conflict, NotAllowed
from portal.actions.base.input import NOT_TEXT, InvalidInput
from portal.actions.base.registry import every_action
from portal.actions.base.roles import ANYONE, NO_SECOND_FACTOR, ORGANIZERS, SIGNED_IN
from portal.actions.runs import describe_run
from portal.api.actions import ROUTES
from portal.api.problems import problem_response
from portal.models import Announcement, AuditEntry, SharedTask, Team
from portal.web.action_forms import ActionForm, action_field
from tests.conftest import ROOT
from tests.portal.world import EVALUATION, organizer_of, person

pytestmark = pytest.mark.postgres

EXISTS = Conflict.declare("taken", "There is one already.")


@pytest.fixture
def organizer(tiny):
    return organizer_of(tiny, "Organizer")


@pytest.fixture
def rename():
    """An action that exists only in this test."""

    @action(who=SIGNED_IN, says="renamed the task", errors=[EXISTS], locks=True)
    def rename_task(call: ActionCall, shared_task: SharedTask, *, title: str) -> str:
        call.record(before=shared_task.title)
        shared_task.title = title
        shared_task.save()
        if title == "Taken":
            raise EXISTS()
        return title

    yield rename_task
    del ACTIONS["rename_task"]


def test_every_problem_of_an_input_is_reported_with_its_limit(tiny, organizer):
    with pytest.raises(InvalidInput) as caught:
        publish_announcement(organizer, tiny, EVALUATION, title="x" * 121, text=" ")
    problems = caught.value.problems
    assert {name: (one.code, one.params.get("limit")) for name, one in problems.items()} == {
        "title": ("too_long", 120),
        "text": ("required", None),
    }
    assert caught.value.message == "Title has 121 characters. Use at most 120. Text is required."
    assert not Announcement.objects.exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"days": "soon"}, "Days until the token expires: Enter a whole number."),
        ({"days": 366}, "Days until the token expires: Enter at most 365."),
        ({"days": 0}, "Days until the token expires: Enter at least 1."),
        ({"days": 1, "name": 7}, "Name: Enter text."),
        ({"days": 1, "color": "red"}, "Color: This field is unknown. Remove it."),
        ({"days": 1, "scope": "all"}, "Scope must be one of: 'read', 'submit' or 'organize'."),
    ],
)
def test_values_of_other_types_are_reported_in_our_words(db, given, said):
    user = person("Cleo")
    with pytest.raises(InvalidInput) as caught:
        create_token(user, user, EVALUATION, **{"name": "CI", "scope": "read"} | given)
    assert caught.value.message == said


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b", "a\x07b", "a\x1bb", "a\x85b"])
def test_texts_with_other_characters_than_text_has_are_reported(tiny, organizer, text):
    with pytest.raises(InvalidInput) as caught:
        publish_announcement(organizer, tiny, EVALUATION, title="Title", text=text)
    assert caught.value.code == "not_text"


def test_texts_lose_the_space_at_their_ends(tiny, organizer):
    assert publish_announcement(organizer, tiny, EVALUATION, title=" News ", text="Well.\n").title == "News"


def test_texts_have_lines_and_tabs(tiny, organizer):
    lines = "One\r\n\ttwo\nthree"
    assert publish_announcement(organizer, tiny, EVALUATION, title="News", text=lines).text == lines


def test_a_call_leaves_an_entry_with_who_what_and_when(tiny, rename):
    rename(person("Cleo"), tiny, EVALUATION, title="Other")
    entry = AuditEntry.objects.get(verb="rename_task")
    assert (entry.actor.name, entry.shared_task, entry.subject) == ("Cleo", tiny, f"shared task {tiny.slug}")
    assert (entry.at, entry.detail) == (EVALUATION, {"before": "Tiny"})


def test_an_error_undoes_everything_and_leaves_no_entry(tiny, rename):
    with pytest.raises(Conflict):
        rename(person("Cleo"), tiny, EVALUATION, title="Taken")
    assert SharedTask.objects.get(pk=tiny.pk).title == "Tiny"
    assert not AuditEntry.objects.filter(verb="rename_task").exists()


@pytest.mark.parametrize("repeatable", [False, True])
def test_only_a_repeated_call_leaves_no_entry(tiny, repeatable):
    @action(who=SIGNED_IN, says="renamed the task", repeatable=repeatable)
    def forget_entry(call: ActionCall, shared_task: SharedTask) -> None:
        SharedTask.objects.update(title="Other")

    del ACTIONS["forget_entry"]
    with nullcontext() if repeatable else pytest.raises(AssertionError, match="forget_entry left no audit entry"):
        forget_entry(person("Cleo"), tiny, EVALUATION)
    assert SharedTask.objects.get().title == ("Other" if repeatable else "Tiny")


def test_a_renamed_action_keeps_its_name_in_api_and_audit_log(tiny, organizer):
    @action(who=ORGANIZERS, name="rename_task", says="renamed the task")
    def change_title(call: ActionCall, shared_task: SharedTask) -> None:
        call.record()

    assert ACTIONS.pop("rename_task") is change_title
    change_title(organizer, tiny, EVALUATION)
    assert AuditEntry.objects.filter(actor=organizer, verb="rename_task").exists()
    assert "change_title" not in ACTIONS


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("take_back_announcement", "deleted an announcement"),
        ("put_release_back", "restored a release"),
        ("give_paper", "added the team’s paper"),
    ],
)
def test_operations_and_entries_from_before_functions_were_renamed_are_known(name, words):
    assert str(every_action()[name].says) == words
    assert name in {route.name for route in ROUTES}


def test_what_is_locked_is_read_again_and_may_be_gone(tiny, rename):
    cleo = person("Cleo")
    SharedTask.objects.filter(pk=tiny.pk).update(year=1999)
    rename(cleo, tiny, EVALUATION, title="Other")
    assert SharedTask.objects.get(pk=tiny.pk).year == 1999
    stale = SharedTask(pk=tiny.pk + 1, slug="gone")
    with pytest.raises(Conflict) as caught:
        rename(cleo, stale, EVALUATION, title="Other")
    assert caught.value.code == "gone"


def test_a_transaction_of_an_action_in_steps_reads_the_target_and_checks_the_role_again(tiny, organizer):
    @action(who=ORGANIZERS, locks=True, atomic=False)
    def take_steps(call: ActionCall, shared_task: SharedTask) -> None:
        SharedTask.objects.update(year=1999)
        with call.transaction() as found:
            assert (found.year, call.target) == (1999, found)
            SharedTask.objects.update(year=2000)
            found.organizers.clear()
        with call.transaction():
            SharedTask.objects.update(year=2001)

    del ACTIONS["take_steps"]
    with pytest.raises(NotAllowed, match="no_organizer"):
        take_steps(organizer, tiny, EVALUATION)
    assert SharedTask.objects.get().year == 2000


def test_a_role_is_asked_before_anything_is_done(tiny, rename):
    assert not rename.allows(AnonymousUser(), tiny)
    assert rename.allows(person("Cleo"), tiny)
    for who, code in ((AnonymousUser(), "signed_out"), (None, "people_only")):
        with pytest.raises(Exception, match=code):
            rename(who, tiny, EVALUATION, title="Other")


def test_an_error_that_is_not_declared_fails_the_test_that_meets_it(tiny):
    @action(who=ANYONE)
    def break_word(call: ActionCall, shared_task: SharedTask) -> None:
        raise EXISTS()

    del ACTIONS["break_word"]
    with pytest.raises(AssertionError, match="break_word does not declare taken"):
        break_word(AnonymousUser(), tiny, EVALUATION)


def test_every_error_is_declared_with_its_code_and_sentence():
    """Only a declaration makes an error, so that no sentence is made before someone reads it."""
    names = "|".join(kind.__name__ for kind in kinds(ActionError))
    made = re.compile(rf"(?<!class )\b(?:{names})\(")
    found = {
        (path.name, line.strip())
        for path in (ROOT / "portal").rglob("*.py")
        for line in path.read_text().splitlines()
        if made.search(line) and not line.lstrip().startswith("case ")
    }
    assert {name for name, _line in found} <= {"errors.py"}


def test_parameters_are_values_and_only_the_sentence_has_words_for_them():
    error = Conflict.declare("x", "It is %(state)s:\n%(lines)s")(state=Team.State.PENDING, lines=["a", "b"])
    assert error.message == "It is waiting for approval:\na\nb"
    assert json.loads(problem_response(error).content)["params"] == {"state": "pending", "lines": ["a", "b"]}


def test_an_error_may_have_errors_as_parameters():
    opened = Conflict.declare("opened", "%(phase)s has opened.")(phase=Team.State.PENDING)
    error = Conflict.declare("window", "Not possible:\n%(problems)s")(problems=[opened, EXISTS()])
    assert error.message == "Not possible:\nwaiting for approval has opened.\nThere is one already."
    found = json.loads(problem_response(error).content)
    assert (found["detail"], found["problems"]) == (error.message, [])
    assert found["params"]["problems"] == [
        {"code": "opened", "detail": "waiting for approval has opened.", "params": {"phase": "pending"}},
        {"code": "taken", "detail": "There is one already.", "params": {}},
    ]


def kinds(parent):
    return {one for child in parent.__subclasses__() for one in (child, *kinds(child)) if one is not InvalidInput}


def test_a_form_has_the_limits_of_the_declaration():
    field = action_field(publish_announcement, "title")
    assert (field.label, field.max_length, field.required) == ("Title", 120, True)


def test_a_form_s_help_names_the_limit_of_the_declaration():
    field = action_field(describe_run, "description", help_text="At most %(limit)s characters.")
    assert str(field.help_text) == "At most 1,000 characters."


WRITES = {"save", "delete", "create", "bulk_create", "bulk_update", "get_or_create", "update_or_create", "record"}


def test_pages_and_api_change_no_rows_by_themselves():
    """The forms for signing up call the `save` of allauth's forms, which create the account.

    A session remembers when it was last used.
    """
    found = set()
    for path in [*(ROOT / "portal/web").rglob("*.py"), *(ROOT / "portal/api").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Attribute(value=of, attr=name)) if name in WRITES:
                    found.add((path.name, f"{ast.unparse(of)}.{name}"))
                case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Attribute()), attr="update")):
                    found.add((path.name, ast.unparse(node)))
    assert found == {("account_forms.py", "super().save"), ("sessions.py", "request.session.save")}


def test_no_page_repeats_a_limit_of_an_action():
    """Forms and templates take the limits of texts from declarations. Two templates belong to no action."""
    repeated = re.compile(r'max_?length="?=?"?\d|[Aa]t most [\d,]+ characters')
    files = [*(ROOT / "portal/web").rglob("*.py"), *(ROOT / "templates").rglob("*.html")]
    found = {path.name for path in files if repeated.search(path.read_text())}
    assert found == {"mail_code.html", "add_form.html"}


class TaskForm(ActionForm):
    fields_of_errors = {EXISTS.code: "title"}

    title = forms.CharField()


def test_a_form_shows_what_its_action_says_against_the_values(tiny, rename):
    ana = person("Ana")

    def said(title):
        form = TaskForm({"title": title})
        is_done = form.carry_out(lambda given: rename(ana, tiny, EVALUATION, **given))
        return is_done, form.status, dict(form.errors), form.action_error and form.action_error.code

    assert said("Other") == (True, 200, {}, None)
    assert said("") == (False, 422, {"title": ["This field is required."]}, None)
    assert said("Taken") == (False, 409, {"title": ["There is one already."]}, "taken")
    # The form's own field accepts this text, but the action's input does not.
    assert said("\ud800") == (False, 422, {"title": [NOT_TEXT(label="Title").message]}, None)
    unsent = TaskForm()
    assert (unsent.carry_out(lambda given: 1 / 0), unsent.status) == (False, 200)


def test_a_second_factor_is_part_of_the_role(tiny):
    first = person("Plain")
    tiny.organizers.add(first)
    assert ORGANIZERS.needs_second_factor
    with pytest.raises(Exception, match="no_second_factor"):
        publish_announcement(first, tiny, EVALUATION + timedelta(hours=1), title="News", text="Well.")


def test_a_second_factor_that_only_some_calls_need_is_declared():
    found = {name: one for name, one in every_action().items() if NO_SECOND_FACTOR in {*one.errors} - {*one.who.errors}}
    assert set(found) == {"allow_device_login", "issue_device_token", "create_token"}
    assert {one.second_factor for one in found.values()} == {"for tokens that may organize"}
