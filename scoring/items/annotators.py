"""The annotators of each item, for tracks whose runs have a prediction for each annotator of an item."""

from collections.abc import Iterable, Mapping

from scoring.definition import Track
from scoring.items.texts import TextsError, id_columns, read_texts

Annotators = Mapping[str, tuple[int, ...]]
"""Item id → the columns of the track's format that belong to its annotators, in the order of the values in a list."""


def read_annotators(track: Track, split: str) -> Annotators | None:
    """Read the annotators of each item. Return None if the track has no annotator table.

    Raises:
        TextsError: the table cannot be read, or names an annotator twice or one without a column.
    """
    if not track.annotators:
        return None
    if split not in track.annotators:
        raise TextsError(f"there is no annotator table for the split {split}")
    path, columns = track.annotators[split], tuple(track.format.options["columns"])
    places = {name: place for place, name in enumerate(columns)}
    found: dict[str, tuple[int, ...]] = {}
    for item, cell in read_texts(path, id_columns(track), "annotators", track.files_in(split)).items():
        names = [name.strip() for name in cell.split(",")] if cell.strip() else []
        if unknown := next((name for name in names if name not in places), None):
            raise TextsError(f"{path.name}: the annotator {unknown} of {item} is not one of the format's columns")
        if len(set(names)) < len(names):
            raise TextsError(f"{path.name}: an annotator of {item} appears twice")
        found[item] = tuple(places[name] for name in names)
    return found


def annotators_of(track: Track, split: str, items: Iterable[str]) -> Annotators | None:
    """Return the result of `read_annotators`, and require that it covers all items.

    Raises:
        TextsError: the table cannot be read, or lacks an item.
    """
    found = read_annotators(track, split)
    missing = None if found is None else next((item for item in items if item not in found), None)
    if missing is not None:
        raise TextsError(f"{track.annotators[split].name} has no row for {missing}")
    return found
