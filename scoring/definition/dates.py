"""Dates in definitions, with a time zone such as AoE."""

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from scoring.definition.keys import Kind
from scoring.definition.yaml_values import Value
from scoring.limits import EARLIEST, LATEST

ANYWHERE_ON_EARTH = timezone(timedelta(hours=-12), "AoE")
# A date and a time of day as in ISO 8601, and `Z`, an offset, or a space and the name of a time zone.
PATTERN = (
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[ Tt][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,6})?)?|[0-9]{8}[Tt][0-9]{4}([0-9]{2})?)"
    r"([Zz]|[+\u2212-][0-9]{2}(:?[0-9]{2})?| \S+)"
)
EXPECTED = "a date with a time and time zone, such as 2024-05-01 00:00 AoE"
_LOOSE = re.compile(  # what people write instead, for suggestions
    r"(?P<year>\d{4})[-./](?P<month>\d{1,2})[-./](?P<day>\d{1,2})"
    r"(?:[ Tt]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?"
    r"\s*(?P<zone>\S+(?: \S+)?)?"
)
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)
_DEPENDS_ON_MACHINE = re.compile(r"localtime|Factory|posixrules|posix/.*|right/.*", re.IGNORECASE)
_CITIES = {  # abbreviation → a time zone that people mean by it, with its changes between standard and summer time
    "EST": "America/New_York", "EDT": "America/New_York", "CST": "America/Chicago", "CDT": "America/Chicago",
    "MST": "America/Denver", "MDT": "America/Denver", "PST": "America/Los_Angeles", "PDT": "America/Los_Angeles",
    "AKST": "America/Anchorage", "HST": "Pacific/Honolulu", "BRT": "America/Sao_Paulo", "ART": "America/Buenos_Aires",
    "CET": "Europe/Madrid", "CEST": "Europe/Madrid", "MET": "Europe/Berlin", "MEST": "Europe/Berlin",
    "EET": "Europe/Athens", "EEST": "Europe/Athens", "WET": "Europe/Lisbon", "WEST": "Europe/Lisbon",
    "GMT": "Europe/London", "BST": "Europe/London", "MSK": "Europe/Moscow", "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo", "KST": "Asia/Seoul", "AEST": "Australia/Sydney", "AEDT": "Australia/Sydney",
    "NZST": "Pacific/Auckland", "NZDT": "Pacific/Auckland",
}  # fmt: skip
_UNKNOWN = datetime.max.replace(tzinfo=UTC)


def read_moment(value: Value) -> datetime:
    """Read a date, time and time zone, such as `2024-05-01 00:00 AoE` or `2024-05-01T12:00Z`, and convert it to UTC."""
    text = value.text()
    if not text:
        return _UNKNOWN
    if not re.fullmatch(PATTERN, text):
        value.invalid(EXPECTED, _suggestion(text))
        return _UNKNOWN
    day_and_time, zone_name = _parts(text)
    zone = _zone(zone_name)
    if zone is None:
        city = "AoE" if zone_name.casefold() == "aoe" else _CITIES.get(zone_name.upper())
        suggestion = f"{day_and_time} {city}" if city else None
        value.invalid("a time in AoE, UTC or a valid time zone, such as Europe/Madrid", suggestion)
        return _UNKNOWN
    try:
        local = datetime.fromisoformat(day_and_time.upper()).replace(tzinfo=zone)
        moment = local.astimezone(UTC)
    except (ValueError, OverflowError):
        value.invalid("a valid date and time", _suggestion(text))
        return _UNKNOWN
    if not EARLIEST <= moment < LATEST:
        value.invalid("a date from 2000 to 2199")
    _check_clock_changes(value, local, zone_name)
    return moment


def _parts(text: str) -> tuple[str, str]:
    """Return the date with the time of day, and the name or offset of the time zone."""
    text = text.replace("\N{MINUS SIGN}", "-")
    if " " in text[11:]:
        day_and_time, _, zone = text.rpartition(" ")
        return day_and_time, zone
    at = re.search(r"[Zz+-]", text[11:])
    assert at is not None  # PATTERN requires it
    return text[: 11 + at.start()], text[11 + at.start() :]


def _zone(name: str) -> tzinfo | None:
    """Return a time zone by name or offset, or None if there is no such zone."""
    if name == "AoE":
        return ANYWHERE_ON_EARTH
    if name in ("UTC", "Z", "z"):
        return UTC
    if offset := _OFFSET.fullmatch(name):
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        is_valid = minutes < 24 * 60 and int(offset[3] or 0) < 60
        return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes)) if is_valid else None
    try:
        return None if _DEPENDS_ON_MACHINE.fullmatch(name) else ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        return None


def _check_clock_changes(value: Value, local: datetime, zone_name: str) -> None:
    """Report times that clocks skip or show twice, and abbreviations that people may read differently."""
    naive = local.replace(tzinfo=None)
    back = local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None)
    if back != naive:
        suggestion = f"{_written(back)} {zone_name}"
        value.invalid("a different time, because this one is skipped when clocks move forward", suggestion)
        return
    first, second = local.utcoffset(), local.replace(fold=1).utcoffset()
    if first != second:
        found = f"{zone_name} has this time twice, because clocks move back; the first one, {_iso(local)}, is used"
        value.warning("definition-time", found=found, suggestion=_iso(local))
    city = _CITIES.get(zone_name)
    if city and (usual := naive.replace(tzinfo=ZoneInfo(city))).dst():
        found = f"{zone_name} on this date is {_iso(local)[-6:]}, but clocks in {city} show {usual.tzname()}"
        if local.utcoffset() == usual.utcoffset():
            found = f"{zone_name} on this date is {_iso(local)[-6:]}, because clocks in {city} show {usual.tzname()}"
        value.warning("definition-time", found=found, suggestion=f"{_written(naive)} {city}")
    elif re.fullmatch(r"Etc/GMT[+-][1-9]\d?", zone_name):
        found = f"{zone_name} is {_iso(local)[-6:]}: the sign in its name is reversed"
        value.warning("definition-time", found=found, suggestion=_iso(local))


def _iso(moment: datetime) -> str:
    return moment.isoformat(" ", "seconds" if moment.second else "minutes")


def _written(naive: datetime) -> str:
    return _iso(naive.replace(tzinfo=None))


def _suggestion(text: str) -> str | None:
    """Return the valid time that was probably meant, or None."""
    found = _LOOSE.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day = (int(found[name]) for name in ("year", "month", "day"))
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    if found["hour"] is None:
        hour, minute = 23, 59
    if month > 12 >= day:
        month, day = day, month
    if not (1 <= year <= 9998 and 1 <= month <= 12 and 1 <= day <= 31 and hour <= 24 and minute < 60 and second < 60):
        return None
    start = datetime(year, month, min(day, monthrange(year, month)[1]), tzinfo=UTC)
    moment = start + timedelta(hours=hour, minutes=minute, seconds=second)
    name = (found["zone"] or "AoE").replace("\N{MINUS SIGN}", "-")
    written = f"{_written(moment)} {name}"
    return written if re.fullmatch(PATTERN, written) and _zone(name) else None


MOMENT = Kind(read_moment, {"type": "string", "pattern": f"^({PATTERN})$"}, "time")
