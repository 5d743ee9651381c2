"""The scoring benchmark's figures as text, as JSON, and as a page with a chart."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from scoring.reports.tables import TextTable

TARGET = 500  # target: this many times the speed of PyEvALL, with one process each


@dataclass(frozen=True)
class VariantLine:
    """Seconds for one variant: Agon's with loaded gold and with gold read again, PyEvALL's, and Agon's by phase."""

    track: str
    ours: float
    with_gold: float
    peer: float
    phases: Mapping[str, float]

    @property
    def ratio(self) -> float:
        return self.peer / self.ours


@dataclass(frozen=True)
class Growth:
    """Checking and scoring `items` binary items with loaded gold: seconds for two orders of items, and peak memory."""

    items: int
    seconds: float
    shuffled: float
    gold_seconds: float
    mb: float


@dataclass(frozen=True)
class EntityF1:
    """Seconds from tags in memory to F1, for Agon (with loaded gold) and seqeval, and for Agon to read the run."""

    ours: float
    reading: float
    peer: float


@dataclass(frozen=True)
class ChrF:
    """CPU seconds from texts in memory to chrF, for Agon and for sacrebleu when it is called directly."""

    ours: float
    peer: float


@dataclass(frozen=True)
class BenchmarkFigures:
    """All results of one benchmark run.

    `processes` has the seconds of Agon and PyEvALL by track. `load` is the machine's load at the start. `engine_ms` is
    the engine's own time, which makes times from different machines comparable.
    """

    lines: Sequence[VariantLine]
    processes: Mapping[str, tuple[float, float]]
    growth: Sequence[Growth]
    ties: Mapping[str, Mapping[str, Any]]
    entities: EntityF1
    chrf: ChrF
    load: float
    engine_ms: float

    def contract(self) -> dict[str, float]:
        """Return the figures that have a target, plus a few others."""
        return {
            "pyevall_ratio_min": round(min(line.ratio for line in self.lines), 1),
            "growth_exponent": round(self.exponent("seconds"), 3),
            "growth_exponent_shuffled": round(self.exponent("shuffled"), 3),
            "million_seconds": round(self.growth[-1].seconds, 3),
            "million_shuffled_seconds": round(self.growth[-1].shuffled, 3),
            "million_mb": round(self.growth[-1].mb),
            "process_ratio_min": round(min(peer / ours for ours, peer in self.processes.values()), 1),
            "process_seconds_max": round(max(ours for ours, _ in self.processes.values()), 3),
            "entity_ratio": round(self.entities.peer / self.entities.ours, 1),
            "chrf_overhead": round(self.chrf.ours / self.chrf.peer - 1, 3),
            "tie_groups_seconds": round(max(found["seconds"] for found in self.ties.values()), 2),
            "tie_groups_mb": round(max(found["mb"] for found in self.ties.values())),
            "engine_ms": round(self.engine_ms, 2),
        }

    def exponent(self, order: Literal["seconds", "shuffled"]) -> float:
        """Return the exponent in seconds ~ items^exponent, fitted by least squares on logarithms."""
        items, seconds = ([getattr(size, name) for size in self.growth] for name in ("items", order))
        return float(np.polyfit(np.log(items), np.log(seconds), 1)[0])


def as_text(figures: BenchmarkFigures) -> str:
    """Return all tables for a terminal."""
    engine = f"check and score in process {figures.engine_ms:.1f} ms of CPU"
    return "\n\n".join([*(table.as_text() for table in _tables(figures)), engine])


