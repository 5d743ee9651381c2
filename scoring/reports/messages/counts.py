"""A problem's count with its unit as text, such as `2,576 items` or `one column`."""

from collections.abc import Mapping

from scoring.reports.messages import catalogue

PLACES = "places"
_CODES = {  # (singular, plural) unit → codes; all other codes count places
    ("item", "items"): "missing-items optional-items-missing no-label wrong-sum missing-label offset-negative "
    "offset-twice offset-too-large offset-outside-text span-empty tokens-differ text-not-a-text text-too-long "
    "too-many-tuples spans-overlap",
    ("id", "ids"): "duplicate-ids unknown-ids ids-changed ids-unicode-form id-not-a-text",
    ("entry", "entries"): "json-not-an-object json-missing-key json-duplicate-key wrong-constant",
    ("key", "keys"): "json-unknown-key json-extra-key json-unused",
    ("label", "labels"): "label-outside-domain inner-class",
    ("value", "values"): "value-not-a-label value-not-a-list value-not-shares value-outside-domain value-not-a-number "
    "json-other-type documents-not-a-list tuples-not-a-list share-not-a-number share-out-of-range span-not-offsets "
    "trec-number tag-out-of-order",
    ("list", "lists"): "label-twice",
    ("cell", "cells"): "value-missing values-not-a-list",
    ("row", "rows"): "ragged-row row-text span-not-pair span-without-offsets part-without-whole whole-without-part "
    "empty-row trailing-separator",
    ("line", "lines"): "span-line trec-line token-line text-line brat-line brat-direction brat-reference brat-id-twice "
    "comment-line document-line line-blank header-line",
    ("column", "columns"): "header-column-missing header-column-twice extra-columns parquet-column-type",
    ("document", "documents"): "document-twice",
    ("tuple", "tuples"): "tuple-twice",
    ("query", "queries"): "too-many-documents rank-against-score rank-in-tie",
    ("file", "files"): "archive-name-twice archive-clutter archive-accompanying archive-nested name-twice "
    "names-not-analyzed",
    ("annotation", "annotations"): "offset-text offset-units offset-shifted brat-unused",
    ("run", "runs"): "runs-not-checked",
}
UNITS: Mapping[str, str] = {code: several for (_, several), codes in _CODES.items() for code in codes.split()}
NOUNS: Mapping[str, str] = {  # plural → singular
    **{several: one for one, several in _CODES},
    PLACES: "place",
    "tracks": "track",
    "errors": "error",
    "warnings": "warning",
}
_THOUSANDS = {"en": ",", "es": ".", "pt": "."}


def counted(unit: str, count: int, language: str = "en") -> str:
    """Format a number with its noun."""
    return f"{_number(count, language)} {noun(unit, count, language)}"


def and_more(unit: str, count: int, language: str = "en") -> str:
    """Format the end of a shortened list, with the number of entries left out."""
    return catalogue(language).gettext("… and {}").format(more(unit, count, language))


def more(unit: str, count: int, language: str = "en") -> str:
    """Format the number of additional entries, such as `59 more labels`."""
    words = catalogue(language).gettext("{} more {}")
    return words.format(_number(count, language), noun(unit, count, language))


def noun(unit: str, count: int, language: str) -> str:
    """Return the noun for a number. `unit` is one of NOUNS."""
    return catalogue(language).ngettext(NOUNS[unit], unit, count)


def _number(count: int, language: str) -> str:
    return f"{count:,}".replace(",", _THOUSANDS[language])
