"""Detect a file's type from its first bytes, regardless of its name."""

SIGNATURES = {
    b"PK\x03\x04": "a zip archive or an office document",
    b"PK\x05\x06": "an empty zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a rar archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"\xd0\xcf\x11\xe0": "an office document",
    b"%PDF-": "a PDF document",
    b"{\\rtf": "a rich-text document",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"\x7fELF": "a program",
    b"MZ\x90": "a program",
    b"SQLite format 3": "a database",
    b"\x93NUMPY": "a NumPy array",
    b"PAR1": "a Parquet table",
}
PAGES = (b"<!doctype html", b"<html", b"<?xml", b"<svg")


def is_zip(head: bytes) -> bool:
    """Return whether a file that starts with these bytes is, or claims to be, a zip archive."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def foreign_kind(head: bytes) -> str | None:
    """Return the type of a file, in words, if its first bytes show that it is not text. Otherwise, return None."""
    for signature, kind in SIGNATURES.items():
        if head.startswith(signature):
            return kind
    start = head[:512].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return "a web page or XML document" if start.startswith(PAGES) else None
