"""The synthetic gold reproduces rows of the overview papers, at the papers' precision."""

import csv
from pathlib import Path

import pytest

from scoring.score import score, score_gold
from tests.tasks.conftest import Built

GOLD_STANDARD = None

PUBLISHED = [
    ("detests2022", "task1", "AllOnes", {"f1_positive": "0.4243"}),
    ("detests2022", "task2", GOLD_STANDARD, {"icm": "1.6676", "hierarchical_f": "1.0000", "propensity_f": "1.0000"}),
    ("detests2022", "task2", "AllZeros", {"icm": "-1.1280", "hierarchical_f": "0.8317", "propensity_f": "0.8215"}),
    ("detests2022", "task2", "AllOnes", {"icm": "-36.3162", "hierarchical_f": "0.2224", "propensity_f": "0.1354"}),
    ("hateval2019", "en-a", "MFC baseline", {"f1_macro": "0.367"}),
    ("hateval2019", "es-a", "MFC baseline", {"f1_macro": "0.370"}),
    ("hateval2019", "en-b", "MFC baseline", {"exact_match_ratio": "0.580", "f1_macro_mean": "0.421"}),
    # Printed as 0.605. 940 of the 1,600 tweets are all zeros, and 0.588 is printed in the other baseline's row.
    ("hateval2019", "es-b", "MFC baseline", {"exact_match_ratio": "0.588"}),
    # Not printed: 394 of 2,000 posts have no span.
    ("toxicspans2021", "spans", "Nothing marked", {"span_f1": "0.197000"}),
    ("ssa2023", "en", "Always 1", {"ssa_accuracy": "1.000", "ssa_bias": "0.000"}),
]


@pytest.mark.parametrize(("slug", "track", "baseline", "expected"), PUBLISHED)
def test_row(built: Built, slug: str, track: str, baseline: str | None, expected: dict[str, str]) -> None:
    definition = built[slug]
    gold = next(gold.file for gold in definition.gold if (gold.track, gold.split) == (track, "test"))
    if baseline is GOLD_STANDARD:
        scores = score_gold(definition, track, gold, "test").scores
    else:
        files = {row.name: row.files for row in definition.baselines}[baseline]
        scores = score(
            definition, track, definition.folder / str(files).format(split="test", track=track), gold=gold
        ).scores
    decimals = definition.track(track).decimals
    assert {key: f"{scores[key]:.{decimals}f}" for key in expected} == expected


@pytest.mark.parametrize(
    ("baseline", "flags"), [("Always 0", ["constant"]), ("Always 1", ["constant"]), ("Random", [])]
)
def test_constant_classifiers_are_flagged(built: Built, baseline: str, flags: list[str]) -> None:
    definition = built["ssa2023"]
    files = {row.name: row.files for row in definition.baselines}[baseline]
    run = definition.folder / str(files).format(track="pt")
    assert score(definition, "pt", run, gold=definition.folder / "gold/pt.csv").flags == flags


def test_detests_gold_counts_are_those_of_the_conformance_gold(built: Built, shared: Path) -> None:
    def combinations(path: Path) -> list[str]:
        return sorted(line.split(",", 2)[2] for line in path.read_text().splitlines())

    synthetic = shared / "conformance/detests2022/gold/synth.csv"
    assert combinations(built["detests2022"].folder / "gold/test.csv") == combinations(synthetic)


@pytest.mark.parametrize("language", ["en", "es"])
def test_hateval_gold_counts_are_those_of_the_conformance_gold(built: Built, shared: Path, language: str) -> None:
    def labels(path: Path) -> list[list[str]]:
        return sorted(line.split("\t")[2:] for line in path.read_text().splitlines())

    synthetic = shared / f"conformance/hateval2019/gold/synth_{language}.tsv"
    assert labels(built["hateval2019"].folder / f"gold/test/{language}.tsv") == labels(synthetic)


@pytest.mark.parametrize(("marked", "expected"), [("nothing", "0.197000"), ("everything", "0.138838")])
def test_the_real_toxic_spans(built: Built, shared: Path, tmp_path: Path, marked: str, expected: str) -> None:
    """The gold is the real test set. A post's id is its row number, starting at 0."""
    with (shared / "data/toxicspans2021/tsd_test.csv").open(encoding="utf-8", newline="") as file:
        posts = list(csv.DictReader(file))
    whole = [list(range(len(post["text"]))) if marked == "everything" else [] for post in posts]
    gold, run = tmp_path / "gold.txt", tmp_path / "spans-pred.txt"
    gold.write_text("".join(f"{number}\t{post['spans']}\n" for number, post in enumerate(posts)))
    run.write_text("".join(f"{number}\t{offsets}\n" for number, offsets in enumerate(whole)))
    result = score(built["toxicspans2021"], "spans", run, gold=gold)
    assert (result.report.problems, f"{result.scores['span_f1']:.6f}") == ([], expected)
