"""Every size that an upload may have, in one place."""

MEBIBYTE = 1024 * 1024

UPLOAD_BYTES = 64 * MEBIBYTE  # a file as it is sent
RUN_BYTES = 256 * MEBIBYTE  # a run once it is unpacked
ARCHIVE_BYTES = 512 * MEBIBYTE  # all runs of an archive once they are unpacked
ARCHIVE_RATIO = 50  # unpacked to packed size of an entry
RATIO_FREE_BYTES = MEBIBYTE  # small entries may shrink as well as they can: a run of one label does
ARCHIVE_ENTRIES = 200
LOOK_ALIKE_BYTES = 4 * MEBIBYTE  # a larger run is not tried on the other tracks
NAME_CHARACTERS = 150
LINES = 5_000_000  # of a run, and CELLS that are cut out of it: what memory for it is bounded by
CELLS = 20_000_000
SPAN_CHARACTERS = 2**20  # of one span: no text is longer
MARKED_CHARACTERS = 20_000_000  # that a file marks in all; no test set has as many
LISTED = 20  # places that a problem lists; it says the total beside them
SHOWN = 80  # characters of a found value that a message repeats
