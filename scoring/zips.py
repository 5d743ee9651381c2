"""A strict zip reader that accepts only files that all programs read in the same way.

The standard library's reader trusts only the central directory: before Python 3.12.12 it reads overlapping entries, and
it never compares the local headers. In this reader, the entries (local header and data) must follow one another without
gaps from the first byte to the central directory. The local headers must agree with the directory, and the directory
must end where the file ends. Only stored and deflated data is unpacked, and never beyond the declared size.

Format: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 to 4.5.
"""

import struct
import zlib
from dataclasses import dataclass, replace
from typing import BinaryIO

LOCAL = struct.Struct("<4s5H3L2H")
CENTRAL = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
END64 = struct.Struct("<4sQ2H2L4Q")
LOCATOR64 = struct.Struct("<4sLQL")
LONGEST_COMMENT = 0xFFFF
DIRECTORY_BYTES_PER_ENTRY = 1024  # space for a header, a name and the usual extra fields

STORED, DEFLATED = 0, 8
ENCRYPTED, DESCRIPTOR, UTF8 = 0x1, 0x8, 0x800
STRONGLY_ENCRYPTED = 0x40 | 0x2000
NAME_EXTRA, SIZES_EXTRA = 0x7075, 0x0001
BEYOND_32_BITS = 0xFFFFFFFF


class BrokenZipError(Exception):
    """The file is not a zip, or programs could read it in different ways. The message explains why."""


class TooManyEntriesError(Exception):
    """The archive has more entries than allowed. The message is the number of entries."""


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """An entry of the central directory. `mode` is its Unix mode (0: not declared).

    `start` is the position of its data or, until the local header has been read, the position of that header.
    """

    raw_name: bytes
    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    start: int
    mode: int

    @property
    def is_encrypted(self) -> bool:
        return bool(self.flags & (ENCRYPTED | STRONGLY_ENCRYPTED))

    @property
    def path(self) -> str:
        """The name with slashes. Some Windows programs write backslashes, although the standard forbids them."""
        return self.name.replace("\\", "/")

    @property
    def is_folder(self) -> bool:
        return self.path.endswith("/")


@dataclass(frozen=True, slots=True)
class Directory:
    """The position of the central directory and its number of entries."""

    entries: int
    start: int
    end: int


def read_entries(file: BinaryIO, most_entries: int) -> list[ZipEntry]:
    """Read all entries, in the order of their data in the file.

    Raises:
        BrokenZipError: the structure of the file is inconsistent.
        TooManyEntriesError: the end record declares too many entries. This is detected before any entry is read.
    """
    directory = _find_directory(file, most_entries)
    headers = sorted(_read_directory(file, directory), key=lambda header: header.start)
    entries = []
    position = 0
    for header in headers:
        if header.start != position:
            raise BrokenZipError("its entries overlap or leave gaps")
        entry, position = _read_local(file, header)
        entries.append(entry)
    if position != directory.start:
        raise BrokenZipError("there is unexpected data between the entries and the central directory")
    return entries


def read_entry(file: BinaryIO, entry: ZipEntry) -> bytes:
    """Return an entry's content. `entry.size` limits the memory used.

    Raises:
        BrokenZipError: the data does not unpack to the declared size and checksum.
    """
    packed = _bytes_at(file, entry.start, entry.packed)
    data = packed
    if entry.method == DEFLATED:
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            data = unpacker.decompress(packed, entry.size + 1)
        except zlib.error:
            raise BrokenZipError(f"the data of {entry.name} is damaged") from None
        if len(data) <= entry.size and (not unpacker.eof or unpacker.unused_data):
            raise BrokenZipError(f"the data of {entry.name} does not end at the declared position")
    if len(data) != entry.size:
        raise BrokenZipError(f"the size of {entry.name} differs from its declared size")
    if zlib.crc32(data) != entry.crc:
        raise BrokenZipError(f"the checksum of {entry.name} is incorrect")
    return data


def _bytes_at(file: BinaryIO, start: int, count: int) -> bytes:
    if start < 0:
        raise BrokenZipError("it is truncated")
    file.seek(start)
    data = file.read(count)
    if len(data) != count:
        raise BrokenZipError("it is truncated")
    return data


def _find_directory(file: BinaryIO, most_entries: int) -> Directory:
    """Find the central directory, using the record at the end of the file."""
    length = file.seek(0, 2)
    tail_start = max(0, length - END.size - LONGEST_COMMENT)
    tail = _bytes_at(file, tail_start, length - tail_start)
    at = tail.rfind(b"PK\x05\x06")
    while at >= 0 and (len(tail) - at < END.size or END.unpack_from(tail, at)[7] != len(tail) - at - END.size):
        at = tail.rfind(b"PK\x05\x06", 0, at)
    if at < 0:
        raise BrokenZipError("the directory at its end is missing")
    _, disk, first_disk, entries_here, entries, size, start, _ = END.unpack_from(tail, at)
    end = tail_start + at
    locator = _bytes_at(file, end - LOCATOR64.size, LOCATOR64.size) if end >= LOCATOR64.size else b""
    if locator.startswith(b"PK\x06\x07"):
        end = LOCATOR64.unpack(locator)[2]
        if end + END64.size + LOCATOR64.size != tail_start + at:
            raise BrokenZipError("its 64-bit records are inconsistent")
        record = END64.unpack(_bytes_at(file, end, END64.size))
        short = (entries, size, start)
        signature, record_size, _, _, disk, first_disk, entries_here, entries, size, start = record
        full = ((entries, 0xFFFF), (size, BEYOND_32_BITS), (start, BEYOND_32_BITS))
        same = all(old in (new, limit) for old, (new, limit) in zip(short, full, strict=True))
        if signature != b"PK\x06\x06" or record_size != END64.size - 12 or not same:
            raise BrokenZipError("its 64-bit records are inconsistent")
    if disk or first_disk or entries_here != entries or start + size != end:
        raise BrokenZipError("its directory is not at the declared position")
    if entries > most_entries or size > most_entries * DIRECTORY_BYTES_PER_ENTRY:
        raise TooManyEntriesError(str(entries))
    return Directory(entries, start, end)


