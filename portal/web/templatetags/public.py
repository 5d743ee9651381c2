"""Page metadata for other programs: canonical URL, Open Graph and schema.org."""

import json
from typing import Any

from django import template
from django.conf import settings
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag(takes_context=True)
def public_card(context: Context) -> SafeString:
    """Render the page's URL without its query, and its link preview (Open Graph)."""
    page = context.get("page")
    title = page.shared_task.title if page else "Agon"
    return format_html(
        '<link rel="canonical" href="{0}"><meta property="og:url" content="{0}">'
        '<meta property="og:type" content="website"><meta property="og:site_name" content="Agon">'
        '<meta property="og:title" content="{1}">',
        settings.PUBLIC_URL + context["request"].path,
        title,
    )


@register.simple_tag
def json_ld(about: dict[str, Any]) -> SafeString:
    """Render the data as JSON-LD. No value can close the element."""
    text = json.dumps(about, ensure_ascii=False)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return mark_safe(f'<script type="application/ld+json">{text}</script>')  # noqa: S308 - escaped above


@register.simple_tag
def is_demo() -> bool:
    """Return whether this portal is the demo, whose data are invented."""
    return bool(settings.DEMO)
