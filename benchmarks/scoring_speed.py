"""Run the scoring benchmark.

It compares Agon with PyEvALL (once in long-running processes, and once including process startup), with seqeval for
entity F1, and with sacrebleu for chrF. It also measures how the time grows with the number of items, and how long tie
groups take.

PyEvALL runs with the interpreter in AGON_PYEVALL_PYTHON, or in an environment that is created once in the folder
`.agon-bench`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.engine import engine_milliseconds
from benchmarks.exist_runs import Variant, build_variants, write_run
from benchmarks.scoring_report import BenchmarkFigures, ChrF, EntityF1, Growth, VariantLine, as_text, write_page

ROOT = Path(__file__).resolve().parents[1]
SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
TOKENS = 50_000
SEGMENTS = 1_000
TIED = [(key, method) for key in ("accuracy", "icm", "f1_macro") for method in ("bootstrap", "randomization")]


def main() -> None:
    """Run everything and print a table, and JSON as the last line if requested."""
    parser = argparse.ArgumentParser(description="Scoring: ours, PyEvALL's and the ratio, from one run.")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object, as the last line")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/scoring.md and its chart")
    parser.add_argument("--repeats", type=int, default=2, help="evaluations by PyEvALL a variant (default: 2)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        figures = _measure(Path(scratch), _peer_python(), options.repeats)
    print(as_text(figures))
    if options.write:
        write_page(figures, ROOT / "docs" / "benchmarks")
    if options.json:
        print(json.dumps(figures.contract()))


def _peer_python() -> str:
    return os.environ.get("AGON_PYEVALL_PYTHON") or _environment("pyevall", "benchmarks/pyevall-requirements.txt")


def _environment(name: str, requirements_file: str) -> str:
    folder = ROOT / ".agon-bench" / name
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        requirements = str(ROOT / requirements_file)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", requirements], check=True)
    return str(python)


def _measure(scratch: Path, peer_python: str, repeats: int) -> BenchmarkFigures:
    load = os.getloadavg()[0]
    folder = scratch / "exist2024"
    variants = build_variants(folder)
    listed = scratch / "variants.json"
    listed.write_text(json.dumps([variant.as_dict() for variant in variants]), encoding="utf-8")
    peer = [peer_python, str(ROOT / "benchmarks" / "pyevall_peer.py"), str(listed)]
    return BenchmarkFigures(
        lines=[*_in_one_process(variants, folder, listed, peer, repeats)],
        processes={variant.track: _as_processes(variant, folder, peer) for variant in variants},
        growth=[_grown(scratch, folder, items) for items in SIZES],
        ties={
            f"{key}, {method}": _ask([sys.executable, "-m", "benchmarks.measure", "ties", key, method])
            for key, method in TIED
        },
        entities=_entities(scratch),
        chrf=_chrf(scratch),
        load=load,
        engine_ms=median(engine_milliseconds(folder)),
    )


def _entities(scratch: Path) -> EntityF1:
    """Measure both sides on the same tags, one after the other."""
    rng, tags = np.random.default_rng(14), scratch / "tags.json"
    tags.write_text(json.dumps([_tags(rng), _tags(rng)]), encoding="utf-8")
    peer = _environment("entity-peers", "tests/entity-peers-requirements.txt")
    theirs = _ask([peer, str(ROOT / "benchmarks" / "seqeval_peer.py"), str(tags)])
    ours = _ask([sys.executable, "-m", "benchmarks.measure", "entities", str(tags)])
    if not np.isclose(ours["value"], theirs["value"], rtol=0, atol=1e-9):
        raise SystemExit(f"entity F1: ours {ours['value']}, seqeval's {theirs['value']}")
    return EntityF1(ours["seconds"], ours["read_seconds"], theirs["seconds"])


def _chrf(scratch: Path) -> ChrF:
    """Measure sacrebleu on the same texts, called directly and through Agon."""
    rng, texts = np.random.default_rng(14), scratch / "texts.json"
    words = ["".join(rng.choice(list("aeioubcdlmnprst"), rng.integers(2, 10))) for _ in range(2000)]
    references = [rng.choice(words, rng.integers(8, 30)).tolist() for _ in range(SEGMENTS)]
    outputs = [[word if rng.random() < 0.7 else str(rng.choice(words)) for word in own] for own in references]
    texts.write_text(json.dumps([[" ".join(own) for own in side] for side in (references, outputs)]), encoding="utf-8")
    found = _ask([sys.executable, "-m", "benchmarks.measure", "chrf", str(texts)])
    if not np.isclose(found["value"], found["peer_value"], rtol=0, atol=1e-9):
        raise SystemExit(f"chrF: ours {found['value']}, sacrebleu's {found['peer_value']}")
    return ChrF(found["seconds"], found["peer"])


def _tags(rng: np.random.Generator) -> list[list[str]]:
    """Return sentences of 20 tokens, 50,000 tokens in total. About one token in four is in an entity."""
    known = [f"{prefix}-{name}" for name in ("PER", "LOC", "ORG") for prefix in "BI"]
    flat = np.where(rng.random(TOKENS) < 0.75, "O", rng.choice(known, TOKENS))
    sentences: list[list[str]] = flat.reshape(-1, 20).tolist()
    return sentences


def _in_one_process(
    variants: Sequence[Variant], folder: Path, listed: Path, peer: list[str], repeats: int
) -> Iterator[VariantLine]:
    """Alternate between the two sides, so that any other load on the machine affects both equally."""
    engine = [sys.executable, "-m", "benchmarks.measure", "variants", str(folder), str(listed)]
    with _talking(engine) as ours, _talking(peer) as theirs:
        _evaluate(theirs, variants[0].track)
        for variant in variants:
            answers = [(_evaluate(ours, variant.track), _evaluate(theirs, variant.track)) for _ in range(repeats)]
            mine, other = answers[0]
            same = np.isclose(mine["values"][:2], list(other["values"].values())[:2], rtol=0, atol=1e-9).all()
            if not same:
                raise SystemExit(f"{variant.track}: ours {mine['values']}, PyEvALL's {other['values']}")
            phases = {name: median(own["phases"][name] for own, _ in answers) for name in mine["phases"]}
            yield VariantLine(
                track=variant.track,
                ours=median(own["seconds"] for own, _ in answers),
                with_gold=median(own["with_gold"] for own, _ in answers),
                peer=median(other["seconds"] for _, other in answers),
                phases=phases,
            )


@contextmanager
def _talking(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _evaluate(process: "subprocess.Popen[str]", track: str) -> dict[str, Any]:
    if process.stdin is None or process.stdout is None:
        raise TypeError("the process has no pipes")
    process.stdin.write(f"{track}\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"no answer for {track}")
    answer: dict[str, Any] = json.loads(line)
    return answer


def _ask(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _as_processes(variant: Variant, folder: Path, peer: list[str]) -> tuple[float, float]:
    """Return the seconds of Agon's command line (median of five) and of the peer's (one run), including start-up."""
    own = [sys.executable, "-m", "scoring", "score", "--task", str(folder), "--track", variant.track, "--json"]
    own += ["--gold", str(variant.gold), "--items", str(variant.items), str(variant.run)]
    ours = median(_process_seconds(own) for _ in range(5))
    return ours, _process_seconds([*peer, "--once", variant.track])


def _process_seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def _grown(scratch: Path, folder: Path, items: int) -> Growth:
    rng = np.random.default_rng(items)
    ids = [str(item) for item in range(100_000, 100_000 + items)]
    order = rng.permutation(items).tolist()
    given, right = (np.where(rng.random(items) < 0.4, "YES", "NO").tolist() for _ in range(2))
    paths = [scratch / f"{name}.json" for name in ("run", "shuffled", "gold")]
    write_run(paths[0], ids, given)
    write_run(paths[1], [ids[place] for place in order], [given[place] for place in order])
    write_run(paths[2], ids, right)
    return Growth(**_ask([sys.executable, "-m", "benchmarks.measure", "growth", str(folder), *map(str, paths)]))