def _read_directory(file: BinaryIO, directory: Directory) -> list[ZipEntry]:
    data = _bytes_at(file, directory.start, directory.end - directory.start)
    headers: list[ZipEntry] = []
    at = 0
    while at < len(data):
        if len(data) - at < CENTRAL.size or not data.startswith(b"PK\x01\x02", at):
            raise BrokenZipError("its directory is damaged")
        fields = CENTRAL.unpack_from(data, at)
        _, _, _, flags, method, _, _, crc, packed, size, name_length, extra_length, comment_length, disk = fields[:14]
        at += CENTRAL.size
        raw_name, extra = data[at : at + name_length], data[at + name_length : at + name_length + extra_length]
        at += name_length + extra_length + comment_length
        if at > len(data) or disk:
            raise BrokenZipError("its directory is damaged")
        extras = _extras(extra)
        size, packed, start = _long_sizes(extras, size, packed, fields[16])
        name = _name(raw_name, flags, extras)
        headers.append(ZipEntry(raw_name, name, flags, method, crc, packed, size, start, fields[15] >> 16))
    if len(headers) != directory.entries:
        raise BrokenZipError("the length of its directory differs from its declared length")
    return headers


def _read_local(file: BinaryIO, header: ZipEntry) -> tuple[ZipEntry, int]:
    """Check the entry against its local header. Return it with the position where the next entry must begin."""
    fields = LOCAL.unpack(_bytes_at(file, header.start, LOCAL.size))
    signature, _, flags, method, _, _, crc, packed, size, name_length, extra_length = fields
    rest = _bytes_at(file, header.start + LOCAL.size, name_length + extra_length)
    extras = _extras(rest[name_length:])
    size, packed = _long_sizes(extras, size, packed)
    same = signature == b"PK\x03\x04" and (flags, method) == (header.flags, header.method)
    same &= rest[:name_length] == header.raw_name and _name(header.raw_name, flags, extras) == header.name
    stated, listed = (crc, packed, size), (header.crc, header.packed, header.size)
    if not same or (stated != listed and not (flags & DESCRIPTOR and set(stated) <= {0, *listed})):
        raise BrokenZipError(f"its headers disagree about the entry {header.name}")
    start = header.start + LOCAL.size + name_length + extra_length
    end = start + header.packed
    if flags & DESCRIPTOR:
        end += _descriptor_length(file, end, header)
    return replace(header, start=start), end


def _descriptor_length(file: BinaryIO, start: int, header: ZipEntry) -> int:
    """Return the length of the data descriptor, the record after the data. It has four possible layouts."""
    file.seek(start)
    data = file.read(24)
    for signature in (b"PK\x07\x08", b""):
        for layout in ("<LLL", "<LQQ"):
            try:
                record = signature + struct.pack(layout, header.crc, header.packed, header.size)
            except struct.error:
                continue
            if data.startswith(record):
                return len(record)
    raise BrokenZipError(f"its headers disagree about the entry {header.name}")


def _extras(data: bytes) -> dict[int, bytes]:
    """Return the extra fields by number."""
    extras: dict[int, bytes] = {}
    while data:
        if len(data) < 4:
            raise BrokenZipError("an extra field is damaged")
        number, length = struct.unpack_from("<HH", data)
        if len(data) < 4 + length or (number in extras and number in (NAME_EXTRA, SIZES_EXTRA)):
            raise BrokenZipError("an extra field is damaged")
        extras[number] = data[4 : 4 + length]
        data = data[4 + length :]
    return extras


def _long_sizes(extras: dict[int, bytes], *fields: int) -> list[int]:
    """Return the sizes, reading those that do not fit into 32 bits from the extra field."""
    data = extras.get(SIZES_EXTRA, b"")
    values = []
    for value in fields:
        if value == BEYOND_32_BITS:
            if len(data) < 8:
                raise BrokenZipError("a 64-bit size is missing")
            value, data = int.from_bytes(data[:8], "little"), data[8:]
        values.append(value)
    return values


def _name(raw: bytes, flags: int, extras: dict[int, bytes]) -> str:
    try:
        name = plain = raw.decode("utf-8" if flags & UTF8 else "cp437")
        if NAME_EXTRA in extras:
            version, crc = struct.unpack_from("<BL", extras[NAME_EXTRA])
            if version != 1 or crc != zlib.crc32(raw):
                raise BrokenZipError("an entry has two names")
            name = extras[NAME_EXTRA][5:].decode()
            if name != plain and raw.isascii():  # programs disagree about which of the two names to use
                raise BrokenZipError("an entry has two names")
    except (UnicodeDecodeError, struct.error):
        raise BrokenZipError("the name of an entry cannot be read") from None
    if not raw or "\0" in name:
        raise BrokenZipError("the name of an entry cannot be read")
    return name
