"""Scores by the language of the items, computed by a worker for the runs on a board."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from portal.models import Board
from scoring.items.texts import id_columns, read_texts

Scores = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class ByLanguage:
    """`items`: each language and its number of gold items; None until the scores are computed.

    Empty if all items have one language, or none.
    """

    items: Mapping[str, int | None] = field(default_factory=dict)
    scores: Mapping[str, Mapping[str, Scores]] = field(default_factory=dict)  # by evaluation and language

    def of(self, language: str) -> dict[int, Scores]:
        """The scores for that language, by evaluation."""
        return {int(pk): scores[language] for pk, scores in self.scores.items()}


def by_language(board: Board) -> ByLanguage:
    """Scores by the board's current gold, scorer and table, or none: never a mixture."""
    origin = board.language_origin
    if origin is None:
        return ByLanguage()
    if board.comparison.get("language_origin") == origin and "languages" in board.comparison:
        return ByLanguage(**board.comparison["languages"])
    track = board.track.definition
    known = _languages(track.item_languages[board.phase.split], id_columns(track))
    return ByLanguage(dict.fromkeys(known) if len(known) > 1 else {})


@lru_cache(maxsize=256)
def _languages(path: Path, ids: tuple[str, ...]) -> list[str]:
    """The languages of a table in an imported folder, which never changes."""
    return sorted({*read_texts(path, ids, "lang").values()} - {""})
