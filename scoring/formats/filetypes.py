"""Detect a file's type from its first and last bytes, regardless of its name."""

import re
import struct
from pathlib import Path

SAMPLE_BYTES = 65_536  # read from each end of a file: enough for the directory of any office document

ZIP_ARCHIVES = ("a zip archive", "an empty zip archive")  # zips that are not documents
_ARCHIVES = {
    b"\x1f\x8b": "a gzip archive",
    b"\x1f\x9d": "a compressed archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a rar archive",
    **{b"BZh%d1AY&SY" % level: "a bzip2 archive" for level in range(1, 10)},
    b"\xfd7zXZ\x00": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"\x04\x22\x4d\x18": "an lz4 archive",
    b"\x5d\x00\x00\x80\x00": "an lzma archive",
    b"MSCF\0\0\0\0": "a cab archive",
}
_PAGES = (b"<!doctype html", b"<html", b"<?xml", b"<svg", b"<head", b"<body")
_OLD_OFFICE = "an old Excel or Word document"
_SIGNATURES = {
    **_ARCHIVES,
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": _OLD_OFFICE,
    b"%PDF-": "a PDF document",
    b"{\\rtf": "a rich-text document",
    b"%!PS": "a PostScript document",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF87a": "an image",
    b"GIF89a": "an image",
    b"II*\0": "an image",
    b"MM\0*": "an image",
    b"\x7fELF": "a program",
    b"MZ\x90": "a program",
    b"\xca\xfe\xba\xbe": "a program",
    b"\xcf\xfa\xed\xfe": "a program",
    b"SQLite format 3": "a database",
    b"\x93NUMPY": "a NumPy file",
    b"PAR1\x15": "a Parquet table",
    b"ARROW1\0\0": "an Arrow table",
    b"FEA1\0\0\0\0": "an Arrow table",
    b"\x89HDF": "an HDF5 file",
    b"MATLAB 5.0 MAT-file": "a MATLAB file",
    b"bplist00": "a property list",
    b"OggS\0": "a recording",
    b"ID3\x03": "a recording",
    b"ID3\x04": "a recording",
    b"version https://git-lfs": "a Git LFS pointer",
}
_PICKLE = re.compile(rb"\x80[\x02-\x05]|\((?:lp|dp)[0-9]+\n|ccopy_reg\n")
# The document that a zip is, by the names of its entries: the first pattern that matches a name decides.
_DOCUMENTS = (
    (rb"xl/workbook\.(xml|bin)", "an Excel workbook"),
    (rb"word/document\.xml", "a Word document"),
    (rb"ppt/presentation\.xml", "a PowerPoint presentation"),
    (rb"Index/[^/]*\.iwa|Index\.zip", "a document of Apple's Numbers, Pages or Keynote"),
    (rb"META-INF/container\.xml", "an e-book"),
    (rb"META-INF/MANIFEST\.MF", "a Java program"),
    (rb"[^/]+\.dist-info/METADATA", "a Python package"),
    (rb"\[Content_Types\]\.xml", "an office document"),
)
_OPEN_DOCUMENTS = {
    b"spreadsheet": "an OpenDocument spreadsheet",
    b"text": "an OpenDocument text",
}
_CENTRAL = re.compile(rb"PK\x01\x02.{24}(..).{16}", re.DOTALL)  # a directory's entry, up to the name; group: its length

_UNPACKED = "the unpacked run, or a zip archive with one or more runs"
_AS_TABLE = "the table exported as a text file (in Excel, save it as CSV UTF-8)"
_WRITTEN = "a text file, for example written by json.dump or by to_csv in pandas"
_FIXES = {
    **dict.fromkeys([*_ARCHIVES.values(), "a tar archive"], _UNPACKED),
    **dict.fromkeys(["an Excel workbook", "an OpenDocument spreadsheet", _OLD_OFFICE], _AS_TABLE),
    "a document of Apple's Numbers, Pages or Keynote": _AS_TABLE,
    "an HTML table": _AS_TABLE,
    **dict.fromkeys(
        ["a NumPy file", "a NumPy archive", "a Parquet table", "an Arrow table", "an HDF5 file", "a MATLAB file"],
        _WRITTEN,
    ),
    **dict.fromkeys(["a pickled Python object", "a PyTorch file", "a database", "a Jupyter notebook"], _WRITTEN),
    "a web page or XML document": "the file that the page shows (on GitHub, use Download raw file)",
    "a Git LFS pointer": "the file that it stands for (download it with git lfs pull)",
    ZIP_ARCHIVES[0]: "the run itself, not packed into another zip",
    ZIP_ARCHIVES[1]: "the run itself, or a zip archive with one or more runs",
}


