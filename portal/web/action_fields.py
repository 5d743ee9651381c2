"""Form fields with the limits and choices that an action declares for its input."""

from enum import Enum
from typing import Any, get_args

from annotated_types import MaxLen, MinLen
from django import forms
from django.db.models import Choices

from portal.actions.action import Action


def action_field(action: Action[Any, Any, Any], name: str, **options: Any) -> forms.Field:
    """A field for that input: a choice for an enumeration, a checkbox for a bool, else a text. `options` add to it."""
    declared = action.Input.model_fields[name]
    limits = {type(one): one for one in declared.metadata}
    is_required = declared.is_required() and (MinLen not in limits or limits[MinLen].min_length > 0)
    options = {"label": declared.title, "required": is_required} | options
    kind = declared.annotation
    choices = next((one for one in (kind, *get_args(kind)) if isinstance(one, type) and issubclass(one, Enum)), None)
    if choices is not None and issubclass(choices, Choices):
        blank = [] if options["required"] else [("", "–")]
        return forms.ChoiceField(choices=[*blank, *choices.choices], **options)
    if kind is bool:
        return forms.BooleanField(**options | {"required": False})
    limit = limits[MaxLen].max_length if MaxLen in limits else None
    return forms.CharField(max_length=limit, **options)
