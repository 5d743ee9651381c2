"""Scores of several runs against a gold standard that is loaded once."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.commands import by_name
from scoring.definition import Definition
from scoring.score import Result, load_gold, score
from scoring.task_folder.reader import load_definition

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Scores(Mapping[str, Result]):
    """The results of several runs by name."""

    results: dict[str, Result]

    def __getitem__(self, name: str) -> Result:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row per run with a column per metric (`agon.frames.scores`)."""
        from agon import frames  # noqa: PLC0415 - requires pandas, an extra

        return frames.scores(self.results)


def score_many(
    runs: Mapping[str, str | Path] | Iterable[str | Path],
    *,
    task: str | Path | Definition,
    track: str,
    gold: str | Path,
    items: str | Path | None = None,
    split: str = "test",
    lenient: bool = False,
) -> Scores:
    """Score several run files, as `agon score` does for one.

    Each run is named after its file or, if `runs` is a mapping, by its key.

    `task` is the folder with the task's rules, or the result of `scoring.load_definition`.

    Raises:
        DefinitionError: the task's rules have errors.
        GoldError: the gold standard cannot be used.
    """
    definition = task if isinstance(task, Definition) else load_definition(Path(task))
    named = runs if isinstance(runs, Mapping) else by_name(list(map(Path, runs)))
    files = {name: Path(path) for name, path in named.items()}
    ids = Path(items) if items is not None else None
    standard = load_gold(definition, track, Path(gold), split, ids)
    return Scores({name: score(definition, track, path, standard, ids, lenient, split) for name, path in files.items()})
