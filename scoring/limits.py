"""All limits on sizes of uploads, and the allowed range of times."""

from datetime import UTC, datetime

MEBIBYTE = 1024 * 1024

UPLOAD_BYTES = 64 * MEBIBYTE  # a file as uploaded
RUN_BYTES = 256 * MEBIBYTE  # any run after unpacking
RUN_BYTES_FREE = 16 * MEBIBYTE  # allowed for any run, plus these for each of its items:
BYTES_AN_ITEM = 1024  # of labels, numbers and shares
CELL_BYTES = 128  # for each class or column, in addition
SPANS_BYTES_AN_ITEM = 8192
DOCUMENT_BYTES = 128  # for each document that may be ranked for a query
ARCHIVE_BYTES = 512 * MEBIBYTE  # all runs of an archive after unpacking; less if the runs have few items
ARCHIVE_BYTES_FREE = 64 * MEBIBYTE
ARCHIVE_RATIO = 50  # unpacked to packed size of an entry
RATIO_FREE_BYTES = MEBIBYTE  # small entries may have any ratio, as runs of one label do
ARCHIVE_ENTRIES = 200
LOOK_ALIKE_BYTES = 4 * MEBIBYTE  # larger runs are not tried on another track or split
INVALID_RUNS = 20  # in an archive, after which no more are read
INVALID_BYTES = 4 * MEBIBYTE  # of such runs, after which no more are read
NAMES = 20  # invalid names in an archive, after which no more are analyzed
NAME_CHARACTERS = 150
KEPT_BYTES = 32 * MEBIBYTE  # of an archive's runs whose answers are kept between check and score; others are read again
FOLDER_ENTRIES = 1000  # in a task's folder as a zip
DEFINITION_BYTES = MEBIBYTE  # of its task.yaml
PAGE_BYTES = MEBIBYTE // 16  # of each page and of the agreement
PAGE_IMAGES = 200  # of each page: reading Markdown takes time with the square of their number
PARTS = 200  # tracks, phases, datasets and the like of a task
BASELINE_ROWS = 2000  # of all leaderboards: phases, times tracks, times baselines
LINES = 5_000_000  # in any file; these two bound the memory for reading
CELLS = 20_000_000  # in any file: what is between its separators
SPAN_CHARACTERS = 2**20  # in one span: no text is longer
MARKED_CHARACTERS = 20_000_000  # marked in a file in total; no test set has as many
ENTRIES_FREE = 100_000  # lines or objects in any run
CELLS_FREE = 400_000  # cells or values in any run
ENTRIES_AN_ITEM = 4  # more lines or objects for each item
CELLS_AN_ITEM = 32  # more cells or values for each item; of spans:
SPANS_AN_ITEM = 200  # rows of a table of spans
OFFSETS_AN_ITEM = 2000
TOKENS_AN_ITEM = 400  # lines of a sentence
TOKEN_BYTES = 64
LISTED = 20  # places listed by a problem, which says how many more there are
SHOWN = 80  # characters of a found value in a message
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)  # first time that is too late
