"""Form fields in Bootstrap's classes, so that forms of our own and of allauth look the same."""

from django import template
from django.forms import BoundField, CheckboxInput, Select
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def control(field: BoundField) -> SafeString:
    """The field's widget with the class that its kind wears."""
    widget = field.field.widget
    kinds = {CheckboxInput: "form-check-input", Select: "form-select"}
    css = next((css for kind, css in kinds.items() if isinstance(widget, kind)), "form-control")
    # The label says what the field is for; a placeholder that repeats it would only hide that the field is empty.
    attrs: dict[str, str | bool] = {"class": f"{css} is-invalid" if field.errors else css, "placeholder": ""}
    if field.name == next(iter(field.form.errors), None):
        attrs["autofocus"] = True  # else a page that opens at its top hides what is wrong further down
    return field.as_widget(attrs=attrs)
