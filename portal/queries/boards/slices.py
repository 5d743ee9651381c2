"""Scores by slice of the items, which a worker computes for the runs on a board, and names of slices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from portal.models import Board, Evaluation
from portal.queries.boards.columns import Column, columns
from portal.times_and_numbers import language_name
from scoring.definition import Track
from scoring.definition.slices import Slicing, shown_value
from scoring.items.slices import MANY, file_cells, slices_of
from scoring.items.texts import id_columns

Scores = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class SliceChoice:
    """A slice that a board can show. `items` is its number of gold items, or None before the scores are computed."""

    key: str  # such as language=es
    title: str  # title of the column
    value: str
    label: str
    items: int | None


@dataclass(frozen=True, slots=True)
class BySlice:
    """A board's scores by slice. Empty if the track has no slices, or if scores are shown in steps."""

    choices: Sequence[SliceChoice] = ()
    scores: Mapping[str, Any] = field(default_factory=dict)  # `scoring.analysis.slices.by_slice`, by evaluation
    gaps: Mapping[str, Any] = field(default_factory=dict)  # evaluation → name of a slicing → its gaps

    def of(self, chosen: SliceChoice) -> dict[int, Scores]:
        """Return each evaluation's scores in this slice."""
        found = self.scores.get(chosen.key.partition("=")[0], {}).get("scores", {})
        return {int(pk): scores[chosen.value] for pk, scores in found.items()}

    def choice(self, key: str) -> SliceChoice | None:
        return next((choice for choice in self.choices if choice.key == key), None)


def by_slice(board: Board) -> BySlice:
    """Return the board's scores by slice. If they are missing or outdated, only `choices` is filled."""
    track = board.track.definition_in(board.phase.split)
    if not track.slices:
        return BySlice()
    if board.comparison.get("slices_origin") == board.slices_origin and "slices" in board.comparison:
        made = board.comparison["slices"]
        choices = [
            _choice(track, name, value, made[name]["items"][value])
            for name in track.slices
            if name in made
            for value in sorted(made[name]["items"])
        ]
        return BySlice(choices, made, board.comparison.get("gaps", {}))
    known = ((name, _values(slicing, board.phase.split, id_columns(track))) for name, slicing in track.slices.items())
    return BySlice([_choice(track, name, value, None) for name, values in known for value in values])


@dataclass(frozen=True, slots=True)
class RunSlices:
    """A run's scores in the slices of one column."""

    title: str
    columns: list[Column]
    rows: list[tuple[str, int, list[float | None]]]  # slices, their numbers of items, and a value for each metric


def run_slices(evaluation: Evaluation) -> list[RunSlices]:
    """Return the run's scores by slice, in the order of the track's slices."""
    track = evaluation.run.track
    made, heads = evaluation.details.get("slices", {}), columns(track, evaluation.run.phase.split)
    return [
        RunSlices(slicing.title, heads, [_row(name, value, made[name], heads) for value in sorted(made[name]["items"])])
        for name, slicing in track.definition.slices.items()
        if name in made
    ]


def _row(
    name: str, value: str, made: Mapping[str, Any], heads: Sequence[Column]
) -> tuple[str, int, list[float | None]]:
    scores = made["scores"][value]
    return slice_label(name, value), made["items"][value], [scores.get(column.key) for column in heads]


def slice_label(name: str, value: str) -> str:
    """Return a slice's value as text, such as the name of a language."""
    return language_name(value) if name == "language" else shown_value(value)


def _choice(track: Track, name: str, value: str, items: int | None) -> SliceChoice:
    return SliceChoice(f"{name}={value}", track.slices[name].title, value, slice_label(name, value), items)


def _values(slicing: Slicing, split: str, ids: tuple[str, ...]) -> list[str]:
    """Return the slices that are publicly known: the files of a run, or the values in a public table.

    Slices defined in the gold are unknown until its scores have been computed.
    """
    if slicing.files:
        return list(slicing.files)
    table = slicing.items.get(split)
    found = [] if table is None else slices_of(_cells(table, ids, slicing.column), slicing)
    return found if 2 <= len(found) <= MANY else []


@lru_cache(maxsize=256)
def _cells(path: Path, ids: tuple[str, ...], column: str) -> list[str]:
    """Return the values in a file of an imported folder. They are cached because the file never changes."""
    return file_cells(path, ids, column)
