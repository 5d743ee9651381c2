"""The five definitions load without their data, and their own data follows their rules."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from scoring import Definition, check, load_definition
from scoring.score import score
from scoring.uploads.naming import example, explain
from tasks import GENERATORS

CONTRACT = {
    "exist2024": [f"task{number}-{context}" for number in range(1, 7) for context in ("hard", "soft")],
    "detests2022": ["task1", "task2"],
    "hateval2019": ["en-a", "en-b", "es-a", "es-b"],
    "toxicspans2021": ["spans"],
    "ssa2023": ["en", "pt"],
}
NAMES = {
    "exist2024": "task6_soft_Lak_NLP_3",
    "detests2022": "Lak_NLP_task2_5.csv",
    "hateval2019": "es_b.tsv",
    "toxicspans2021": "spans-pred.txt",
    "ssa2023": "pt_Lak_NLP_2.csv",
}


@pytest.mark.parametrize("slug", GENERATORS)
def test_tracks_without_the_data(root: Path, slug: str) -> None:
    definition = load_definition(root / "tasks" / slug)
    assert [track.slug for track in definition.tracks] == CONTRACT[slug]


def test_a_run_scores_against_any_gold_without_the_data(root: Path) -> None:
    definition = load_definition(root / "tasks/ssa2023")
    run = b"tuple_id,stereotype_label,counter_label\n0,1,1\n1,1,0\n"
    scores = score(definition, "en", run, gold=b"tuple_id,group\n0,race\n1,gender\n").scores
    assert (scores["ssa_accuracy"], scores["ssa_accuracy:race"], scores["f1_positive"]) == (0.5, 1.0, None)


@pytest.mark.parametrize("slug", GENERATORS)
def test_names_of_runs(root: Path, slug: str) -> None:
    definition = load_definition(root / "tasks" / slug)
    assert explain(definition, NAMES[slug], "Lak_NLP").track == CONTRACT[slug][-1]
    for track in definition.tracks:
        for number in definition.naming.numbers or (None,):
            named = explain(definition, str(example(definition, track.slug, "Lak_NLP", number)), "Lak_NLP")
            assert (named.track, named.number, named.report.problems) == (track.slug, number, [])


ENDED = {"toxicspans2021": datetime(2021, 1, 31, 23, tzinfo=UTC), "detests2022": datetime(2023, 1, 1, tzinfo=UTC)}


def test_the_last_phase_shows_scores_at_once_and_stays_open_unless_the_gold_of_its_items_is_public(
    definition: Definition,
) -> None:
    *past, last = definition.phases
    assert (last.scores, last.official, last.runs_per_day) == ("at-once", "best", 10)
    assert last.closes == ENDED.get(definition.slug)
    published = {definition.publishes_items(track.slug, last.split) for track in definition.tracks}
    assert published == {definition.slug in ENDED}
    # A ladder may stay open, because it uses other items.
    closed = [phase for phase in past if phase.ladder_step is None]
    assert all(phase.closes is not None and phase.closes <= last.opens for phase in closed)
    assert all(phase.split != last.split for phase in past if phase not in closed)


def test_every_phase_has_items_gold_and_baselines(definition: Definition) -> None:
    assert {phase.split for phase in definition.phases} == {gold.split for gold in definition.gold}
    assert {(track.slug, split) for track in definition.tracks for split in track.items} == {
        (gold.track, gold.split) for gold in definition.gold
    }
    assert definition.baselines


def test_rankings_over_tracks_say_that_they_are_the_portals(definition: Definition) -> None:
    assert all("This ranking is an addition of the portal" in overall.note for overall in definition.overall)


def test_baselines_are_accepted_and_score(definition: Definition) -> None:
    for gold in definition.gold:
        for baseline in definition.baselines:
            if baseline.files is None:
                continue
            run = definition.folder / baseline.files.format(split=gold.split, track=gold.track)
            assert check(definition, gold.track, run, split=gold.split).problems == [], run
            items = definition.track(gold.track).items[gold.split]
            result = score(definition, gold.track, run, gold=gold.file, items=items, split=gold.split)
            missing = [key for key, value in result.scores.items() if value is None]
            assert (result.report.problems, missing) == ([], []), run
