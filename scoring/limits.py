"""Every size that an upload may have, in one place; and between which times all others are."""

from datetime import UTC, datetime

MEBIBYTE = 1024 * 1024

UPLOAD_BYTES = 64 * MEBIBYTE  # a file as it is sent
RUN_BYTES = 256 * MEBIBYTE  # any run once it is unpacked
RUN_BYTES_FREE = 16 * MEBIBYTE  # any run may have as much, and more for each of its items:
BYTES_AN_ITEM = 1024  # of labels, numbers and shares
CELL_BYTES = 128  # for each class or column, on top
SPANS_BYTES_AN_ITEM = 8192
DOCUMENT_BYTES = 128  # for each document that may be ranked for a query
ARCHIVE_BYTES = 512 * MEBIBYTE  # all runs of an archive once they are unpacked; for runs with few items it is less
ARCHIVE_BYTES_FREE = 64 * MEBIBYTE
ARCHIVE_RATIO = 50  # unpacked to packed size of an entry
RATIO_FREE_BYTES = MEBIBYTE  # small entries may shrink as well as they can: a run of one label does
ARCHIVE_ENTRIES = 200
LOOK_ALIKE_BYTES = 4 * MEBIBYTE  # a larger run is not tried on another track or split
INVALID_RUNS = 20  # of an archive, after which no more are read
INVALID_BYTES = 4 * MEBIBYTE  # of such runs, after which no more are read
NAMES = 20  # of an archive that break the rules, after which no more are analyzed
NAME_CHARACTERS = 150
KEPT_BYTES = 32 * MEBIBYTE  # of an archive's runs: their answers are kept between check and score, others read again
FOLDER_ENTRIES = 1000  # of a task's folder that comes as a zip
DEFINITION_BYTES = MEBIBYTE  # of a task.yaml in it
PAGE_BYTES = MEBIBYTE // 4  # of each page and of the agreement
LINES = 5_000_000  # of any file; these two bound the memory that reading takes
CELLS = 20_000_000  # of any file: what is between its separators
SPAN_CHARACTERS = 2**20  # of one span: no text is longer
MARKED_CHARACTERS = 20_000_000  # that a file marks in all; no test set has as many
ENTRIES_FREE = 100_000  # lines or objects of any run
CELLS_FREE = 400_000  # cells or values of any run
ENTRIES_AN_ITEM = 4  # more lines or objects for each item
CELLS_AN_ITEM = 32  # more cells or values for each item; of spans:
SPANS_AN_ITEM = 200  # rows of a table of spans
OFFSETS_AN_ITEM = 2000
TOKENS_AN_ITEM = 400  # lines of a sentence
TOKEN_BYTES = 64
LISTED = 20  # places that a problem lists; it says how many more there are
SHOWN = 80  # characters of a found value that a message repeats
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)  # this and what is later is too late
