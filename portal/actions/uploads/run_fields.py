"""The task's own fields for runs, such as the model. The same checks apply on upload and later."""

from collections.abc import Mapping
from typing import Annotated, Any

from django.core.exceptions import ValidationError as InvalidValue
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.base.input import NOT_VALID, REQUIRED, TOO_LONG, InvalidInput
from portal.models import SharedTask
from portal.models.run import one_line
from scoring.definition import RunField
from scoring.limits import RUN_FIELD_CHARACTERS, RUN_FIELDS

RunFields = Annotated[dict[str, str], Field(title=str(_("Run fields")), max_length=RUN_FIELDS)]  # texts by field key


def checked_run_fields(
    shared_task: SharedTask, given: Mapping[str, str], *, stored: Mapping[str, str]
) -> dict[str, str]:
    """Return the values of the task's fields, leaving out empty ones.

    Fields that are not in `given` keep their `stored` values, except those that the task no longer has.

    Raises:
        InvalidInput: a value is missing, too long or not a single line, or the task has no such field.
    """
    fields = shared_task.definition.run_fields
    problems = {key: _unknown(key, fields) for key in given if key not in {one.key for one in fields}}
    texts = {one.key: given.get(one.key, stored.get(one.key, "")).strip() for one in fields}
    problems |= {one.key: found for one in fields if (found := _problem(one, texts[one.key]))}
    if problems:
        raise InvalidInput({f"fields.{key}": problem for key, problem in problems.items()})
    return {key: text for key, text in texts.items() if text}


def _unknown(key: str, fields: tuple[RunField, ...]) -> Any:
    known = ", ".join(one.key for one in fields)
    reason = format_lazy(_("unknown run field. Use one of: {keys}."), keys=known)
    return NOT_VALID(label=key, reason=reason if fields else _("unknown run field. This task has none."))


def _problem(one: RunField, text: str) -> Any:
    """Return the problem with a field's value, or None."""
    if one.required and not text:
        return REQUIRED(label=one.label)
    if len(text) > RUN_FIELD_CHARACTERS:
        return TOO_LONG(label=one.label, length=len(text), limit=RUN_FIELD_CHARACTERS)
    try:
        one_line(text)
    except InvalidValue as error:
        return NOT_VALID(label=one.label, reason=error.messages[0])
    return None
