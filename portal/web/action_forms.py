"""Forms for actions. Fields have the limits that the action declares, and its errors are shown next to them.

An action without a form is called with `carry_out`.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from http import HTTPStatus
from typing import Any, get_args

from annotated_types import MinLen
from django import forms
from django.contrib import messages
from django.db.models import Choices
from django.http import HttpRequest
from django.utils.functional import Promise, lazy

from portal.actions.base.action import Action
from portal.actions.base.errors import ActionError
from portal.actions.base.input import NOT_TEXT, InvalidInput, is_text


def carry_out(
    request: HttpRequest, action: Action[Any, Any, Any], target: Any, at: datetime, done: str, /, **given: object
) -> ActionError | None:
    """Call an action and return its error. If there is none, the next page shows the message `done`."""
    try:
        action(request.user, target, at, **given)
    except ActionError as error:
        return error
    messages.success(request, done)
    return None


def action_field(
    action: Action[Any, Any, Any], name: str, text: type[forms.CharField] = forms.CharField, **options: Any
) -> forms.Field:
    """Return a form field for an action's input: a choice for an enumeration, a checkbox for a bool, otherwise `text`.

    `%(limit)s` in the help text stands for the maximum length.
    """
    declared = action.Input.model_fields[name]
    limits = {type(constraint): constraint for constraint in declared.metadata}
    is_required = declared.is_required() and (MinLen not in limits or limits[MinLen].min_length > 0)
    options = {"label": declared.title, "required": is_required} | options
    kind = declared.annotation
    choices = next(
        (part for part in (kind, *get_args(kind)) if isinstance(part, type) and issubclass(part, Enum)), None
    )
    if choices is not None and issubclass(choices, Choices):
        blank = [] if options["required"] else [("", "–")]
        return forms.ChoiceField(choices=[*blank, *choices.choices], **options)
    if kind is bool:
        return forms.BooleanField(**options | {"required": False})
    limit = action.length_of(name)
    if limit is not None and "help_text" in options:
        options["help_text"] = _with_limit(options["help_text"], limit)
    return text(max_length=limit, validators=[_storable(options["label"])], **options)


def _in_words(help_text: str | Promise, limit: int) -> str:
    return str(help_text).replace("%(limit)s", f"{limit:,}")


_with_limit = lazy(_in_words, str)


def _storable(label: str | Promise) -> Callable[[str], None]:
    """Return a validator for what actions check in every text. The form for signing up calls no action."""

    def check(text: str) -> None:
        if not is_text(text):
            raise forms.ValidationError(NOT_TEXT(label=label).message)

    return check


class ActionForm(forms.Form):
    """A form whose values are passed to an action. The action's errors become errors of the form."""

    fields: dict[str, Any]  # each subclass knows the types of its fields
    fields_of_errors: Mapping[str, str] = {}  # error code → the field that the error is shown next to
    result: Any = None  # what the action returned
    action_error: ActionError | None = None  # the action's error, unless its input was invalid

    def carry_out(self, act: Callable[[dict[str, Any]], object]) -> bool:
        """Call the action with the values. Return False if they are invalid or the action raises an error."""
        if not self.is_valid():
            return False
        try:
            self.result = act(self.cleaned_data)
        except InvalidInput as invalid:
            for name, problem in invalid.problems.items():
                self.add_error(name if name in self.fields else None, problem.message)
        except ActionError as error:
            self.action_error = error
            self.add_error(self.fields_of_errors.get(error.code), error.message)
        return not self.errors

    @property
    def status(self) -> int:
        """The HTTP status for the page with the form."""
        if self.action_error is not None:
            return self.action_error.http_status
        return HTTPStatus.UNPROCESSABLE_ENTITY if self.errors else HTTPStatus.OK
