"""The five definitions load without their data, and their data follow their rules."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from portal.management.commands.load_demo import news_text
from scoring import Definition, check, load_definition
from scoring.score import score
from scoring.uploads.naming import example, explain
from tasks import DEMO, GENERATORS
from tests.conftest import ROOT
from tests.tasks.conftest import Built

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


def test_exist_teams_have_one_submission(root: Path) -> None:
    phase = next(one for one in load_definition(root / "tasks/exist2024").phases if one.slug == "evaluation")
    assert (phase.max_submissions, phase.runs_per_track, phase.official) == (1, 3, "chosen")


ENDED = {"toxicspans2021": datetime(2021, 1, 31, 23, tzinfo=UTC), "detests2022": datetime(2023, 1, 1, tzinfo=UTC)}


@pytest.mark.slow
def test_the_last_phase_shows_scores_at_once_and_stays_open_unless_the_gold_of_its_items_is_public(
    definition: Definition,
) -> None:
    *past, last = definition.phases
    assert (last.scores, last.official, last.runs_per_day) == ("at-once", "best", 10)
    assert last.closes == ENDED.get(definition.slug)
    published = {definition.publishes_items(track.slug, last.split) for track in definition.tracks}
    assert published == {definition.slug in ENDED}
    # A phase with a ladder may still be open, because it uses different items.
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
    assert all("This combined ranking exists only on this portal" in overall.note for overall in definition.overall)


@pytest.mark.parametrize("spelling", ["dehumanisation", "dehumanization"])
def test_detests_accepts_both_spellings_of_a_category(built: Built, spelling: str) -> None:
    definition = built["detests2022"]
    run = (definition.folder / "baselines/task2/all-ones.csv").read_text().replace("dehumanisation", spelling, 1)
    assert check(definition, "task2", run.encode()).problems == []
    twice = run.replace(spelling, "dehumanization,dehumanisation", 1)
    assert "header-column-twice" in {problem.code for problem in check(definition, "task2", twice.encode())}


@pytest.mark.slow
def test_baselines_are_accepted_and_score(definition: Definition) -> None:
    for gold in definition.gold:
        for baseline in definition.baselines:
            if baseline.files is None or not baseline.is_for(gold.track):
                continue
            run = definition.folder / baseline.files.format(split=gold.split, track=gold.track)
            assert check(definition, gold.track, run, split=gold.split).errors == [], run
            items = definition.track(gold.track).items[gold.split]
            result = score(definition, gold.track, run, gold=gold.file, items=items, split=gold.split)
            missing = [key for key, value in result.scores.items() if value is None]
            assert (result.report.errors, missing) == ([], []), run


def test_toxic_spans_have_the_dates_of_the_page(built: Built) -> None:
    definition = built["toxicspans2021"]
    start, evaluation, post, end = (
        datetime(*day, tzinfo=UTC) for day in ((2020, 7, 31), (2021, 1, 10), (2021, 1, 31), (2021, 1, 31, 23))
    )
    windows = {phase.slug: (phase.opens, phase.closes) for phase in definition.phases}
    assert windows == {
        "practice": (start, evaluation),
        "evaluation": (evaluation, post),
        "post-evaluation": (post, end),
    }
    (rules,) = (phase for phase in definition.phases if phase.slug == "evaluation")
    assert (rules.runs_per_track, rules.official, definition.team.closes_with) == (10, "best", "evaluation")
    assert {dataset.slug: dataset.released for dataset in definition.datasets} == {
        "test": evaluation,
        "trial": None,
        "trial-spans": None,
    }


def test_toxic_spans_terms_name_every_rule(built: Built) -> None:
    terms = built["toxicspans2021"].pages["terms"].read_text(encoding="utf-8")
    rules = ("you allow the organizers to publish", "choose the metrics", "may withhold scores", "do not guarantee")
    assert all(rule in terms for rule in rules)


LINKS = {
    "detests2022": "https://detestsiberlef.wixsite.com/detests",
    "exist2024": "http://nlp.uned.es/exist2024/",
    "hateval2019": "https://github.com/msang/hateval",
    "toxicspans2021": "https://competitions.codalab.org/competitions/25623",
    "ssa2023": "https://github.com/franciellevargas/SSA",
}


@pytest.mark.parametrize("slug", GENERATORS)
def test_contact_links_are_those_in_the_texts(root: Path, slug: str) -> None:
    contact = load_definition(root / "tasks" / slug).contact
    assert contact is not None
    assert contact.link == LINKS[slug]


ORGANIZERS = {  # the number of names on the title page, the first one with its affiliation, and the last one
    "detests2022": (7, "Alejandro Ariza-Casabona", "Universitat de Barcelona", "Paolo Rosso"),
    "exist2024": (
        10,
        "Jorge Carrillo-de-Albornoz",
        "Universidad Nacional de Educación a Distancia",
        "Víctor Ruiz-García",
    ),
    "hateval2019": (8, "Valerio Basile", "Università degli Studi di Torino", "Manuela Sanguinetti"),
    "toxicspans2021": (4, "John Pavlopoulos", "", "Ion Androutsopoulos"),
    "ssa2023": (
        5,
        "Francielle Vargas",
        "University of São Paulo and Federal University of Minas Gerais",
        "Fabrício Benevenuto",
    ),
}


@pytest.mark.parametrize("slug", GENERATORS)
def test_organizers_are_those_on_the_title_pages(root: Path, slug: str) -> None:
    organizers = load_definition(root / "tasks" / slug).organizers
    found = len(organizers), organizers[0].name, organizers[0].affiliation, organizers[-1].name
    assert found == ORGANIZERS[slug]


def test_ssa_asks_for_the_model_and_the_dataset(root: Path) -> None:
    definition = load_definition(root / "tasks/ssa2023")
    assert [field.label for field in definition.run_fields] == ["Model", "Dataset"]
    assert all(baseline.fields.keys() == {"model", "dataset"} for baseline in definition.baselines)


DESCRIBED = {  # facts about data that is not on the portal
    "ssa2023": (
        r"\| OLID \| 14,100 English tweets.* 4,400 offensive and 4,400 .*\| Fleiss' kappa 83% \|",
        r"\| HateBR \| 7,000 Instagram comments.*half of them offensive.*nine targets.*\| Cohen's kappa 75% \|",
        r"\| MOL \| a lexicon of 1,000 .*\| kappa 73% \|",
        r"\| CrowS-Pairs \| 1,508 English tuples on nine types of bias\..*300 on gender and race",
    ),
    "toxicspans2021": (r"training set has 7,939 posts and is not part of this portal", r"10,000 of these annotated"),
}


@pytest.mark.parametrize(("slug", "fact"), [(slug, fact) for slug, facts in DESCRIBED.items() for fact in facts])
def test_data_pages_describe_what_is_not_on_the_portal(root: Path, slug: str, fact: str) -> None:
    assert re.search(fact, (root / "tasks" / slug / "pages/data.md").read_text(encoding="utf-8"))


def test_the_demo_says_which_tasks_are_for_practice() -> None:
    definitions = [load_definition(ROOT / "tasks" / slug) for slug in DEMO]
    news = {one.slug: news_text(one.title, is_of_campaign=bool(one.sources)) for one in definitions}
    assert news["ssa2023"].endswith("The rules are those of the real campaign SSA 2023.")
    assert [slug for slug, text in news.items() if "not from a campaign" in text] == ["tryagon"]
