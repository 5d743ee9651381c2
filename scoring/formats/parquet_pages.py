"""The pages of a Parquet file: their sizes after unpacking, read before anything is unpacked.

A page of a few bytes can claim to unpack to gigabytes, and libraries allocate what it claims. The description of a file
and the headers of its pages are structs in Thrift's compact protocol: https://parquet.apache.org/docs/file-format/
"""

from collections.abc import Collection, Iterator
from typing import Any

_TRUE, _FALSE, _BYTE, _INT16, _INT32, _INT64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = *range(1, 11), 12
# Fields of the structs FileMetaData, RowGroup, ColumnChunk, ColumnMetaData and PageHeader. Fields of other types are
# not these fields: Thrift skips them.
_ROW_GROUPS, _ENCRYPTION, _COLUMNS, _METADATA = (4, _LIST), (8, _STRUCT), (1, _LIST), (3, _STRUCT)
_PACKED_COLUMN, _DATA, _DICTIONARY = (7, _INT64), (9, _INT64), (11, _INT64)
_UNPACKED, _PACKED = (2, _INT32), (3, _INT32)
_ENCODINGS = ((5, _STRUCT), (2, _INT32)), ((8, _STRUCT), (4, _INT32))  # in the headers of data pages, by version

# With these encodings of texts, a page's size does not limit what it decodes to: it can claim any number of lengths (6)
# or repeat the start of the previous text (7).
_UNLIMITED = {6: "DELTA_LENGTH_BYTE_ARRAY", 7: "DELTA_BYTE_ARRAY"}

_LAST_FIELD = 2**15 - 1
_DEEPEST = 8  # structs within structs
_LONGEST = 10  # bytes of an integer

Struct = dict[tuple[int, int], Any]  # values by number and type of field


class BrokenPageError(ValueError):
    """The description of a file or page cannot be read."""


def is_encrypted(data: bytes) -> bool:
    """Return whether a file declares a method of encryption. pyarrow cannot write the description of such a file.

    Raises:
        BrokenPageError: the description cannot be read.
    """
    return _ENCRYPTION in _description(data)


def column_chunks(description: bytes, columns: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield the start and end position of each of these columns in each row group.

    `description` is the end of a file, as pyarrow writes it. Columns are counted from 0 in the order of the schema, as
    in pyarrow: each row group repeats their names, which need not be the same.

    Raises:
        BrokenPageError: the description cannot be read.
    """
    try:
        for group in _description(description).get(_ROW_GROUPS, []):
            for column in columns:
                metadata = group[_COLUMNS][column][_METADATA]
                start = min(metadata[_DATA], metadata.get(_DICTIONARY) or metadata[_DATA])
                yield start, start + metadata[_PACKED_COLUMN]
    except (LookupError, TypeError):  # values of other types
        raise BrokenPageError("its metadata is invalid") from None


def _description(data: bytes) -> Struct:
    size = int.from_bytes(data[-8:-4], "little")
    end = len(data) - 8
    return _Reader(data, end - size, end).struct()


def page_sizes(data: bytes, start: int, end: int) -> Iterator[int]:
    """Yield the size after unpacking of each page between two positions in a file.

    Raises:
        BrokenPageError: the positions are outside the file, a header cannot be read, a page ends beyond `end`, or its
            size does not limit what it decodes to.
    """
    if not 0 <= start <= end <= len(data):
        raise BrokenPageError("a column begins or ends outside the file")
    while start < end:
        header = _Reader(data, start, end)
        fields = header.struct()
        unpacked, packed = fields.get(_UNPACKED), fields.get(_PACKED)
        if unpacked is None or packed is None or min(unpacked, packed) < 0:
            raise BrokenPageError("a page has no valid size")
        start = header.at + packed
        if start > end:
            raise BrokenPageError("a page ends outside its column")
        for version, encoding in _ENCODINGS:
            if name := _UNLIMITED.get(fields.get(version, {}).get(encoding)):
                raise BrokenPageError(
                    f"its columns have the encoding {name}; write them with dictionary or plain encoding"
                )
        yield unpacked


class _Reader:
    """A reader for structs. `at` is the position of the next byte."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data, self.at, self._end = data, at, end
        if at < 0:
            raise BrokenPageError("its metadata is incomplete")

    def struct(self, depth: int = 0) -> Struct:
        """Return a struct's values. Repeated fields are errors, because Thrift merges some of them."""
        if depth > _DEEPEST:
            raise BrokenPageError("its metadata is nested too deeply")
        found: Struct = {}
        fields = set()
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._integer()
            if field in fields or not 0 <= field <= _LAST_FIELD:
                raise BrokenPageError("its metadata has a repeated or invalid field")
            fields.add(field)
            kind = head & 15
            found[field, kind] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_INT16, _INT32, _INT64):
            return self._integer()
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind not in (_LIST, _SET):  # there are no maps in these structs
            raise BrokenPageError("its metadata has a field of an unknown type")
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._unsigned()
        if count > self._end - self.at:  # each entry has at least a byte
            raise BrokenPageError("its metadata is incomplete")
        return [self._value(head & 15, depth + 1) for _ in range(count)]

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        self.at += count
        if self.at > self._end:
            raise BrokenPageError("its metadata is incomplete")
        return self._data[self.at - count : self.at]

    def _unsigned(self) -> int:
        value = 0
        for place in range(_LONGEST):
            byte = self._byte()
            value |= (byte & 127) << (7 * place)
            if byte < 128:
                return value
        raise BrokenPageError("its metadata has a number that is too long")

    def _integer(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
