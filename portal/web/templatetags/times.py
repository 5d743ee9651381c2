"""Times in AoE (anywhere on Earth) and in the user's time zone, and durations."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django import template
from django.template import Context
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from portal.times_and_numbers import AOE, end_of_day, span, written, zone_of, zone_words

register = template.Library()


def reader_zone(context: Context) -> ZoneInfo:
    """Return the signed-in user's time zone, or UTC, which the page's script replaces with the browser's."""
    user = context.get("user")
    return zone_of(user.time_zone if user is not None and user.is_authenticated else "UTC")


def now_of(context: Context) -> datetime:
    """Return the time as of which the page is rendered: the view's `at`, or the current time."""
    at: datetime | None = context.get("at")
    return at or timezone.now()


@register.simple_tag(takes_context=True)
def time_left(context: Context, value: datetime) -> str:
    """Return how long it is until `value`, or how long it has been since, at the page's time."""
    return span(abs(value - now_of(context)))


@register.simple_tag(takes_context=True)
def moment(context: Context, value: datetime, style: str = "line") -> SafeString:
    """Render a time in AoE and in the user's time zone, as one `line` or two `lines`, or as two with `seconds`.

    A line breaks only before the dot that separates the two times.
    """
    zone, now, seconds = reader_zone(context), now_of(context), style == "seconds"
    anywhere = format_html('<time datetime="{}">{} AoE</time>', value.isoformat(), written(value, AOE, now, seconds))
    user = context.get("user")
    follow_browser = "" if user is not None and user.is_authenticated and zone.key != "UTC" else " data-local"
    here = format_html(
        '<time datetime="{}"{}>{} {}</time>',
        value.isoformat(),
        follow_browser,
        written(value, zone, now, seconds),
        zone_words(zone),
    )
    if style in ("lines", "seconds"):
        return format_html('<span class="d-block">{}</span><span class="d-block">{}</span>', anywhere, here)
    return format_html('{}<span class="dot"> ·&nbsp;</span>{}', anywhere, here)


@register.simple_tag(takes_context=True)
def deadline(context: Context, value: datetime, style: str = "line") -> SafeString:
    """Render a closing time as `moment` does, with midnight as the end of a day (`end_of_day`)."""
    return moment(context, end_of_day(value), style)


@register.simple_tag
def closing_day(value: datetime) -> SafeString:
    """Render the day in AoE on which a window closes: 15 May 2024 AoE."""
    last = end_of_day(value).astimezone(AOE)
    return format_html('<time datetime="{}">{} AoE</time>', last.isoformat(), format_date(last, "j M Y"))


@register.filter
def since(end: datetime, start: datetime) -> str:
    """Return how long a run took, in tenths of a second if that is short: 4.2 s, 12 min.

    Return an empty string for more than a day, because such a run was rescored and did not really take that long.
    """
    took = max(timedelta(), end - start)
    if took > timedelta(days=1):
        return ""
    if took < timedelta(seconds=0.05):
        return gettext("less than 0.1 s")
    return span(took) if took >= timedelta(minutes=1) else f"{took.total_seconds():.1f} s"


@register.simple_tag(takes_context=True)
def day(context: Context, value: datetime, style: str = "long") -> SafeString:
    """Render the day in the user's time zone with the year: 12 June 2022, or `short`: 12 Jun 2022."""
    local = value.astimezone(reader_zone(context))
    text = format_date(local, "j M Y" if style == "short" else "j F Y")
    return format_html('<time datetime="{}">{}</time>', value.isoformat(), text)
