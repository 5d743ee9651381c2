"""EXIST's evaluation folder, as it is downloaded: PyEvALL gives its baselines the same scores as the portal."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from scoring import Definition, load_definition
from scoring.definition import Track
from scoring.score import score
from tasks import build
from tests.scoring.metrics.conftest import Evaluate

pytestmark = pytest.mark.slow

METRICS = {  # all but F1 of one class in task 1
    "hard": {"ICM": "icm", "ICMNorm": "icm_norm", "FMeasure": "f1_macro"},
    "soft": {"ICMSoft": "icm_soft", "ICMSoftNorm": "icm_soft_norm", "CrossEntropy": "cross_entropy"},
}


def compared(definition: Definition, track: Track, gold: bytes, run: bytes) -> tuple[dict[str, Any], Any]:
    """Return the case for PyEvALL, and Agon's scores under PyEvALL's names."""
    found = score(definition, track.slug, run, gold=gold, items=track.items["dev"], split="dev", lenient=True)
    metrics = METRICS["soft" if track.slug.endswith("soft") else "hard"]
    ours = {theirs: found.scores[own] for theirs, own in metrics.items() if own in found.scores}
    is_flat = track.hierarchy is None
    case = {"gold": json.loads(gold), "run": json.loads(run), "parameters": {}, "metrics": list(ours)}
    return case | {"hierarchy": None if is_flat else track.hierarchy}, ours


def test_pyevall_gives_the_baselines_our_scores(pyevall: Evaluate, tmp_path: Path) -> None:
    """PyEvALL's F1 counts answers to items without a hard label. The portal does not, following the guidelines.

    Therefore, F1 is the same only if the portal also counts them (`items_outside_gold`) or PyEvALL does not see them.
    """
    definition = load_definition(build("exist2024", tmp_path / "exist2024"))
    counting = replace(
        definition, tracks=tuple(replace(track, items_outside_gold="count") for track in definition.tracks)
    )
    pairs = []
    with ZipFile(definition.folder / "data/dev/evaluation.zip") as folder:
        for task, context, name in product((1, 2, 3), ("hard", "soft"), ("majority", "minority")):
            gold = folder.read(f"evaluation/golds/EXIST2024_dev_task{task}_gold_{context}.json")
            run = folder.read(f"evaluation/baselines/EXIST2024_dev_task{task}_{name}_class_{context}.json")
            slug = f"task{task}-{context}"
            pairs.append(compared(counting, counting.track(slug), gold, run))
            if (task, context) == (2, "hard"):
                labeled = {one["id"] for one in json.loads(gold)}
                kept = [one for one in json.loads(run) if one["id"] in labeled]
                pairs.append(compared(definition, definition.track(slug), gold, json.dumps(kept).encode()))
                whole = compared(definition, definition.track(slug), gold, run)[1]
                assert whole == pairs[-1][1]  # the answers to other items change nothing
    assert sum(len(ours) for _, ours in pairs) == 2 * (2 + 3 + 3 + 3 + 3 + 2) + 2 * 3
    for (_, own), theirs in zip(pairs, pyevall([case for case, _ in pairs]), strict=True):
        assert theirs == pytest.approx(own, rel=1e-9, abs=1e-9)
