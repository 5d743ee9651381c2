"""The scoring benchmark's figures: JSON, the page and its chart."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.scoring_report import BenchmarkFigures, ChrF, EntityF1, Growth, VariantLine, as_text, write_page


@pytest.fixture
def figures() -> BenchmarkFigures:
    return BenchmarkFigures(
        lines=[
            VariantLine(
                "task1-hard", ours=0.002, with_gold=0.004, peer=1.5, phases={"read": 0.0015, "metrics": 0.0005}
            ),
            VariantLine("task1-soft", ours=0.004, with_gold=0.008, peer=2.4, phases={"read": 0.003, "metrics": 0.001}),
        ],
        processes={"task1-hard": (0.25, 5.0), "task1-soft": (0.3, 4.5)},
        growth=[Growth(items, items * 1.5e-6, items**1.1 * 1e-6, 0.1, 300) for items in (10_000, 100_000, 1_000_000)],
        ties={"icm": {"seconds": 2.0, "groups": 4, "mb": 200}, "f1_macro": {"seconds": 4.0, "groups": 5, "mb": 300}},
        entities=EntityF1(ours=0.002, reading=0.02, peer=0.05),
        chrf=ChrF(ours=0.21, peer=0.2),
        load=0.5,
        engine_ms=16.25,
    )


def test_the_contract_reports_the_worst_of_each(figures: BenchmarkFigures) -> None:
    assert figures.contract() == {
        "pyevall_ratio_min": 600.0,
        "growth_exponent": 1.0,
        "growth_exponent_shuffled": 1.1,
        "million_seconds": 1.5,
        "million_shuffled_seconds": 3.981,
        "million_mb": 300,
        "process_ratio_min": 15.0,
        "process_seconds_max": 0.3,
        "entity_ratio": 25.0,
        "chrf_overhead": 0.05,
        "tie_groups_seconds": 4.0,
        "tie_groups_mb": 300,
        "engine_ms": 16.25,
    }


def test_page_shows_the_printed_figures(figures: BenchmarkFigures, tmp_path: Path) -> None:
    write_page(figures, tmp_path)
    page = (tmp_path / "scoring.md").read_text(encoding="utf-8")
    assert "| task1-hard | 2.00 | 4.00 | 1,500.00 | 750 |" in page
    assert "in a single process, was\n16.2. To compare" in page
    assert "750" in as_text(figures)
    assert as_text(figures).endswith("check and score in process 16.2 ms of CPU")
    chart = ElementTree.parse(tmp_path / "scoring.svg").getroot()
    bars = [float(shape.get("width", 0)) for shape in chart.iter() if shape.get("height") == "24"]
    assert bars == pytest.approx([460, 460 * 600 / 750])