def is_zip(head: bytes) -> bool:
    """Return whether a file that starts with these bytes is, or claims to be, a zip archive."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def ends_of(path: Path) -> tuple[bytes, bytes]:
    """Return the first and the last bytes of a file, which may overlap.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(SAMPLE_BYTES)
        file.seek(max(0, path.stat().st_size - SAMPLE_BYTES))
        return head, file.read(SAMPLE_BYTES)


def foreign_kind(head: bytes, tail: bytes = b"") -> str | None:
    """Return the type of a file, in words, if its first and last bytes show that it is not a run's text, or None.

    Zip archives that are no document are `a zip archive`.
    """
    if is_zip(head):
        return _zipped_document(head, tail) or ZIP_ARCHIVES[not head.startswith(b"PK\x03\x04")]
    for signature, kind in _SIGNATURES.items():
        if head.startswith(signature):
            return kind
    if _is_tar(head):
        return "a tar archive"
    if _PICKLE.match(head):
        return "a pickled Python object"
    if head[:4] == b"RIFF" and head[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return "an image" if head[8:12] == b"WEBP" else "a recording"
    if head[:2] == b"BM" and head[6:10] == bytes(4):
        return "an image"
    if head[:3] == bytes(3) and head[4:8] == b"ftyp":
        return "a recording"
    return _kind_of_markup(head, tail)


def _kind_of_markup(head: bytes, tail: bytes) -> str | None:
    """Return the type of a text that is not a run's, or None."""
    start = head[:512].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith((b"<table>", b"<table ")):
        return "an HTML table"
    if start.startswith(_PAGES):
        return "a web page or XML document"
    return "a Jupyter notebook" if start.startswith(b"{") and b'"nbformat"' in head + tail else None


def _zipped_document(head: bytes, tail: bytes) -> str | None:
    """Return the type of a document that is stored as a zip, such as a workbook, or None for other zip archives."""
    first = head[30 : 30 + struct.unpack_from("<H", head, 26)[0]] if len(head) >= 30 else b""
    if first == b"mimetype" and b"application/vnd.oasis.opendocument." in head[:150]:
        found = re.search(rb"opendocument\.([a-z]+)", head[:150])
        return _OPEN_DOCUMENTS.get(found[1] if found else b"", "an OpenDocument file")
    if re.fullmatch(rb"[^/]+/data\.pkl", first):
        return "a PyTorch file"
    entries = _CENTRAL.finditer(tail)
    names = [first, *(tail[entry.end() : entry.end() + int.from_bytes(entry[1], "little")] for entry in entries)]
    for pattern, kind in _DOCUMENTS:
        if any(re.match(pattern, name) for name in names):
            return kind
    return "a NumPy archive" if first and all(name.endswith(b".npy") for name in names) else None


def fix_of(kind: str) -> str:
    """Return what to upload instead of a file of this type, which is one that `foreign_kind` returns."""
    return _FIXES.get(kind, "the run as a plain text file")


def _is_tar(head: bytes) -> bool:
    """Return whether the first 512 bytes are a tar header, whose checksum counts the checksum's own bytes as spaces."""
    block = head[:512]
    if len(block) < 512 or not block[0]:
        return False
    stated = re.fullmatch(rb"[ 0]*([0-7]+)[ \0]*", block[148:156])
    return stated is not None and int(stated[1], 8) == sum(block[:148]) + 8 * 32 + sum(block[156:])
