"""How large a track's runs can become: items × classes or columns, queries × documents. Scoring takes time for each."""

from collections.abc import Iterator

from scoring import limits
from scoring.definition import Track
from scoring.formats import answer_kind

OF_COLUMNS = ("labels", "soft", "table")
SEVERAL_TRACKS = "or divide the items among several tracks"


def errors_of_size(track: Track, items: int) -> Iterator[str]:
    """Yield a sentence for each limit that runs with this many items exceed. Stored definitions may exceed them."""
    kind, options = answer_kind(track), track.format.options
    columns = len(options.get("classes") or options.get("columns") or ()) if kind in OF_COLUMNS else 1
    depth = int(options.get("depth") or 1) if kind == "rankings" else 1
    if items > limits.ITEMS:
        yield f"{items:,} items; at most {limits.ITEMS:,} are allowed. Use fewer items, {SEVERAL_TRACKS}."
    if kind == "texts" and items > limits.TEXTS:
        yield f"{items:,} texts; at most {limits.TEXTS:,} are allowed. Use fewer items, {SEVERAL_TRACKS}."
    if items * columns > limits.VALUES:
        name = "classes" if options.get("classes") else "columns"
        yield (
            f"{items:,} items and {columns:,} {name} add up to {items * columns:,} values in each run; at most "
            f"{limits.VALUES:,} are allowed. Use fewer items or {name}, {SEVERAL_TRACKS}."
        )
    if items * depth > limits.RANKED:
        yield (
            f"{items:,} queries with up to {depth:,} documents each add up to {items * depth:,} documents in each run; "
            f"at most {limits.RANKED:,} are allowed. Set depth to {limits.RANKED // items:,} or less, {SEVERAL_TRACKS}."
        )
