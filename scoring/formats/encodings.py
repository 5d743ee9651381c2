"""Text that is not UTF-8: recognize its encoding, so that the rest of the file can still be checked."""

import re

MARKS = {  # byte-order mark → encoding; the longer marks first, because one begins like another
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
NUL_SHARE = 3  # mostly ASCII text in UTF-16 has a NUL for nearly every second byte; one in three is enough
FOREIGN_SHARE = 0.3  # largest share of letters outside ASCII in a text in Latin-1
_ABOVE_ASCII = bytes(range(0x80, 0x100))
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def encoding_of(data: bytes) -> str | None:
    """Return UTF-16 or UTF-32 if the file begins with such a mark or, without one, has as many NULs. Else return None.

    It takes linear time.
    """
    marked = next((name for mark, name in MARKS.items() if data.startswith(mark)), None)
    if marked or data.count(0) * NUL_SHARE <= len(data):
        return marked
    return "UTF-16BE" if data[0] == 0 else "UTF-16LE"


def as_latin_1(data: bytes) -> str | None:
    """Return a text in Windows-1252, which contains Latin-1. Return None if the data is not such a text."""
    foreign = len(data) - len(data.translate(None, _ABOVE_ASCII))
    if foreign > FOREIGN_SHARE * len(data) or _CONTROLS.search(data):
        return None
    return data.decode("cp1252", errors="replace")


def in_utf8(data: bytes) -> bytes:
    """Return a text in UTF-8, whatever its encoding. Return the data unchanged if no other encoding is recognized."""
    encoding = encoding_of(data)
    if encoding is not None:
        return data.decode(encoding, errors="replace").encode()
    try:
        data.decode()
    except UnicodeDecodeError:
        text = as_latin_1(data)
        return data if text is None else text.encode()
    return data
