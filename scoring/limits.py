"""Every size that an upload may have, in one place."""

MEBIBYTE = 1024 * 1024

UPLOAD_BYTES = 64 * MEBIBYTE  # a file as it is sent
RUN_BYTES = 256 * MEBIBYTE  # any run once it is unpacked
RUN_BYTES_FREE = 16 * MEBIBYTE  # a run may have so much whatever its items are, and so much more for each item
BYTES_AN_ITEM = 1024
CELL_BYTES = 128  # of a class or column, which may come on top for each item
SPANS_BYTES_AN_ITEM = 8192
DOCUMENT_BYTES = 128
ARCHIVE_BYTES = 512 * MEBIBYTE  # all runs of an archive once they are unpacked; for runs with few items it is less
ARCHIVE_BYTES_FREE = 64 * MEBIBYTE
ARCHIVE_RATIO = 50  # unpacked to packed size of an entry
RATIO_FREE_BYTES = MEBIBYTE  # small entries may shrink as well as they can: a run of one label does
ARCHIVE_ENTRIES = 200
LOOK_ALIKE_BYTES = 4 * MEBIBYTE  # a larger run is not tried on another track or split
INVALID_RUNS = 20  # of an archive, after which no more are read, and their bytes
INVALID_BYTES = 4 * MEBIBYTE
NAMES = 20  # of an archive that break the rules, after which no more are analysed
NAME_CHARACTERS = 150
LINES = 5_000_000  # of any file, and CELLS that are cut out of it: what memory for it is bounded by
CELLS = 20_000_000
SPAN_CHARACTERS = 2**20  # of one span: no text is longer
MARKED_CHARACTERS = 20_000_000  # that a file marks in all; no test set has as many
ENTRIES_FREE = 100_000  # lines or objects that a run may have whatever its items are, and cells or values
CELLS_FREE = 400_000
ENTRIES_AN_ITEM = 4  # and so many more for each item
CELLS_AN_ITEM = 32
SPANS_AN_ITEM = 200  # rows of a table of spans
OFFSETS_AN_ITEM = 500
LISTED = 20  # places that a problem lists; it says the total beside them
SHOWN = 80  # characters of a found value that a message repeats