def _tables(figures: BenchmarkFigures) -> list[TextTable]:
    lines, phases = figures.lines, list(figures.lines[0].phases)
    return [
        TextTable(
            "In one process, 2,076 items: milliseconds from file to scores",
            ("variant", "Agon", "Agon, including gold", "PyEvALL 0.2.11", "ratio"),
            tuple(
                (line.track, _ms(line.ours), _ms(line.with_gold), _ms(line.peer), f"{line.ratio:,.0f}")
                for line in lines
            ),
        ),
        TextTable(
            "How Agon spends this time: milliseconds",
            ("variant", *phases),
            tuple((line.track, *(_ms(line.phases[name]) for name in phases)) for line in lines),
        ),
        TextTable(
            "As a process, including startup and gold: seconds",
            ("variant", "Agon", "PyEvALL 0.2.11", "ratio"),
            tuple(
                (track, f"{ours:.2f}", f"{peer:.2f}", f"{peer / ours:,.0f}")
                for track, (ours, peer) in figures.processes.items()
            ),
        ),
        TextTable(
            f"Checking and scoring binary items: growth with exponent {figures.exponent('seconds'):.3f}, "
            f"shuffled {figures.exponent('shuffled'):.3f}",
            ("items", "seconds", "shuffled", "reading the gold once", "peak MB"),
            tuple(
                (f"{size.items:,}", *map(_seconds, (size.seconds, size.shuffled, size.gold_seconds)), f"{size.mb:.0f}")
                for size in figures.growth
            ),
        ),
        TextTable(
            "Entity F1 on 50,000 tokens, from tags in memory: milliseconds of CPU time",
            ("Agon", "seqeval 1.2.2", "ratio", "reading the file in Agon"),
            (
                (
                    _ms(figures.entities.ours),
                    _ms(figures.entities.peer),
                    f"{figures.entities.peer / figures.entities.ours:,.0f}",
                    _ms(figures.entities.reading),
                ),
            ),
        ),
        TextTable(
            "chrF on 1,000 texts in memory, references read too: milliseconds of CPU time",
            ("Agon", "sacrebleu, called directly", "more than sacrebleu"),
            (
                (
                    _ms(figures.chrf.ours),
                    _ms(figures.chrf.peer),
                    f"{100 * (figures.chrf.ours / figures.chrf.peer - 1):.1f} %",
                ),
            ),
        ),
        TextTable(
            "Tie groups of 100 runs on 2,000 items, 10,000 samples",
            ("metric and test", "seconds", "groups", "peak MB"),
            tuple(
                (key, f"{found['seconds']:.2f}", str(found["groups"]), f"{found['mb']:.0f}")
                for key, found in figures.ties.items()
            ),
        ),
    ]


def _seconds(seconds: float) -> str:
    return f"{seconds:.4f}"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.2f}"


def write_page(figures: BenchmarkFigures, folder: Path) -> None:
    """Write `scoring.md` and `scoring.svg` to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scoring.svg").write_text(_chart(figures.lines), encoding="utf-8")
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "numpy": np.__version__}
    parts = [_INTRODUCTION.format(**machine, load=figures.load, engine_ms=figures.engine_ms), _REMARKS]
    parts += [_markdown(table) for table in _tables(figures)]
    (folder / "scoring.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


_INTRODUCTION = """# Scoring performance

This page was generated by `python benchmarks/scoring.py --write` from a single run on a virtual machine with {cores}
shared cores. Its load was {load:.1f} at the start. Versions: Python {python}, numpy {numpy}. The ratios are more
reliable than the absolute times. `engine_ms`, the CPU time for checking and scoring one run in a single process, was
{engine_ms:.1f}. To compare the times with those of another machine, divide both by their `engine_ms`.

![Times faster than PyEvALL by variant](scoring.svg)"""

_REMARKS = """The benchmark uses the six variants of EXIST 2024 with synthetic tweets and the metrics in the task's
guidelines. For each measurement, it reads a run from its file, fully checks it and scores it. In a hard run, 30% of
the labels are random. In a soft run, the values have six decimal places, and nearly all of them are different. The
benchmark runs Agon and PyEvALL alternately. Each value is a median, except for PyEvALL as a process, which runs only
once.

For "Agon", the definition, the item ids and the gold standard are loaded only once with `scoring.score.load_gold`.
PyEvALL does not support this and reads the gold each time, as does "Agon, including gold". The benchmark fails unless
Agon and PyEvALL compute the same ICM."""


def _markdown(table: TextTable) -> str:
    rows = [table.head, ("---", *["---:"] * (len(table.head) - 1)), *table.rows]
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join([f"## {table.title}", "", *lines])


def _chart(lines: Sequence[VariantLine]) -> str:
    """Draw horizontal bars from 0, one per variant, and a line at the target."""
    widest = max(TARGET, *(line.ratio for line in lines))
    height = 34 * len(lines) + 40
    shapes = []
    for number, line in enumerate(lines):
        top, width = 34 * number + 30, 460 * line.ratio / widest
        shapes += [
            f'<text x="100" y="{top + 17}" text-anchor="end">{line.track}</text>',
            f'<rect x="110" y="{top}" width="{width:.1f}" height="24" fill="#2f5d8a"/>',
            f'<text x="{118 + width:.1f}" y="{top + 17}">{line.ratio:,.0f}×</text>',
        ]
    at = 110 + 460 * TARGET / widest
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {height}" role="img" '
            'font-family="system-ui, sans-serif" font-size="14" fill="#222">',
            "<title>Times faster than PyEvALL 0.2.11, by variant of EXIST 2024</title>",
            f'<rect width="640" height="{height}" fill="#fff"/>',
            *shapes,
            f'<path d="M{at:.1f} 24V{height - 6}" stroke="#b3541e" stroke-dasharray="4 3"/>',
            f'<text x="{at:.1f}" y="18" text-anchor="middle" fill="#b3541e">target {TARGET}×</text>',
            "</svg>",
            "",
        ]
    )
