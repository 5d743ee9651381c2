"""Data for the scoring benchmark: synthetic EXIST 2024 with noisy runs on its 2,076 test tweets, and larger data."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scoring import Definition, load_definition
from tasks import build

TRACKS = ("task1-hard", "task1-soft", "task2-hard", "task2-soft", "task3-hard", "task3-soft")
METRICS = {"hard": ("ICM", "ICMNorm", "FMeasure"), "soft": ("ICMSoft", "ICMSoftNorm", "CrossEntropy")}
_WRONG = 0.3  # probability that an item gets random labels
_DIGITS = 6  # decimals of a soft label, as models print them; with so many, nearly all weights are different


@dataclass(frozen=True)
class Variant:
    """One evaluation: a run, its gold standard, and PyEvALL's settings according to the EXIST 2024 guidelines."""

    track: str
    run: Path
    gold: Path
    items: Path
    hierarchy: dict[str, list[str]]  # empty for a flat track
    metrics: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the variant as JSON values, for the process that is measured."""
        return {
            "track": self.track,
            "run": str(self.run),
            "gold": str(self.gold),
            "items": str(self.items),
            "hierarchy": self.hierarchy,
            "metrics": list(self.metrics),
        }


def build_variants(folder: Path) -> list[Variant]:
    """Build the shared task in `folder`, and a run for each of the six variants in its folder `runs`."""
    definition = load_definition(build("exist2024", folder))
    (folder / "runs").mkdir()
    return [_variant(definition, slug, seed) for seed, slug in enumerate(TRACKS)]


def _variant(definition: Definition, slug: str, seed: int) -> Variant:
    track = definition.track(slug)
    gold = next(gold.file for gold in definition.gold if gold.track == slug and gold.split == "test")
    right = {entry["id"]: entry["value"] for entry in json.loads(gold.read_bytes())}
    ids = track.items["test"].read_text(encoding="utf-8").split()
    classes, rng = list(track.format.options["classes"]), np.random.default_rng([2024, seed])
    context = slug.split("-")[1]
    if context == "soft":
        sums_to_one = track.format.options.get("sum") is not None
        values = [_soft(right[item], classes, sums_to_one, rng) for item in ids]
    else:
        multi = track.format.options.get("multi", False)
        values = [_hard(right.get(item), classes, multi, rng) for item in ids]
    run = definition.folder / "runs" / f"{slug}.json"
    write_run(run, ids, values)
    hierarchy = {parent: list(children) for parent, children in (track.hierarchy or {}).items()}
    return Variant(slug, run, gold, track.items["test"], hierarchy, METRICS[context])


def _hard(right: Any, classes: list[str], multi: bool, rng: np.random.Generator) -> Any:
    """Return an item's gold labels or, with probability `_WRONG` or if it has no gold, random labels."""
    if right is not None and rng.random() > _WRONG:
        return right
    if not multi:
        return str(rng.choice(classes))
    first, *others = classes
    chosen = [name for name in others if rng.random() < 0.3]
    return chosen or [first]


def _soft(right: dict[str, float], classes: list[str], sums_to_one: bool, rng: np.random.Generator) -> dict[str, float]:
    """Return weights halfway between the gold's weights and random weights."""
    noise = rng.dirichlet(np.ones(len(classes))) if sums_to_one else rng.random(len(classes))
    weights = 0.5 * np.array([right[name] for name in classes]) + 0.5 * noise
    return dict(zip(classes, weights.round(_DIGITS).tolist(), strict=True))


def write_run(path: Path, ids: list[str], values: list[Any]) -> None:
    """Write a run file in EXIST's format."""
    entries = [{"test_case": "EXIST2024", "id": item, "value": value} for item, value in zip(ids, values, strict=True)]
    path.write_text(json.dumps(entries), encoding="utf-8")
