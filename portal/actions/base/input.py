"""Validation of an action's input. The errors are the same on pages, in the API and on the command line."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Annotated, Any, get_args

from django.core.exceptions import ValidationError as InvalidValue
from django.db.models import Field as Column
from django.db.models import Model
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from portal.actions.base.errors import Invalid
from scoring.limits import EARLIEST, LATEST, LISTED, SHOWN

TOO_LONG = Invalid.declare(
    "too_long",
    ngettext_lazy(
        "%(label)s has %(length)d character. Use at most %(limit)d.",
        "%(label)s has %(length)d characters. Use at most %(limit)d.",
        "length",
    ),
)
REQUIRED = Invalid.declare("required", _("%(label)s is required."))
NOT_TEXT = Invalid.declare("not_text", _("%(label)s contains an invalid character. Enter the text again."))
NOT_A_CHOICE = Invalid.declare("not_a_choice", _("%(label)s must be one of: %(choices)s."))
NOT_VALID = Invalid.declare("not_valid", _("%(label)s: %(reason)s"))

NO_ZONE = _("Enter a date, a time and a time zone, such as 2027-05-01T12:00:00Z for UTC.")
OUT_OF_RANGE = _("Enter a time between the years 2000 and 2199.")

MORE_PROBLEMS = _("There are %(total)d problems; the first %(listed)d are listed.")
MOST_ENTRIES = _("Send at most %(limit)d entries.")
NO_BOOLEAN = _("Send a text or a number, not true or false.")
AT_LEAST = _("Enter at least %(limit)s.")
AT_MOST = _("Enter at most %(limit)s.")
REASONS = {
    "bool": _("Enter true or false."),
    "datetime": NO_ZONE,
    "date": _("Enter a date such as 2027-05-01."),
    "dict": _("Send a JSON object."),
    "extra_forbidden": _("This field is unknown. Remove it."),
    "float": _("Enter a number."),
    "int": _("Enter a whole number."),
    "list": _("Send a list."),
    "string_type": _("Enter text."),
    "uuid": _("Enter an id such as 2a6e8c04-d7b1-4593-9f20-e1c3b5a79d86."),
}
"""Reasons by the start of the names of pydantic's errors. All others keep pydantic's text."""

INPUT_ERRORS = (TOO_LONG, REQUIRED, NOT_TEXT, NOT_A_CHOICE, NOT_VALID)


def column(model: type[Model], name: str, *, required: bool = False, title: str = "") -> Any:
    """Annotate an input with the length limit and title of its database column."""
    field = model._meta.get_field(name)
    assert isinstance(field, Column)
    return Field(
        min_length=int(required), max_length=field.max_length, title=title or capfirst(str(field.verbose_name))
    )


def passes(validator: Callable[[str], None]) -> AfterValidator:
    """Annotate an input with one of Django's validators."""

    def check(text: str) -> str:
        try:
            if text:
                validator(text)
        except InvalidValue as error:
            raise PydanticCustomError("not_valid", "{reason}", {"reason": error.messages[0]}) from None
        return text

    return AfterValidator(check)


def _moment(value: datetime) -> datetime:
    reason = NO_ZONE if value.tzinfo is None else "" if EARLIEST <= value < LATEST else OUT_OF_RANGE
    if reason:
        raise PydanticCustomError("not_valid", "{reason}", {"reason": str(reason)})
    return value


Moment = Annotated[datetime, AfterValidator(_moment)]
"""A time with a time zone, in a range that every database can store and that pages can show in any time zone."""


def is_text(text: str) -> bool:
    """Return whether every database can store the text: it has no control characters except tabs and line breaks."""
    return all(one in "\t\n\r" or unicodedata.category(one) not in ("Cc", "Cs") for one in text)


class Input(BaseModel):
    """An action's keyword arguments. Strings are stripped and checked by `is_text`."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", str_strip_whitespace=True, frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _is_of_its_type(cls, value: Any, info: ValidationInfo) -> Any:
        """Reject what a database cannot store, and true or false for anything else and anything else for them.

        Python takes `True` for the number 1.
        """
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
        takes_bool = _takes_bool(cls.model_fields[str(info.field_name)].annotation)
        for part in parts:
            if isinstance(part, bool) is not takes_bool and (takes_bool or isinstance(part, bool)):
                raise PydanticCustomError("bool" if takes_bool else "no_boolean", "of another type")
            if isinstance(part, str) and not is_text(part):
                raise PydanticCustomError("storable", "a character cannot be stored")
        return value


def _takes_bool(annotation: Any) -> bool:
    return annotation is bool or any(_takes_bool(part) for part in get_args(annotation))


class InvalidInput(Invalid):
    """The problems with the input. `problems` maps the names of invalid fields to their errors.

    At most `LISTED` are kept. `total` counts all of them.
    """

    def __init__(self, problems: Mapping[str, Invalid], total: int = 0) -> None:
        self.problems = dict(islice(problems.items(), LISTED))
        self.total = max(total, len(problems))
        messages = [one.message for one in self.problems.values()]
        if self.total > len(messages):
            messages.append(str(MORE_PROBLEMS % {"total": self.total, "listed": len(messages)}))
        first = next(iter(self.problems.values()))
        super().__init__(first.code, "%(all)s", {"all": " ".join(messages)})


def input_error(error: ValidationError, model: type[BaseModel]) -> InvalidInput:
    """Collect the first problem with each field. The errors refer to fields by their titles."""
    return first_problems(
        (str(found["loc"][0]) if found["loc"] else "", found, model) for found in error.errors(include_url=False)
    )


def first_problems(errors: Iterable[tuple[str, Any, type[BaseModel] | None]]) -> InvalidInput:
    """Collect the first problem with each field. Each error comes with its field's name and the field's model, if any.

    Long names, which only unknown fields have, are cut.
    """
    problems: dict[str, Invalid] = {}
    names = set()
    for name, found, model in errors:
        if name not in names and len(problems) < LISTED:
            known = model.model_fields.get(name) if model else None
            shown = name if len(name) <= SHOWN else f"{name[:SHOWN]}…"
            problems[shown] = problem_of(found, (known and known.title) or capfirst(shown.replace("_", " ")))
        names.add(name)
    return InvalidInput(problems, len(names))


def problem_of(found: Any, label: str) -> Any:
    """Convert one of pydantic's errors to one of this module's errors."""
    context = found.get("ctx", {})
    match found["type"]:
        case "string_too_long":
            return TOO_LONG(label=label, length=len(found["input"].strip()), limit=context["max_length"])
        case "string_too_short" | "missing" | "none_required":
            return REQUIRED(label=label)
        case "storable":
            return NOT_TEXT(label=label)
        case "enum" | "literal_error":
            return NOT_A_CHOICE(label=label, choices=context["expected"])
        case "model_type" | "model_attributes_type":
            return NOT_VALID(label=label, reason=_("Send a JSON object."))
        case "no_boolean":
            return NOT_VALID(label=label, reason=NO_BOOLEAN)
        case "too_long":
            return NOT_VALID(label=label, reason=MOST_ENTRIES % {"limit": context["max_length"]})
        case "greater_than_equal":
            return NOT_VALID(label=label, reason=AT_LEAST % {"limit": context["ge"]})
        case "less_than_equal":
            return NOT_VALID(label=label, reason=AT_MOST % {"limit": context["le"]})
        case kind:
            known = next((reason for start, reason in REASONS.items() if kind.startswith(start)), None)
            return NOT_VALID(label=label, reason=known or found["msg"])
