"""A corpus of zip files by name: files that careful package indexes reject, and unusual but valid files.

Every file contains the run `labels_Bora_1` and has a valid name, so that only the archive can be invalid. The kinds
come from PyPI's and Go's readers, zip confusion attacks, and the warnings in APPNOTE itself.
"""

import io
import struct
import zipfile
import zlib

from tests.scoring.uploads.test_archives import of_kind, patched, streamed, zipped
from tests.security.uploads import LABELS, dump

NAME, OTHER = "labels_Bora_1", "labels_Bora_2"
RUN = dump(LABELS)
ONE, TWO = zipped({NAME: RUN}), zipped({NAME: RUN, OTHER: RUN})
STORED = zipped({NAME: RUN}, zipfile.ZIP_STORED)
_LOCAL, _CENTRAL, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def _parts(data: bytes) -> tuple[bytes, bytes]:
    """Return the entries and the directory."""
    return data[: data.index(_CENTRAL)], data[data.index(_CENTRAL) : data.rindex(_END)]


def _joined(entries: bytes, directory: bytes, count: int, start: int | None = None, comment: bytes = b"") -> bytes:
    start = len(entries) if start is None else start
    end = struct.pack("<4s4H2LH", _END, 0, 0, count, count, len(directory), start, len(comment))
    return entries + directory + end + comment


def _with_extra(extra: bytes) -> bytes:
    info = zipfile.ZipInfo(NAME)
    info.extra = extra
    return zipped({info: RUN})


