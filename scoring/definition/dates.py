"""Dates in definitions, with a time zone such as AoE."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from scoring.definition.keys import Kind
from scoring.definition.yaml_values import Value
from scoring.limits import EARLIEST, LATEST

ANYWHERE_ON_EARTH = timezone(timedelta(hours=-12), "AoE")
PATTERN = r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(:[0-9]{2})? \S+"


def read_moment(value: Value) -> datetime:
    """Read a date, time and time zone, such as `2024-05-01 00:00 AoE`, and convert it to UTC."""
    text = value.matching(PATTERN, "a date with a time and time zone, such as 2024-05-01 00:00 AoE")
    if not text:
        return datetime.max.replace(tzinfo=UTC)
    day_and_time, zone_name = text.rsplit(" ", 1)
    try:
        zone = _zone(zone_name)
    except (ValueError, KeyError, OSError):
        value.invalid("a time in AoE, UTC or a valid time zone, such as Europe/Madrid")
        return datetime.max.replace(tzinfo=UTC)
    try:
        local = datetime.fromisoformat(day_and_time).replace(tzinfo=zone)
        moment = local.astimezone(UTC)
    except (ValueError, OverflowError):
        value.invalid("a valid date and time")
        return datetime.max.replace(tzinfo=UTC)
    if moment.astimezone(zone).replace(tzinfo=None) != local.replace(tzinfo=None):
        value.invalid("a different time, because this one is skipped when clocks move forward")
    if not EARLIEST <= moment < LATEST:
        value.invalid("a date from 2000 to 2199")
    return moment


def _zone(name: str) -> tzinfo:
    if name == "AoE":
        return ANYWHERE_ON_EARTH
    return UTC if name == "UTC" else ZoneInfo(name)


MOMENT = Kind(read_moment, {"type": "string", "pattern": f"^{PATTERN}$"}, "time")
