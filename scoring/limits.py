"""Limits on the size of uploads, and the allowed range of dates."""

from datetime import UTC, datetime

MEBIBYTE = 1024 * 1024

UPLOAD_BYTES = 64 * MEBIBYTE  # size of an uploaded file
RUN_BYTES = 256 * MEBIBYTE  # size of any run after unpacking
RUN_BYTES_FREE = 16 * MEBIBYTE  # bytes allowed in any run; the limit grows by BYTES_AN_ITEM for each item
BYTES_AN_ITEM = 1024  # bytes allowed for an item's labels, numbers and shares
CELL_BYTES = 128  # bytes allowed for each cell (an item's value for one class or column) or annotation line
SPANS_BYTES_AN_ITEM = 8192
DOCUMENT_BYTES = 128  # bytes allowed for each document that a query may rank
# Total size of the runs in an archive after unpacking. The limit is lower if the runs have few items.
ARCHIVE_BYTES = 512 * MEBIBYTE
ARCHIVE_BYTES_FREE = 64 * MEBIBYTE
ARCHIVE_RATIO = 50  # maximum ratio of an entry's unpacked size to its packed size
# Entries up to this size may have any ratio, because runs with a single label compress very well.
RATIO_FREE_BYTES = MEBIBYTE
ARCHIVE_ENTRIES = 200  # entries allowed in any archive; more are allowed if a task's names allow more files
ENTRIES_A_FILE = 3  # entries for each file that a task's names allow: the file, a folder, and the file that macOS adds
ARCHIVE_ENTRIES_MOST = 2000  # maximum number of entries for any task
DOCUMENTS = 10_000  # entries in a zip that holds one run, with a file for each item
LOOK_ALIKE_BYTES = 4 * MEBIBYTE  # larger runs are not checked against other tracks and splits
INVALID_RUNS = 20  # after this many invalid runs in an archive, no more runs are read
UNNAMED_RUNS = 5  # files whose names say no track, in an upload, that are checked for the track that their content fits
UNNAMED_TRACKS = 20  # tracks that such a file is compared with
INVALID_BYTES = 4 * MEBIBYTE  # after this many bytes of invalid runs, no more runs are read
NAMES = 20  # after this many invalid names in an archive, no more names are analyzed
NAME_CHARACTERS = 150
KEPT_BYTES = 32 * MEBIBYTE  # answers kept in memory between checking an archive and scoring it; others are read again
FOLDER_ENTRIES = 1000  # entries in a zip of a task's folder
DEFINITION_BYTES = MEBIBYTE  # size of the folder's task.yaml
DEFINITION_VALUES = 30_000  # keys and values in task.yaml
DEFINITION_CHARACTERS = 10_000  # characters in each of them
PATTERN_CHARACTERS = 300  # characters in a pattern for file names
PATH_CHARACTERS = 1000  # characters in the path of a file
DEFINITION_PROBLEMS = 30  # problems of a definition that are listed; finding suggestions for them takes time
DEFINITION_DEPTH = 100  # levels of nested lists and mappings; reading YAML takes time quadratic in this number
PAGE_BYTES = MEBIBYTE // 16  # size of each page and of the agreement
PAGE_IMAGES = 200  # images on each page; parsing Markdown takes time proportional to the square of their number
RUN_FIELDS = 10  # run fields in a task; each one is a column on leaderboards
RUN_FIELD_CHARACTERS = 120  # characters in the text of a run field
EXAMPLES = 50  # example items of a track
COMBINED_LEVELS = 3  # levels of combined scores: a score of metrics, a score of such scores, and one more
COMBINED_SCORES = 200  # combined scores in a track
COMBINED_METRICS = 200  # metrics in a combined score with other combined scores among its parts
ENTRIES = 200  # entries in each list or mapping of task.yaml that has no other limit
METRICS = 200  # metrics in a track
METRICS_IN_TOTAL = 2000  # metrics in all tracks of a task together, with the parts of combined scores
CLASSES = 5000  # classes, columns or similar names of a format or hierarchy
HIERARCHY_LEVELS = 50  # levels of classes; metrics take a step for each level
ITEMS = 250_000  # items of a split
TEXTS = 100_000  # items of a split whose answers are texts; scoring each text takes as long as a hundred letters
VALUES = 2_000_000  # items × classes or columns: answers in a run
RANKED = 500_000  # queries × depth: documents in a run
RUN_NUMBERS = 1000  # run numbers that a task can list
RUN_NAMES = 5000  # run numbers × tracks and files; names that are not valid are compared with all valid ones
UNREACHABLE_TRACKS = 20  # tracks that no file name leads to, which are listed; finding each one takes many names
QUESTIONS = 50  # questions to new teams
CHOICES = 300  # answers to choose from, for example all countries
DOMAINS = 1000  # email domains whose teams are approved immediately
BOARDS = 1000  # leaderboards: phases × tracks; some pages take a few milliseconds for each
BASELINE_ROWS = 2000  # baseline rows on all leaderboards together: phases × tracks × baselines
LINES = 5_000_000  # lines in any file; LINES and CELLS bound the memory needed for reading
CELLS = 20_000_000  # cells in any file, where a cell is the text between two separators
SPAN_CHARACTERS = 2**20  # characters in one span; no text is longer
MARKED_CHARACTERS = 20_000_000  # characters marked in a file in total; no test set has that many
ENTRIES_FREE = 100_000  # lines or objects allowed in any run
CELLS_FREE = 400_000  # cells or values allowed in any run
ENTRIES_AN_ITEM = 4  # additional lines or objects allowed for each item
CELLS_AN_ITEM = 32  # additional cells or values allowed for each item
SPANS_AN_ITEM = 200  # rows allowed for each item in a table of spans
TYPED_SPANS_AN_ITEM = 50  # spans allowed for each item, in addition to ENTRIES_FREE
OVERLAPPING_SPANS = 10  # typed spans that may overlap at one position; matching them takes a step for each overlap
ANNOTATIONS_AN_ITEM = 50  # lines allowed for each document in standoff format
OFFSETS_AN_ITEM = 2000
TOKENS_AN_ITEM = 400  # lines allowed for each sentence
TOKEN_BYTES = 64
LISTED = 20  # maximum number of places that a problem lists, followed by the number of other places
SHOWN = 80  # maximum number of characters of an invalid value that a problem shows
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)  # first date that is not allowed
SCORER_BYTES = MEBIBYTE  # size of all files of an organizer's own scorer together
SCORER_FILES = 200  # files of an own scorer
SCORER_COLUMNS = 50  # columns of an own scorer
SCORER_SECONDS = 15  # maximum time for a run that a task can allow its own scorer
SCORER_MEMORY = 2048  # maximum memory in MiB
SCORES_BYTES = 65_536  # bytes of the scores that an own scorer writes for a run
SCORER_MESSAGES = 16_384  # bytes of what an own scorer prints that are kept, counted from the end