def _zip64(locator_at: int = 0, entries: int = 1, record_size: int = 44, short: int = 0xFFFF) -> bytes:
    """Return an archive whose 64-bit end records have these values."""
    body, directory = _parts(ONE)
    end = len(body) + len(directory)
    record = struct.pack(
        "<4sQ2H2L4Q", b"PK\x06\x06", record_size, 45, 45, 0, 0, entries, entries, len(directory), len(body)
    )
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end + locator_at, 1)
    last = struct.pack("<4s4H2LH", _END, 0, 0, short, short, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return body + directory + record + locator + last


def _commented(comment: bytes) -> bytes:
    return _joined(*_parts(ONE), 1, comment=comment)


def _same_name_twice() -> bytes:
    return TWO.replace(OTHER.encode(), NAME.encode())


def _overlapping() -> bytes:
    body, directory = _parts(ONE)
    return _joined(body, directory * 2, 2)


def _unlisted() -> bytes:
    """Return an archive with a local entry that the directory lacks.

    Programs that read from the start see this entry, and others do not.
    """
    body, directory = _parts(TWO)
    return _joined(body, directory[: directory.index(_CENTRAL, 4)], 1)


def _hidden_between() -> bytes:
    body, directory = _parts(ONE)
    return _joined(body + b"MZ hidden", directory, 1)


def _quoted_bomb() -> bytes:
    """Return an archive with an entry whose data contain a second entry, which the directory also lists."""
    inner = _parts(zipped({OTHER: RUN}, zipfile.ZIP_STORED))
    outer = _parts(zipped({NAME: inner[0]}, zipfile.ZIP_STORED))
    at = outer[0].index(_LOCAL, 4)
    listed = inner[1][:42] + struct.pack("<L", at) + inner[1][46:]
    return _joined(outer[0], outer[1] + listed, 2)


def _second_end_in_comment() -> bytes:
    """Return an archive with two possible end records, the second of them in the comment of the first."""
    return _commented(struct.pack("<4s4H2LH", _END, 0, 0, 0, 0, 0, 0, 0))


def _both(offset_local: int, offset_central: int, value: bytes, data: bytes = ONE) -> bytes:
    return patched(patched(data, _LOCAL, offset_local, value), _CENTRAL, offset_central, value)


_UNICODE = struct.pack("<HHBL", 0x7075, 5 + len(OTHER), 1, zlib.crc32(NAME.encode())) + OTHER.encode()

BROKEN: dict[str, bytes] = {
    "nothing but a signature": _LOCAL,
    "cut off in the end record": ONE[:-1],
    "cut off in the middle": ONE[: len(ONE) // 2],
    "without its directory": _parts(ONE)[0],
    "bytes before it": b"#!/bin/sh\n" + ONE,
    "bytes before it, offsets fixed": _joined(b"#!/bin/sh\n" + _parts(ONE)[0], _parts(ONE)[1], 1),
    "bytes after it": ONE + b"\n",
    "two archives in a row": ONE + ONE,
    "the same name twice": _same_name_twice(),
    "entries that overlap": _overlapping(),
    "an entry in another's data": _quoted_bomb(),
    "an entry that is not listed": _unlisted(),
    "bytes between entries and directory": _hidden_between(),
    "another name in the local header": patched(ONE, _LOCAL, 30, b"labels_Bora_3"),
    "another checksum in the local header": patched(ONE, _LOCAL, 14, bytes(4)),
    "another size in the local header": patched(ONE, _LOCAL, 22, struct.pack("<L", 1)),
    "another packed size in the local header": patched(ONE, _LOCAL, 18, struct.pack("<L", 1)),
    "another method in the local header": patched(ONE, _LOCAL, 8, bytes(2)),
    "other flags in the local header": patched(ONE, _LOCAL, 6, struct.pack("<H", 0x800)),
    "a NUL in the name": ONE.replace(b"labels_Bora_1", b"labels_Bora\x001"),
    "a name that is no UTF-8 and says so": _both(6, 8, struct.pack("<H", 0x800)).replace(b"Bora_1", b"Bora\xff\xff"),
    "a unicode name that differs": _with_extra(_UNICODE),
    "two unicode names": _with_extra(_UNICODE * 2),
    "a damaged extra field": _with_extra(b"abc"),
    "an extra field longer than its header says": _with_extra(struct.pack("<HH", 0x9999, 9) + b"abc"),
    "64-bit sizes that are not asked for": _with_extra(struct.pack("<HHQQ", 1, 16, 5, 5) * 2),
    "a locator without its record": _zip64(locator_at=7),
    "a record of another length": _zip64(record_size=45),
    "64-bit counts that contradict": _zip64(entries=2, short=1),
    "64-bit counts beyond the directory": _zip64(entries=2),
    "fewer entries than listed": patched(TWO, _END, 8, struct.pack("<HH", 1, 1)),
    "more entries than listed": patched(ONE, _END, 8, struct.pack("<HH", 2, 2)),
    "another disk": patched(ONE, _END, 4, struct.pack("<H", 1)),
    "an entry on another disk": patched(ONE, _CENTRAL, 34, struct.pack("<H", 1)),
    "a directory that starts elsewhere": patched(ONE, _END, 16, struct.pack("<L", 1)),
    "a comment that is not there": patched(ONE, _END, 20, struct.pack("<H", 5)),
    "an end within the comment": _second_end_in_comment(),
    "an offset into the middle": patched(ONE, _CENTRAL, 42, struct.pack("<L", 7)),
    "a damaged directory": patched(ONE, _CENTRAL, 0, b"XX"),
    "a descriptor with another checksum": patched(streamed({NAME: RUN}), b"PK\x07\x08", 4, bytes(4)),
    "a descriptor with another size": patched(streamed({NAME: RUN}), b"PK\x07\x08", 12, bytes(4)),
    "stored data of another size": _both(22, 24, struct.pack("<L", len(RUN) + 1), STORED),
}

# Archives with problems that are found only by unpacking them in the confined child.
LYING: dict[str, bytes] = {
    "a wrong checksum": _both(14, 16, bytes(4)),
    "a stated size that is too small": _both(22, 24, struct.pack("<L", len(RUN) - 1)),
    "a stated size that is too large": _both(22, 24, struct.pack("<L", len(RUN) + 1)),
    "damaged data": ONE[:50] + bytes([ONE[50] ^ 0xFF]) + ONE[51:],
}


def _comment_on_the_entry() -> bytes:
    info = zipfile.ZipInfo(NAME)
    info.comment = b"note"
    return zipped({info: RUN})


def _appended() -> bytes:
    """Return an archive that was written in two steps."""
    file = io.BytesIO(ONE)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(OTHER, RUN)
    return file.getvalue()


ODD: dict[str, bytes] = {
    "stored": STORED,
    "packed twice as well": zipped({NAME: RUN}, zipfile.ZIP_DEFLATED),
    "sizes after the data": streamed({NAME: RUN}),
    "64-bit sizes after the data": streamed({NAME: RUN}, zip64=True),
    "a comment": _commented(b"made by hand"),
    "a comment that looks like an end": _commented(b"PK\x05\x06 but is short"),
    "a comment on the entry": _comment_on_the_entry(),
    "an unknown extra field": _with_extra(struct.pack("<HH", 0x9999, 3) + b"abc"),
    "64-bit records": _zip64(),
    "a Unix mode": zipped({of_kind(NAME, 0o100644): RUN}),
    "written in two goes": _appended(),
    "the UTF-8 flag on a plain name": _both(6, 8, struct.pack("<H", 0x800)),
    "a folder and its run": zipped({"runs/": b"", f"runs/{NAME}": RUN}),
    "what macOS adds": zipped({NAME: RUN, f"__MACOSX/._{NAME}": b"x", ".DS_Store": b"x"}),
    "a readme": zipped({NAME: RUN, "README.md": b"# ours"}),
}
