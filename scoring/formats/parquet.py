"""Tables in Parquet files: the cells of their columns as text, so that all checks of tables apply.

Files are read with pyarrow, which is an extra. Before it unpacks anything, this module checks that the unpacked size is
within limits. Lines in reports are rows, counted from 1.
"""

import io
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from scoring.extras import load
from scoring.formats.delimited import Rows, find_columns
from scoring.formats.parquet_pages import BrokenPageError, column_chunks, is_encrypted, page_sizes
from scoring.formats.reading import Reading, are_too_many, shown
from scoring.limits import MEBIBYTE
from scoring.reports.problems import Report

MARK = b"PAR1"
FOOTER_BYTES = MEBIBYTE // 4  # description of all columns and row groups
# The pages of the needed columns after unpacking. The limit grows by ENTRY_BYTES for each row that a run may have.
UNPACKED_BYTES = 32 * MEBIBYTE
ENTRY_BYTES = 64
TEXT_CHARACTERS = 128 * MEBIBYTE  # in all cells of a column; a dictionary can repeat a long cell many times
PAGES = 20_000  # pages of the needed columns
_INDEX = re.compile("__index_level_[0-9]+__")  # columns of row numbers, which pandas adds
# For files of parquet-mr before 1.2.9, pyarrow also reads the 100 bytes after a column, which could hide a page.
_OLD_WRITER = re.compile(r"(?=.*parquet-mr)(?!parquet-mr version (1\.([3-9]|[1-9]\d)|[2-9]\.\d+)\.\d)", re.I | re.S)
_BATCH = 65_536  # rows read at once
_LARGEST = 2.0**53  # larger floating-point numbers are not shown as integers


class _BrokenFileError(Exception):
    """The file cannot be read. The message says why, and is shown in the report."""


def read_parquet(
    data: bytes, options: Mapping[str, Any], columns: Sequence[str], reading: Reading, dispensable: Collection[str]
) -> tuple[Rows, dict[str, int]] | None:
    """Return the rows with the id columns and the given columns, and the columns' indexes.

    If there is a problem, report it and return None. The arguments are those of `layout.read_table`.

    Raises:
        ImportError: pyarrow is missing. The message says how to install it.
    """
    try:
        file = _opened(data)
        names = _names(file, (*options["id"], *columns), options, reading, dispensable)
        rows = file.metadata.num_rows
        if names is None or not _has_rows(rows, len(names), reading):
            return None
        if not _have_cells([file.schema_arrow.field(name) for name in names.values()], reading.report):
            return None
        _limit_pages(data, file, {*names.values()}, UNPACKED_BYTES + ENTRY_BYTES * reading.most_entries)
        cells: list[str] = [""] * (rows * len(names))
        for place, name in enumerate(names.values()):
            cells[place :: len(names)] = _column(file, name, rows)
    except _BrokenFileError as error:
        reading.report.error("parquet-unreadable", found=str(error))
        return None
    return Rows(cells, len(names), range(1, rows + 1)), {name: place for place, name in enumerate(names)}


def _names(
    file: Any, needed: Sequence[str], options: Mapping[str, Any], reading: Reading, dispensable: Collection[str]
) -> dict[str, str] | None:
    """Map the needed columns to their names in the file. If a column is missing, report it and return None."""
    given = [name for name in file.schema_arrow.names if not _INDEX.fullmatch(name)]
    if not given:
        raise _BrokenFileError("it has no columns")
    header = [options["aliases"].get(name, name) for name in given]
    known = set(header)
    wanted = [name for name in needed if name in known or name not in dispensable]
    own = Report(listed=reading.report.listed)
    places = find_columns(header, wanted, ",", options["extra_columns"], replace(reading, report=own))
    reading.report.problems += [replace(problem, line=None) for problem in own]  # there is no first line
    return None if places is None else {name: given[place] for name, place in places.items()}


def _has_rows(rows: int, columns: int, reading: Reading) -> bool:
    """Return whether there is at least one row, but not too many. Otherwise, report an error."""
    if not rows:
        reading.report.error("no-rows", expected=str(len(reading.items)) if reading.items else None)
    too_many = are_too_many(rows, reading.most_entries, reading.report)
    return rows > 0 and not too_many and not are_too_many(rows * columns, reading.most_cells, reading.report)


