"""Numbers in addresses and forms. A number is 0 to `LARGEST`, in ASCII digits; anything else doesn't name anything."""

import re

from django.urls import register_converter
from django.urls.converters import IntConverter

LARGEST = 2**63 - 1  # the largest key that a database can store
LAST_PAGE = 99_999
_DIGITS = re.compile(r"[0-9]{1,19}", re.ASCII)


def whole_number(text: str, largest: int = LARGEST) -> int | None:
    """Return the number, or None if the text is not a number from 0 to `largest`.

    The length is checked first, because Python rejects numbers of thousands of digits.
    """
    number = int(text) if _DIGITS.fullmatch(text) else None
    return number if number is not None and number <= largest else None


class NumberConverter(IntConverter):
    """A number in an address, such as an object's key. An address with any other number does not exist."""

    regex = _DIGITS.pattern

    def to_python(self, value: str) -> int:
        number = whole_number(value)
        if number is None:
            raise ValueError(value)
        return number


register_converter(NumberConverter, "number")
