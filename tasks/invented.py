"""Synthetic runs.

Each answer is either the item's gold answer or, to simulate an error, the gold answer of a random item.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import numpy as np

from scoring import Definition, load_definition
from scoring.answers import Answers, Matrix, Spans
from scoring.check import find_items
from scoring.formats import write_run
from scoring.reports.problems import Report
from scoring.score import load_gold
from scoring.uploads.naming import example, example_archive

_SPREAD = 0.04  # standard deviation of a team's skill across tracks


def invented_archive(
    shared_task: Path, split: str, team: str, number: int, skill: float, rng: np.random.Generator, folder: Path
) -> Path:
    """Write a zip with a validly named run by the team for every track with a gold standard, and return its path.

    `shared_task` is a complete folder from `build`.
    """
    definition = _definition(shared_task)
    archive = folder / (example_archive(definition, team) or f"{team}_{number}.zip")
    with ZipFile(archive, "w") as packed, TemporaryDirectory() as drafts:
        for source in definition.gold:
            if source.split != split:
                continue
            track = definition.track(source.track)
            items = find_items(track, None, split, Report())
            assert items is not None, "the folder is complete"
            gold = _gold(shared_task, track.slug, split)
            right = float(np.clip(skill + _SPREAD * rng.standard_normal(), 0, 1))
            run = Path(drafts) / (example(definition, track.slug, team, number) or f"{track.slug}.txt")
            write_run(track, invented_run(gold, [*items.ids, *items.optional], right, rng), run)
            packed.write(run, run.name)
    return archive


@lru_cache(maxsize=1)
def _definition(shared_task: Path) -> Definition:
    """Return the definition. It is cached, because every team's runs need it, as they need the gold standard."""
    return load_definition(shared_task)


@lru_cache(maxsize=32)
def _gold(shared_task: Path, track: str, split: str) -> Answers:
    definition = _definition(shared_task)
    source = next(gold for gold in definition.gold if (gold.track, gold.split) == (track, split))
    return load_gold(definition, track, source.file, split).answers


def invented_run(gold: Answers, ids: Sequence[str], skill: float, rng: np.random.Generator) -> Matrix | Spans:
    """Return answers for `ids`, each correct with probability `skill`.

    For weights, correct and incorrect answers are mixed in this proportion.

    An incorrect answer is the gold answer to a random item, so incorrect answers are valid and distributed as in the
    gold standard. Items without gold also get an answer.
    """
    places = {item: place for place, item in enumerate(gold.ids)}
    drawn = rng.integers(len(gold.ids), size=len(ids))
    own = np.array([places.get(item, place) for item, place in zip(ids, drawn.tolist(), strict=True)])
    rows = np.where(rng.random(len(ids)) < skill, own, drawn)
    if isinstance(gold, Spans):
        parts = [np.arange(gold.starts[row], gold.starts[row + 1]) for row in rows]
        drawn_spans = np.concatenate(parts)
        starts = np.cumsum([0, *map(len, parts)])
        return Spans(list(ids), gold.begins[drawn_spans], gold.ends[drawn_spans], starts)
    if not isinstance(gold, Matrix):
        raise TypeError("rankings are not invented")
    if gold.values.dtype.kind == "f":
        return Matrix(list(ids), gold.columns, skill * gold.values[own] + (1 - skill) * gold.values[drawn])
    return Matrix(list(ids), gold.columns, gold.values[rows])
