"""Limits on the size of uploads, and the allowed range of dates."""

from datetime import UTC, datetime

MEBIBYTE = 1024 * 1024

UPLOAD_BYTES = 64 * MEBIBYTE  # size of an uploaded file
RUN_BYTES = 256 * MEBIBYTE  # size of any run after unpacking
RUN_BYTES_FREE = 16 * MEBIBYTE  # bytes allowed in any run; the limit grows by BYTES_AN_ITEM for each item
BYTES_AN_ITEM = 1024  # for an item's labels, numbers and shares
CELL_BYTES = 128  # added for each class or column
SPANS_BYTES_AN_ITEM = 8192
DOCUMENT_BYTES = 128  # added for each document that a query may rank
# size of all runs in an archive after unpacking; the limit is lower if the runs have few items
ARCHIVE_BYTES = 512 * MEBIBYTE
ARCHIVE_BYTES_FREE = 64 * MEBIBYTE
ARCHIVE_RATIO = 50  # ratio of an entry's unpacked size to its packed size
# entries up to this size may have any ratio, as runs with a single label compress very well
RATIO_FREE_BYTES = MEBIBYTE
ARCHIVE_ENTRIES = 200
LOOK_ALIKE_BYTES = 4 * MEBIBYTE  # larger runs are not compared with other tracks and splits
INVALID_RUNS = 20  # invalid runs in an archive after which no more are read
INVALID_BYTES = 4 * MEBIBYTE  # bytes of invalid runs after which no more are read
NAMES = 20  # invalid names in an archive after which no more are analyzed
NAME_CHARACTERS = 150
KEPT_BYTES = 32 * MEBIBYTE  # answers of an archive's runs kept between check and score; larger ones are read again
FOLDER_ENTRIES = 1000  # entries in a zip of a task's folder
DEFINITION_BYTES = MEBIBYTE  # size of its task.yaml
PAGE_BYTES = MEBIBYTE // 16  # size of each page and of the agreement
PAGE_IMAGES = 200  # images on each page: the time to read Markdown grows with the square of their number
PARTS = 200  # tracks, phases, datasets and similar parts of a task
BASELINE_ROWS = 2000  # on all leaderboards together: phases × tracks × baselines
LINES = 5_000_000  # lines in any file; LINES and CELLS bound the memory for reading
CELLS = 20_000_000  # cells in any file, where a cell is the text between two separators
SPAN_CHARACTERS = 2**20  # characters in one span: no text is longer
MARKED_CHARACTERS = 20_000_000  # characters marked in a file in total: no test set has as many
ENTRIES_FREE = 100_000  # lines or objects allowed in any run
CELLS_FREE = 400_000  # cells or values allowed in any run
ENTRIES_AN_ITEM = 4  # further lines or objects allowed for each item
CELLS_AN_ITEM = 32  # further cells or values allowed for each item
SPANS_AN_ITEM = 200  # rows allowed for each item in a table of spans
OFFSETS_AN_ITEM = 2000
TOKENS_AN_ITEM = 400  # lines allowed for each sentence
TOKEN_BYTES = 64
LISTED = 20  # places that a problem lists; the problem also gives the number of further places
SHOWN = 80  # characters shown of a found value
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)  # first date that is too late
