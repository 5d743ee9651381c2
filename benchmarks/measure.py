"""Agon's side of the scoring benchmark, in a separate process: `python -m benchmarks.measure MODE …`.

Definition, gold standard and item ids are loaded once. Each time, the run is read from its file, fully checked and
scored. Results are printed as lines of JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any, cast

import numpy as np

from scoring import load_definition, score
from scoring.answers import Entities, Matrix, Texts
from scoring.definition import Definition, FormatSpec, MetricSpec
from scoring.formats import FORMATS
from scoring.formats.conll import codes_of, entities_of, tags_of
from scoring.formats.reading import Problems, Reading
from scoring.metrics import Comparison, LoadedGold, compare, compute
from scoring.reports.problems import Report
from scoring.score import load_gold, run_answers
from scoring.significance import tie_groups
from scoring.significance.paired_tests import Method

BATCH = 20  # number of evaluations by Agon for each evaluation by the peer
FIELD = {"runs": 100, "items": 2000, "rounds": 10_000}


def main() -> None:
    """Measure the given mode."""
    mode, *given = sys.argv[1:]
    if mode == "variants":
        _variants(Path(given[0]), Path(given[1]))
    elif mode == "entities":
        _answer(_entities(Path(given[0])))
    elif mode == "chrf":
        _answer(_chrf(Path(given[0])))
    elif mode == "growth":
        _answer(_growth(*map(Path, given)))
    else:
        _answer(_ties(*given))


def _answer(content: dict[str, Any]) -> None:
    print(json.dumps(content), flush=True)


def _seconds(action: Callable[[], Any], times: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the median of several measurements, after one warm-up."""
    action()
    return median(_timed(action, clock) for _ in range(times))


