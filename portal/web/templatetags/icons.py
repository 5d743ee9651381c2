"""Icons, and states shown as a colored word with an icon. Icons are inline SVG that screen readers skip."""

from django import template
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

register = template.Library()

RING = '<circle cx="8" cy="8" r="5.7"/>'
DRAWINGS = {
    "bar": '<path d="M3 8h10"/>',
    "check": '<path d="m2.5 8.6 3.6 3.6 7.4-8.2"/>',
    "chevron": '<path d="m4 6 4 4 4-4"/>',
    "clock": f'{RING}<path d="M8 4.8V8l2.2 1.5"/>',
    "copy": '<path d="M5.6 5.6h7.9v7.9H5.6zM10.5 2.5h-8v8"/>',
    "cross": '<path d="m3.5 3.5 9 9m0-9-9 9"/>',
    "download": '<path d="M8 2.5v7.3M4.8 6.8 8 10l3.2-3.2M3 13.5h10"/>',
    "failed": f'{RING}<path d="M8 5v3.4m0 2.5v.01"/>',
    "flag": '<path d="M4 14V2.5h8.4l-1.8 2.8 1.8 2.8H4"/>',
    "half": f'{RING}<path class="full" d="M8 2.3a5.7 5.7 0 0 1 0 11.4z"/>',
    "lock": '<path d="M3.5 7.3h9v6.2h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2"/>',
    "open": f'{RING}<circle class="full" cx="8" cy="8" r="2.4"/>',
    "ring": RING,
    "warning": '<path d="M8 2.5 14 13.2H2zM8 6.6v3m0 1.8v.01"/>',
}

STATES: dict[str, tuple[str, str, str | Promise]] = {
    "received": ("ring", "soft", _("Received")),
    "checking": ("half", "accent", _("Checking")),
    "previewing": ("half", "accent", _("Computing preview")),
    "ready": ("clock", "accent", _("Ready to apply")),
    "accepted": ("check", "good", _("Accepted")),
    "scoring": ("half", "accent", _("Scoring")),
    "rescoring": ("half", "accent", _("Rescoring")),
    "scored": ("check", "good", _("Scored")),
    "valid": ("check", "good", _("Valid")),
    "final": ("check", "good", _("Final")),
    "released": ("check", "good", _("Released")),
    "rejected": ("cross", "bad", _("Rejected")),
    "failed": ("failed", "warn", _("Failed on our side")),
    "warning": ("warning", "warn", _("Warning")),
    "right": ("check", "good", _("Correct")),
    "wrong": ("cross", "bad", _("Incorrect")),
    "withdrawn": ("bar", "soft", _("Withdrawn")),
    "replaced": ("bar", "soft", _("Replaced")),
    "official": ("flag", "accent", _("Official")),
    "open": ("open", "good", _("Open")),
    "stays-open": ("open", "good", _("Always open")),
    "closed": ("bar", "soft", _("Closed")),
    "past": ("bar", "soft", _("Past")),
    "earlier": ("clock", "soft", _("Earlier")),
    "coming": ("clock", "accent", _("Upcoming")),
    "hidden": ("lock", "soft", _("Hidden")),
    "pending": ("clock", "accent", _("Waiting for approval")),
    "approved": ("check", "good", _("Approved")),
    "declined": ("cross", "bad", _("Declined")),
}


@register.simple_tag
def icon(name: str) -> SafeString:
    """Draw the icon with this name at 16 px. Screen readers skip it, so the word next to it must say the same."""
    drawing = mark_safe(DRAWINGS[name])  # noqa: S308 - our own constants
    return format_html('<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">{}</svg>', drawing)


@register.simple_tag
def state(name: str, label: str | None = None) -> SafeString:
    """Render a state as icon and word in its color. `label` replaces the word, for example "3 problems"."""
    drawing, tone, word = STATES[name]
    return format_html('<span class="state tone-{}">{}{}</span>', tone, icon(drawing), label or word)


@register.simple_tag
def state_icon(name: str) -> SafeString:
    """Render a state's icon in its color, for headings that contain the word."""
    drawing, tone, _word = STATES[name]
    return format_html('<span class="tone-{}">{}</span>', tone, icon(drawing))
