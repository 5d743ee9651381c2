"""The engine's own time on this machine, which makes times from different machines comparable."""

import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.exist_runs import build_variants
from scoring import check_upload, load_definition, score
from scoring.analysis.details import details
from scoring.score import accepted_gold

TRACK = "task2-soft"
TIMES = 40


def engine_ms() -> float:
    """Return the median CPU time, in milliseconds, for checking and scoring one run of EXIST 2024 in this process."""
    with tempfile.TemporaryDirectory() as scratch:
        build_variants(Path(scratch) / "exist2024")
        return median(engine_milliseconds(Path(scratch) / "exist2024"))


def engine_milliseconds(folder: Path) -> list[float]:
    """Measure the CPU time of checking and scoring in this process, repeatedly, once the gold has been opened.

    `folder` has the task and its runs, as `build_variants` writes them.
    """
    definition = load_definition(folder)
    gold = next(gold for gold in definition.gold if gold.track == TRACK)
    standard = accepted_gold(definition, TRACK, gold.file.read_bytes(), gold.split)
    run, items = folder / "runs" / f"{TRACK}.json", definition.track(TRACK).items[gold.split]
    milliseconds = []
    for _ in range(TIMES):
        began = time.process_time()
        check_upload(definition, run, f"{TRACK}.json", None, gold.split)
        result = score(definition, TRACK, run, standard, items, split=gold.split)
        assert result.comparison is not None
        details(result.comparison, definition.track(TRACK).metrics)
        milliseconds.append((time.process_time() - began) * 1000)
    return milliseconds