def _timed(action: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    action()
    return clock() - start


def _peak_mb() -> float:
    """Return the peak memory of this process.

    getrusage is not used, because its value starts at the parent's peak.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _variants(folder: Path, listed: Path) -> None:
    """Evaluate the variant named in each line of standard input."""
    definition = load_definition(folder)
    variants = {variant["track"]: variant for variant in json.loads(listed.read_bytes())}
    kept: dict[str, tuple[LoadedGold, list[str]]] = {}
    for line in sys.stdin:
        variant = variants[line.strip()]
        track, run, gold = variant["track"], Path(variant["run"]), Path(variant["gold"])
        if track not in kept:
            ids = Path(variant["items"]).read_text(encoding="utf-8").split()
            kept[track] = load_gold(definition, track, gold), ids
        standard, ids = kept[track]
        result = score(definition, track, run, standard, items=ids)
        if not result.scores:
            raise SystemExit(f"{track}: {result.report.as_dict()}")
        _answer(
            {
                "seconds": _seconds(lambda: score(definition, track, run, standard, items=ids), BATCH),  # noqa: B023
                "with_gold": _seconds(lambda: score(definition, track, run, gold, items=ids), 5),  # noqa: B023
                "phases": _phases(definition, track, run, standard, ids),
                "values": list(result.scores.values()),
            }
        )


def _phases(definition: Definition, track: str, run: Path, gold: LoadedGold, ids: list[str]) -> dict[str, float]:
    """Return the time of each step: reading and checking the answers, comparison with the gold, and each metric."""
    rules = definition.track(track)
    answers = run_answers(definition, track, run, gold, ids)[0]
    if answers is None:
        raise SystemExit(f"{track}: the run is invalid")
    found = {
        "read and check": _seconds(lambda: run_answers(definition, track, run, gold, ids), BATCH),
        "align with the gold": _seconds(lambda: compare(gold, answers), BATCH),
    }

    def metrics() -> None:
        comparison = compare(gold, answers)
        for spec in rules.metrics:
            compute(comparison, spec)

    found["metrics"] = _seconds(metrics, BATCH) - found["align with the gold"]
    return found


def _growth(folder: Path, run: Path, shuffled: Path, gold: Path) -> dict[str, float]:
    """Check and score many binary items, both in the gold's order and in a different order."""
    definition, track = load_definition(folder), "task1-hard"
    start = time.perf_counter()
    standard = load_gold(definition, track, gold)
    loaded = time.perf_counter() - start
    ids = list(standard.answers.ids)
    times = 7 if len(ids) <= 100_000 else 3
    in_order = _seconds(lambda: score(definition, track, run, standard, items=ids), times)
    in_disorder = _seconds(lambda: score(definition, track, shuffled, standard, items=ids), times)
    return {
        "items": len(ids),
        "seconds": in_order,
        "shuffled": in_disorder,
        "gold_seconds": loaded,
        "mb": _peak_mb(),
    }


def _entities(tags: Path) -> dict[str, float]:
    """Measure entity F1, from tags to score, for the tags in a file of [gold, run].

    The gold's entities are reused. CPU time is measured on both sides, because they run one after the other and the
    load on the machine may change in between.
    """
    gold, run = json.loads(tags.read_bytes())
    classes = sorted({tag[2:] for sentence in gold + run for tag in sentence} - {""})
    spec = FormatSpec(
        "conll", {"classes": classes, "scheme": "BIO", "repair": "begin", "ids": "numbers", "column": None}
    )
    ids = list(map(str, range(len(gold))))
    standard = LoadedGold(_entities_of(ids, gold, spec))
    content = "\n\n".join("\n".join(f"token {tag}" for tag in sentence) for sentence in run).encode()

    def f1() -> float | None:
        return compute(compare(standard, _entities_of(ids, run, spec)), MetricSpec("entity_f1"))

    def read() -> None:
        FORMATS["conll"].read(content, spec, Reading(role="run", report=Report()))

    clock = time.process_time
    return {"seconds": _seconds(f1, 50, clock), "read_seconds": _seconds(read, 10, clock), "value": f1() or 0.0}


def _chrf(texts: Path) -> dict[str, float]:
    """Measure the CPU time of chrF in sacrebleu and Agon, in turn, for a file of [references, outputs]."""
    from sacrebleu.metrics.chrf import CHRF  # here, so that the other modes' peak memory excludes it

    references, outputs = json.loads(texts.read_bytes())
    ids = list(map(str, range(len(outputs))))
    gold, run = (Texts(ids, [(text,) for text in side]) for side in (references, outputs))

    def ours() -> float | None:
        return compute(compare(LoadedGold(gold), run), MetricSpec("chrf"))

    def theirs() -> float:
        return float(CHRF().corpus_score(outputs, [references]).score)

    pairs = [(_timed(ours, time.process_time), _timed(theirs, time.process_time)) for _ in range(11)][1:]
    own, other = (median(side) for side in zip(*pairs, strict=True))
    return {"seconds": own, "peer": other, "value": ours() or 0.0, "peer_value": theirs()}


def _entities_of(ids: list[str], sentences: list[list[str]], spec: FormatSpec) -> Entities:
    known, lengths = tags_of(spec), list(map(len, sentences))
    codes = codes_of(list(chain.from_iterable(sentences)), known)
    return entities_of(ids, lengths, codes, spec, Problems(Report()), [])


def _ties(key: str, method: str) -> dict[str, float]:
    """Measure the tie groups of runs that range from nearly correct to nearly random."""
    runs, rounds = _field(), FIELD["rounds"]
    start = time.perf_counter()
    lines = tie_groups(runs, MetricSpec(key), seed=2024, method=cast(Method, method), rounds=rounds)
    return {
        "seconds": time.perf_counter() - start,
        "groups": max(line.group or 0 for line in lines),
        "mb": _peak_mb(),
    }


def _field() -> dict[str, Comparison]:
    rng, items, classes = np.random.default_rng(2024), FIELD["items"], ("a", "b", "c", "d")
    labels = np.eye(len(classes), dtype=bool)
    ids = [str(item) for item in range(items)]
    right = rng.integers(len(classes), size=items)
    gold = LoadedGold(Matrix(ids, classes, labels[right]))
    shares = np.linspace(0.1, 0.9, FIELD["runs"])
    given = (np.where(rng.random(items) < share, rng.integers(len(classes), size=items), right) for share in shares)
    return {f"run {number}": compare(gold, Matrix(ids, classes, labels[own])) for number, own in enumerate(given)}


if __name__ == "__main__":
    main()
