"""Form fields with Bootstrap's classes, for the portal's forms and for allauth's."""

from django import template
from django.forms import BoundField, CheckboxInput, Select
from django.utils.safestring import SafeString

from portal.actions.base.action import ACTIONS

register = template.Library()


@register.simple_tag
def limit(action: str, name: str) -> int | None:
    """Return the maximum length of an action's input, for fields that are not part of a form class."""
    return ACTIONS[action].length_of(name)


@register.filter
def control(field: BoundField) -> SafeString:
    """Render the field's widget with the CSS class for its type."""
    widget = field.field.widget
    kinds = {CheckboxInput: "form-check-input", Select: "form-select"}
    css = next((css for kind, css in kinds.items() if isinstance(widget, kind)), "form-control")
    # No placeholder: it would repeat the label, and an empty field would look filled in.
    attrs: dict[str, str | bool] = {"class": f"{css} is-invalid" if field.errors else css, "placeholder": ""}
    if field.name == next(iter(field.form.errors), None):
        attrs["autofocus"] = True  # otherwise, an error further down the page might be overlooked
    return field.as_widget(attrs=attrs)