def write_parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return a file with these columns. Empty strings become missing values."""
    body = io.BytesIO()
    table = {name: [None if cell == "" else cell for cell in cells] for name, cells in columns.items()}
    _library().write_table(_arrow().table(table), body)
    return body.getvalue()


def _arrow() -> Any:
    _library()
    import pyarrow  # noqa: PLC0415 - an extra, which `_library` has loaded

    return pyarrow


def _library() -> Any:
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # others reserve gigabytes of address space
    return load("pyarrow.parquet", "Parquet files require")  # imported here so that only tasks with such files load it


def _opened(data: bytes) -> Any:
    if not (data.startswith(MARK) and data.endswith(MARK)) or len(data) < 3 * len(MARK):
        raise _BrokenFileError("it is not a complete Parquet file")
    if int.from_bytes(data[-8:-4], "little") > FOOTER_BYTES:
        raise _BrokenFileError(f"its metadata is larger than {FOOTER_BYTES:,} bytes")
    library, arrow = _library(), _arrow()
    limits = {"thrift_string_size_limit": FOOTER_BYTES, "thrift_container_size_limit": FOOTER_BYTES}
    with _errors_reported():
        file = library.ParquetFile(arrow.BufferReader(data), pre_buffer=False, **limits)
        texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
        return library.ParquetFile(arrow.BufferReader(data), pre_buffer=False, read_dictionary=texts, **limits)


@contextmanager
def _errors_reported() -> Iterator[None]:
    """Turn pyarrow's errors into `_BrokenFileError`."""
    try:
        yield
    except MemoryError:
        raise
    except (_arrow().ArrowException, OSError, ValueError, NotImplementedError) as error:
        raise _BrokenFileError(shown(str(error))) from None


def _is_text(kind: Any) -> bool:
    types = _arrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _have_cells(fields: Sequence[Any], report: Report) -> bool:
    """Return whether all columns contain text or numbers, and report those that do not."""
    types = _arrow().types
    tests = (_is_text, types.is_boolean, types.is_integer, types.is_floating, types.is_null)
    wrong = [field for field in fields if not any(test(field.type) for test in tests)]
    if wrong:
        places = tuple(f"{shown(field.name)}: {shown(str(field.type))}" for field in wrong[: report.listed])
        report.error("parquet-column-type", places=places, count=len(wrong))
    return not wrong


def _limit_pages(data: bytes, file: Any, names: Collection[str], most: int) -> None:
    """Check that the pages of these columns unpack to no more than `most` bytes.

    To find them, write the description of the columns as pyarrow has understood it: `row_group(…).column(…)` in pyarrow
    ends the process if a file's statistics are invalid.

    Raises:
        _BrokenFileError: they unpack to more, or a page header cannot be read.
    """
    pages = total = 0
    description = _arrow().BufferOutputStream()
    try:
        if is_encrypted(data):
            raise _BrokenFileError("it is encrypted")
        with _errors_reported():
            writer = file.metadata.created_by or ""
            file.metadata.write_metadata_file(description)
            columns = [place for place in range(len(file.schema)) if file.schema.column(place).path in names]
        if _OLD_WRITER.match(writer):
            raise _BrokenFileError("it was written with parquet-mr before version 1.3; write it with a newer version")
        for start, end in column_chunks(description.getvalue().to_pybytes(), columns):
            for size in page_sizes(data, start, end):
                pages, total = pages + 1, total + size
                if total > most:
                    raise _BrokenFileError(f"its columns unpack to more than {most:,} bytes")
                if pages > PAGES:
                    raise _BrokenFileError(f"its columns have more than {PAGES:,} pages")
    except BrokenPageError as error:
        raise _BrokenFileError(str(error)) from None


def _column(file: Any, name: str, rows: int) -> list[str]:
    """Return a column's cells as text."""
    found: list[str] = []
    characters = 0
    with _errors_reported():
        for batch in file.iter_batches(batch_size=_BATCH, columns=[name], use_threads=False):
            batch.validate(full=True)
            cells = _texts(batch.column(0))
            characters += sum(map(len, cells))
            found += cells
            if characters > TEXT_CHARACTERS:
                raise _BrokenFileError(f"a column has more than {TEXT_CHARACTERS:,} characters")
    if len(found) != rows:
        raise _BrokenFileError("it has fewer rows than it declares")
    return found


def _texts(column: Any) -> list[str]:
    """Return cells as text: empty for missing values, and 1 and 0 for true and false."""
    types = _arrow().types
    if types.is_dictionary(column.type):
        known = np.array([*map(str, column.dictionary.to_pylist()), ""], object)
        return list(known[column.indices.fill_null(len(known) - 1).to_numpy()])
    values = column.to_pylist()
    if types.is_floating(column.type):
        return [_number(value) for value in values]
    if types.is_boolean(column.type):
        return ["" if value is None else str(int(value)) for value in values]
    return ["" if value is None else str(value) for value in values]


def _number(value: float | None) -> str:
    """Return a number, without a decimal point if it is whole. NaN is a missing value, as in pandas."""
    if value is None or value != value:
        return ""
    return str(int(value)) if abs(value) < _LARGEST and value.is_integer() else repr(value)
