"""Find the one change that turns a run's unknown ids into the track's missing ones.

Spreadsheets and pandas read ids as numbers, and scripts write file names in place of ids. Each change here is a pair of
keys: a changed id and the id that was meant have the same key.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

SAMPLE = 50  # unknown ids that a change must explain before all ids are compared
SHARE = 0.5  # minimum share of the unknown ids that a change explains
FIRST = 1000  # so many missing ids from the start and from the end are compared first
MANY = 200_000  # if there are more missing ids, only these are compared
LONGEST = 200  # longer ids are not compared, because normalizing many accents takes quadratic time

Key = Callable[[str], str]

_NUMBER = re.compile(r"[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE]\+?[0-9]{1,2})?")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:[,.' \u00a0\u2019\u202f][0-9]{3})+")
_WRAPPERS = " '\"`[](){}<>,;\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
_TYPED = re.compile(r"(?:b|u|r|str|tensor|np\.str_|np\.int64)(?=['\"(])")  # before what Python prints, such as b'1'
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&nbsp;": " "}
_DECIMALS = re.compile(r"(?<=[0-9])\.0+(?=_|$)")
_PADDING = re.compile(r"(?<![0-9])0+(?=[0-9])")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}(?:\.gz)?$")
_SEPARATORS = re.compile(r"[-_.:/\\\s\u2010-\u2015]+")


@dataclass(frozen=True, slots=True)
class ChangedIds:
    """Unknown ids that differ from missing ids by one change, and what was expected, in words.

    `right` is the id that the first of them should be, or None if it could be several. `still_unknown` and
    `still_missing` are the ids that the change does not explain.
    """

    ids: Sequence[str]
    right: str | None
    expected: str
    still_unknown: Sequence[str]
    still_missing: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Change:
    """A way in which ids change. If it is `lossy`, several ids may become one.

    `expected` says what the track's ids are like. If they are the longer ones, `reverse` does, if it is not empty.
    """

    key: Key
    expected: str
    lossy: bool = False
    reverse: str = ""


def changed_ids(unknown: Sequence[str], missing: Sequence[str], count: int) -> ChangedIds | None:
    """Return the first change that explains most of the unknown ids, or None. It takes linear time.

    `count` is the number of the track's ids.
    """
    if not unknown or not missing:
        return None
    if len(unknown) == len(missing) == 1:
        if _are_ends(unknown[0], missing[0], count):
            return ChangedIds(unknown, None, "ids counted from 1, as in the item list", [], [])
        if _are_ends(missing[0], unknown[0], count):
            return ChangedIds(unknown, None, "ids counted from 0, as in the item list", [], [])
    sample = [*islice(unknown, SAMPLE), *unknown[SAMPLE:][-SAMPLE:]]
    changes = list(_changes(sample, unknown[0], missing))
    change = _first_that_explains(changes, sample, [*missing[:FIRST], *missing[FIRST:][-FIRST:]])
    if change is None and 2 * FIRST < len(missing) <= MANY:
        # The run is in another order. One key is the same after most changes, and finds the items that may be meant.
        bare = set(map(_bare, sample))
        change = _first_that_explains(changes, sample, [item for item in missing if _bare(item) in bare])
    return _explained(change, unknown, missing) if change else None


def _are_ends(first: str, last: str, count: int) -> bool:
    """Return whether ids are the first of those counted from 0, and the last of those counted from 1, as in s0, s9."""
    name = first.rstrip("0123456789")
    digits, others = first.removeprefix(name), last.removeprefix(name)
    is_numbered = last.startswith(name) and 0 < len(digits) <= LONGEST and others.isdecimal() and others.isascii()
    return is_numbered and not digits.strip("0") and others.lstrip("0") == str(count)


def _first_that_explains(changes: Iterable[_Change], sample: Sequence[str], missing: Collection[str]) -> _Change | None:
    """Return the first change after which most ids of the sample are the same as missing ones, each as another one."""
    for change in changes:
        keys = {item: change.key(item) for item in sample}
        own = {item: change.key(item) for item in missing}
        if all(key == item for item, key in (*keys.items(), *own.items())):
            continue
        found = set(keys.values()).intersection(own.values())
        is_one_to_one = change.lossy or len(found) == sum(key in found for key in keys.values())
        if len(found) >= SHARE * len(set(keys.values())) and is_one_to_one:
            return change
    return None


def _explained(change: _Change, unknown: Sequence[str], missing: Sequence[str]) -> ChangedIds | None:
    """Return the ids that the change explains, or None if these are too few, or if two ids would become one."""
    left = set(map(change.key, missing))
    if len(left) < len(missing) and not change.lossy:
        return None
    used, others = set[str](), list[str]()
    for item in unknown:
        key = change.key(item)
        if key in left:
            left.remove(key)
            if change.lossy:
                used.add(key)
        elif key not in used:
            others.append(item)
    if len(unknown) - len(others) < SHARE * len(unknown):
        return None
    still_unknown = set(others)
    ids = [item for item in unknown if item not in still_unknown] if others else unknown
    first = change.key(ids[0])
    right = [item for item in missing if change.key(item) == first] if change.lossy else []
    right = right or [next(item for item in missing if change.key(item) == first)]
    is_longer = change.reverse and len(right[0]) > len(ids[0])
    return ChangedIds(
        ids,
        right[0] if len(right) == 1 else None,
        change.reverse if is_longer else change.expected,
        others,
        [item for item in missing if change.key(item) in left] if left else [],
    )


def _changes(sample: Sequence[str], first: str, missing: Sequence[str]) -> Iterator[_Change]:
    yield _Change(str.strip, "ids without blanks at their ends", reverse="ids with the same blanks as in the item list")
    yield _Change(_visible, "ids without invisible characters", reverse="ids exactly as in the item list")
    yield _Change(_unwrapped, "ids without quotes or brackets", reverse="ids exactly as in the item list")
    yield _Change(_as_whole_number, _AS_TEXT)
    yield _Change(_without_decimals, _AS_TEXT)
    yield _Change(_without_padding, "ids exactly as in the item list")
    yield _Change(str.casefold, "ids in the same case as in the item list")
    yield _Change(_without_extension, "ids without a file extension", reverse="ids with their file extension")
    yield _Change(_without_folders, "ids without folders", reverse="ids with their folders")
    yield _Change(
        lambda item: _without_extension(_without_folders(item)),
        "ids without folders and file extension",
        reverse="ids with their folders and file extension",
    )
    if len(sample) > 1 and 0 < len(first) <= LONGEST:  # a single id could end like an item by chance
        yield from _affixes(first, missing)
    yield from _roundings(sample)
    yield _Change(_compatible, "the letters and digits of the item list, not look-alikes")
    yield _Change(_joined_alike, "the same separators as in the item list")
    yield from _dates(sample, missing)
    yield _Change(_unescaped, "ids without %-escapes and HTML entities")
    yield _Change(_decoded, "ids read and written as UTF-8")
    yield _Change(_bare, "ids exactly as in the item list")


_AS_TEXT = (
    "ids as text, because as numbers they lose leading zeros or get decimals or commas (in pandas, read with dtype=str)"
)
_NO_DATES = "ids as text, because spreadsheets change them to dates (in Excel, import the column as text)"
_ROUNDED = "ids as text, because long numbers are rounded (in pandas, read with dtype=str; in Excel, import as text)"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY_OF_MONTH = re.compile(r"([0-9]{1,2})[-/. ]([A-Za-z]{3,9})(?:[-/. ]([0-9]{2}|[0-9]{4}))?")  # 2-Jan
_MONTH_AND_DAY = re.compile(r"([A-Za-z]{3,9})[-/. ]?([0-9]{1,2})")  # MAR1
_NUMBERED = re.compile(r"([0-9]{1,2})[-/.]([0-9]{1,2})(?:[-/.]([0-9]{2}|[0-9]{4}))?")  # 1/2/2024
_ISO_DATE = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?:[ T]00:00(?::00(?:\.0+)?)?)?")


def _dates(sample: Collection[str], missing: Sequence[str]) -> Iterator[_Change]:
    """Yield the ways in which a spreadsheet reads ids as dates. The one that fits more ids of the sample is first."""
    if not any(_date_in(item, month_first=True) for item in sample):
        return
    keys = [_dater(month_first, with_year) for with_year in (True, False) for month_first in (True, False)]
    known = missing[:FIRST]
    yield from (
        _Change(key, _NO_DATES)
        for key in sorted(keys, key=lambda key: -len(set(map(key, sample)).intersection(map(key, known))))
    )


def _dater(month_first: bool, with_year: bool) -> Key:
    """Return a key that is the same for an id such as `1-2` and the dates that a spreadsheet makes of it."""

    def key(item: str) -> str:
        found = _date_in(item, month_first) if len(item) <= LONGEST else None
        if found is None:
            return item
        month, day, year = found
        return f"{month}-{day}-{int(year) % 100}" if year and with_year else f"{month}-{day}"

    return key


def _date_in(item: str, month_first: bool) -> tuple[int, int, str | None] | None:
    """Return the month, day and year (or None) that an id may be read as."""
    if match := _ISO_DATE.fullmatch(item):
        return int(match[2]), int(match[3]), match[1]
    if match := _NUMBERED.fullmatch(item):
        first, second = int(match[1]), int(match[2])
        return (first, second, match[3]) if month_first else (second, first, match[3])
    if match := _DAY_OF_MONTH.fullmatch(item):
        month = _month(match[2])
        return None if month is None else (month, int(match[1]), match[3])
    match = _MONTH_AND_DAY.fullmatch(item)
    month = _month(match[1]) if match else None
    return None if match is None or month is None else (month, int(match[2]), None)


def _month(name: str) -> int | None:
    short = name.casefold()[:3]
    return _MONTHS.index(short) + 1 if short in _MONTHS else None


def _visible(item: str) -> str:
    if item.isascii() and item.isprintable():
        return item
    shown = "".join(" " if char.isspace() else char for char in item if unicodedata.category(char) not in ("Cf", "Cc"))
    return shown.strip()


def _unwrapped(item: str) -> str:
    return item if item.isalnum() else _TYPED.sub("", item, count=1).strip(_WRAPPERS)


def _as_whole_number(item: str) -> str:
    """Return the number that an id is, without leading zeros, thousands separators and decimals."""
    if item.isdigit():
        return item.lstrip("0") or "0"
    if len(item) > LONGEST:
        return item
    whole, _, decimals = item.partition(".")
    if decimals and not decimals.strip("0"):
        item = whole
    if not item.isdigit() and _THOUSANDS.fullmatch(item):
        item = "".join(filter(str.isdigit, item))
    return (item.lstrip("0") or "0") if item.isdigit() else item


def _without_decimals(item: str) -> str:
    """Remove `.0` from the parts of an id that spans several columns: `12.0_3.0` and `12_3` are alike."""
    return _DECIMALS.sub("", item) if "." in item and "_" in item and len(item) <= LONGEST else item


def _without_padding(item: str) -> str:
    """Remove leading zeros from each number in an id: `s03` and `s3` are alike."""
    return _PADDING.sub("", item) if "0" in item else item


def _without_extension(item: str) -> str:
    return _EXTENSION.sub("", item) if "." in item and len(item) <= LONGEST else item


def _without_folders(item: str) -> str:
    return item.replace("\\", "/").rpartition("/")[2] if "/" in item or "\\" in item else item


def _compatible(item: str) -> str:
    return unicodedata.normalize("NFKC", item) if not item.isascii() and len(item) <= LONGEST else item


def _joined_alike(item: str) -> str:
    return _SEPARATORS.sub("-", item) if len(item) <= LONGEST else item


def _unescaped(item: str) -> str:
    if "&" in item:
        for entity, char in _ENTITIES.items():
            item = item.replace(entity, char)
    return _ESCAPES.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(errors="replace"), item)


def _decoded(item: str) -> str:
    """Undo reading UTF-8 as Windows-1252, which turns `é` into `Ã©`."""
    if item.isascii() or len(item) > LONGEST:
        return item
    try:
        return item.encode("cp1252").decode()
    except UnicodeError:
        return item


def _bare(item: str) -> str:
    """Undo several changes at once."""
    item = _unwrapped(_visible(_unescaped(item)).strip())
    return _as_whole_number(_without_extension(_without_folders(_compatible(item)))).casefold()


def _affixes(first: str, missing: Sequence[str]) -> Iterator[_Change]:
    """Yield the changes that add a beginning or an end to all ids or remove it, by the first unknown id."""
    known = set(missing)
    for cut in range(1, len(first)):
        if first[cut:] in known:
            yield _Change(_remover(first[:cut], ""), f"ids without {first[:cut]} at their beginning")
            break
    for cut in range(len(first) - 1, 0, -1):
        if first[:cut] in known:
            yield _Change(_remover("", first[cut:]), f"ids without {first[cut:]} at their end")
            break
    for item in islice(missing, SAMPLE):
        if len(item) <= len(first):
            continue
        if item.endswith(first):
            yield _Change(
                _remover(item.removesuffix(first), ""), f"ids with {item.removesuffix(first)} at their beginning"
            )
            return
        if item.startswith(first):
            yield _Change(_remover("", item.removeprefix(first)), f"ids with {item.removeprefix(first)} at their end")
            return


def _remover(prefix: str, suffix: str) -> Key:
    return lambda item: item.removeprefix(prefix).removesuffix(suffix)


def _roundings(sample: Collection[str]) -> Iterator[_Change]:
    """Yield the ways in which long numbers are rounded: to what a float holds, and to a number of digits."""
    if not all(map(_NUMBER.fullmatch, sample)):
        return
    yield _Change(_as_float, _ROUNDED, lossy=True)
    yield _Change(lambda item: f"{item[:15]}{len(item)}" if item.isdigit() else item, _ROUNDED, lossy=True)
    if any("e" in item.casefold() for item in sample):
        digits = max(len(Decimal(item).normalize().as_tuple().digits) for item in sample)
        yield _Change(lambda item: _rounded(item, digits), _ROUNDED, lossy=True)


def _as_float(item: str) -> str:
    return repr(float(item)) if _NUMBER.fullmatch(item) else item


def _rounded(item: str, digits: int) -> str:
    return f"{Decimal(item):.{digits - 1}e}" if _NUMBER.fullmatch(item) else item
