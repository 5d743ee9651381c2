"""Times, numbers and languages as text, for pages and emails."""

from datetime import datetime, timedelta, tzinfo
from datetime import timezone as fixed_zone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils.dateformat import format as format_date
from django.utils.translation import get_language_info, ngettext
from django.utils.translation import gettext as _

AOE = fixed_zone(timedelta(hours=-12), "AoE")

NOTHING = "–"  # shown instead of a missing number
MINUS = "−"


def span(duration: timedelta) -> str:
    """Format a duration in one or two units: 5 h 12 min, 9 days, 26 weeks, 3 years."""
    minutes = int(duration.total_seconds() // 60)
    days = duration.days
    if minutes < 1:
        return _("less than a minute")
    if minutes < 60:
        return _("%(minutes)d min") % {"minutes": minutes}
    if days < 2:
        return _("%(hours)d h %(minutes)d min") % {"hours": minutes // 60, "minutes": minutes % 60}
    if days < 60:
        return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}
    if days < 730:
        return ngettext("%(n)d week", "%(n)d weeks", days // 7) % {"n": days // 7}
    return ngettext("%(n)d year", "%(n)d years", days // 365) % {"n": days // 365}


def written(value: datetime, zone: tzinfo, now: datetime, seconds: bool = False) -> str:
    """Format the weekday, day, month and time in this time zone, and the year unless it is the current one."""
    local = value.astimezone(zone)
    year = "" if local.year == now.astimezone(zone).year else " Y"
    return format_date(local, f"D j M{year}, H:i:s" if seconds else f"D j M{year}, H:i")


def end_of_day(value: datetime) -> datetime:
    """Return the closing time to show.

    A window [opens, closes) that ends at midnight AoE is shown as closing at 23:59 the day before.
    """
    local = value.astimezone(AOE)
    return value - timedelta(minutes=1) if (local.hour, local.minute, local.second) == (0, 0, 0) else value


def zone_of(name: str) -> ZoneInfo:
    """Return the time zone with this name, or UTC if it is unknown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def zone_words(zone: ZoneInfo) -> str:
    """Return a phrase for a time zone: Europe/Madrid → in Madrid."""
    return "UTC" if zone.key == "UTC" else _("in %(place)s") % {"place": zone.key.split("/")[-1].replace("_", " ")}


def count(value: int | None) -> str:
    """Format a number with commas: 1812 → 1,812."""
    return NOTHING if value is None else f"{value:,}".replace("-", MINUS)


def score(value: float | None, decimals: int = 4) -> str:
    """Format a score: -0.238 → −0.2380. An undefined score becomes a dash. A value that rounds to zero has no sign."""
    return NOTHING if value is None else f"{value:z,.{decimals}f}".replace("-", MINUS)


def file_size(size: int | None) -> str:
    """Format a number of bytes to three digits in the largest binary unit: 1840000 → 1.75 MiB."""
    if size is None:
        return NOTHING
    value, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if value < 999.5:
            break
        value, unit = value / 1024, larger
    return f"{value:.3g} {unit}"


def language_name(code: str) -> str:
    """Return a language's name: en → English. A code that Django does not know is returned unchanged."""
    try:
        return _(get_language_info(code)["name"])
    except KeyError:
        return code
