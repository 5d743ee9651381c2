"""Page sections that update until their state is final."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

RESPONSE_MILLISECONDS = 20_000

register = template.Library()


@register.simple_tag
def poll(address: str, seen: str, more: str = "") -> SafeString:
    """Return HTMX attributes that poll `address` every second for anything newer than `seen`.

    The next request is sent only after the response to the last one, or after RESPONSE_MILLISECONDS.
    """
    polled = format_html('hx-get="{}?seen={}{}" hx-trigger="every 1s" hx-swap="outerHTML"', address, seen, more)
    return format_html("{} hx-request='{}'", polled, f'"timeout":{RESPONSE_MILLISECONDS}')
