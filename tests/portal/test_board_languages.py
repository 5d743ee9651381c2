"""Boards, figures and papers by the language of the items: of one gold, scorer and table, none before the release."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from django.test import Client

from portal.actions.import_shared_task import import_shared_task
from portal.evaluation.compare import boards_to_refresh, compare_board
from portal.figures.field import field_figures
from portal.models import Board, Evaluation, Phase, SharedTask
from portal.queries.leaderboard import Leaderboard
from portal.queries.releases import keep_release
from tests.portal.test_insights import pack_of, seen
from tests.portal.world import (
    EVALUATION,
    GOOD,
    MILLISECOND,
    PERFECT,
    RELEASE,
    board,
    captain,
    new_team,
    organizer_of,
    ranked,
    send_run,
    with_teams,
    work_off,
)

PAGE = "/tasks/tiny/leaderboard/one/?phase=evaluation"
SPANISH = ["NO", "NO", "YES", "NO"]  # right in Spanish alone


def give_languages(folder: Path, languages: Iterable[str]) -> None:
    """The languages of the items a, b, c and d."""
    rows = [f"{item}\t{language}" for item, language in zip("abcd", languages, strict=True)]
    (folder / "data/languages.tsv").write_text("\n".join(["id\tlang", *rows, ""]))
    path = folder / "task.yaml"
    if "item_languages" not in path.read_text():
        path.write_text(path.read_text().replace("rank_by", "item_languages: data/languages.tsv\n    rank_by", 1))
    import_shared_task(None, folder, EVALUATION)


def make(at: str = "evaluation") -> None:
    """What a worker does in the background."""
    compare_board(Board.objects.get(track__slug="one", phase__slug=at), RELEASE)


def lines(shown: Leaderboard) -> list[tuple[int | None, str, float | None]]:
    return [(row.rank, row.team or row.name, row.scores.get("accuracy")) for row in shown.rows]


@pytest.fixture
def bilingual(tiny: SharedTask, tiny_folder: Path) -> SharedTask:
    give_languages(tiny_folder, ["en", "en", "es", "es"])
    with_teams(tiny, {"Ostro": GOOD, "Meltemi": PERFECT, "Sirocco": SPANISH})
    make()
    return SharedTask.objects.get()


def test_a_board_of_one_language_is_ranked_by_it(bilingual: SharedTask) -> None:
    shown = board(bilingual, RELEASE, language="es")
    assert lines(shown) == [
        (None, "Gold Standard", 1.0),
        (1, "Meltemi", 1.0),
        (1, "Sirocco", 1.0),
        (None, "All yes", 0.5),
        (3, "Ostro", 0.5),
    ]
    assert (shown.language, shown.language_items, shown.unmade) == ("es", 2, 0)
    assert (shown.comparison, shown.has_groups, shown.since) == (None, False, None)
    assert set(shown.rows[1].scores) == {"accuracy", "f1_macro", "f1:YES"}
    whole = board(bilingual, RELEASE)
    assert (ranked(whole), whole.languages) == ([(1, "Meltemi"), (2, "Ostro"), (3, "Sirocco")], {"en": 2, "es": 2})
    assert whole.comparison is not None
    assert lines(board(bilingual, RELEASE, language="xx")) == lines(whole)


def test_all_runs_are_ranked_by_it(bilingual: SharedTask) -> None:
    send_run(bilingual.teams.get(name="Meltemi"), SPANISH, 2, EVALUATION + MILLISECOND)
    bilingual.phases.filter(slug="evaluation").update(official="best")
    work_off(EVALUATION)
    make()
    shown = board(bilingual, RELEASE, language="es", runs="all", baselines=False)
    assert [(row.rank, row.team, row.number, row.scores["accuracy"]) for row in shown.rows] == [
        (1, "Meltemi", 1, 1.0),
        (1, "Sirocco", 1, 1.0),
        (1, "Meltemi", 2, 1.0),
        (4, "Ostro", 1, 0.5),
    ]
    assert shown.unmade == 0
    in_english = board(bilingual, RELEASE, language="en", runs="all", baselines=False)
    assert [row.number for row in in_english.rows if row.rank == 3] == [1, 2]
    found = seen(bilingual, RELEASE)
    assert found.languages is not None
    assert [name for name, _score, _values in found.languages.rows] == ["Meltemi", "Ostro", "Sirocco"]


def test_it_can_be_sorted_and_searched_like_any(bilingual: SharedTask) -> None:
    worst_first = board(bilingual, RELEASE, language="es", sort="accuracy", descending=False, baselines=False)
    assert lines(worst_first)[0] == (3, "Ostro", 0.5)
    by_f1 = board(bilingual, RELEASE, language="en", sort="f1:YES", baselines=False)
    assert [row.team for row in by_f1.rows] == ["Meltemi", "Ostro", "Sirocco"]
    assert lines(board(bilingual, RELEASE, language="en", search="siro")) == [(3, "Sirocco", 0.0)]


def test_equal_scores_go_by_the_track_s_rule(bilingual: SharedTask, tiny_folder: Path) -> None:
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text().replace("rank_by: accuracy\n", "rank_by: accuracy\n    ties: earlier\n", 1))
    import_shared_task(None, tiny_folder, EVALUATION)
    assert ranked(board(SharedTask.objects.get(), RELEASE, language="es")) == [
        (1, "Meltemi"),
        (2, "Sirocco"),
        (3, "Ostro"),
    ]


def test_the_page_and_the_files_say_so(bilingual: SharedTask) -> None:
    page = Client().get(f"{PAGE}&language=es").content.decode()
    assert "Scores on the 2 items in Spanish; the official ranking is that of all items." in page
    assert '<option value="es" selected>Spanish</option>' in page
    assert "95 % interval" not in page
    assert "the official ranking" not in Client().get(PAGE).content.decode()
    answer = Client().get(f"{PAGE}&language=es&format=json")
    assert (answer.json()["language"], answer.json()["language_items"], answer.json()["intervals"]) == ("es", 2, None)
    assert answer["Content-Disposition"] == 'attachment; filename="tiny_one_evaluation_es.json"'
    head, *rows = Client().get(f"{PAGE}&language=es&format=csv").content.decode().splitlines()
    cells = dict(zip(head.split(","), rows[1].split(","), strict=True))
    assert (cells["team"], cells["accuracy"], cells["language"], cells["low"]) == ("Meltemi", "1.0", "es", "")


def test_nothing_of_a_language_before_the_release(bilingual: SharedTask) -> None:
    Phase.objects.filter(slug="evaluation").update(released=None)
    client = Client()
    client.force_login(captain(bilingual.teams.get(name="Ostro")))
    for reader in (Client(), client):
        for query in ("", "&format=csv", "&format=json"):
            answer = reader.get(f"{PAGE}&language=es{query}").content.decode()
            assert not any(word in answer for word in ("Meltemi", "Sirocco", "0.5", "1.0000"))
    hidden = board(bilingual, RELEASE, language="es")
    assert (hidden.visible, hidden.rows, hidden.languages) == (False, [], {})
    assert seen(bilingual, EVALUATION).languages is None


def test_a_ladder_shows_nothing_by_language(bilingual: SharedTask) -> None:
    rules = {"scores": "at-once", "ladder_step": 0.5, "released": None}
    Phase.objects.filter(slug="evaluation").update(**rules)
    task = SharedTask.objects.get()
    stepped = board(task, EVALUATION, language="es")
    assert stepped == board(task, EVALUATION)
    assert (stepped.language, stepped.languages, stepped.step) == ("", {}, 0.5)
    organizer = organizer_of(task, "Organizer")
    assert board(task, EVALUATION, language="es", viewer=organizer).language_items == 2


def test_a_released_board_stays_one_of_all_items(bilingual: SharedTask, client: Client) -> None:
    keep_release(Board.objects.get(track__slug="one", phase__slug="evaluation"), RELEASE)
    address = "/tasks/tiny/leaderboard/one/evaluation/1/?format=json"
    assert client.get(address).json()["rows"][1]["team"] == "Meltemi"
    assert client.get(f"{address}&language=es").content == client.get(address).content


def test_a_run_that_was_not_compared_yet_has_no_score(bilingual: SharedTask) -> None:
    send_run(new_team(bilingual, "Levante"), GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    shown = board(bilingual, RELEASE, language="es")
    assert (lines(shown)[-1], shown.unmade) == ((None, "Levante", None), 1)
    assert "One run has none" in Client().get(f"{PAGE}&language=es").content.decode()
    make()
    assert lines(board(bilingual, RELEASE, language="es"))[-1] == (3, "Ostro", 0.5)


def test_scores_by_another_gold_or_table_are_not_shown(bilingual: SharedTask, tiny_folder: Path) -> None:
    Evaluation.objects.update(scorer="0.0")
    Board.objects.update(scorer="0.0")
    shown = board(bilingual, RELEASE, language="es")
    assert (shown.languages, {score for _, _, score in lines(shown)}) == ({"en": None, "es": None}, {None})
    Evaluation.objects.update(scorer=bilingual.scorer)
    Board.objects.update(scorer=bilingual.scorer)
    assert board(bilingual, RELEASE, language="es").language_items == 2
    give_languages(tiny_folder, ["es", "en", "en", "es"])
    task = SharedTask.objects.get()
    assert board(task, RELEASE, language="es").language_items is None
    assert "are not made yet" in Client().get(f"{PAGE}&language=es").content.decode()
    assert seen(task, RELEASE).languages is None
    Board.objects.update(compared_at=None)
    assert Board.objects.get(track__slug="one", phase__slug="evaluation").pk in boards_to_refresh(
        Board.objects.all(), RELEASE
    )
    make()
    assert ranked(board(task, RELEASE, language="es")) == [(1, "Meltemi"), (1, "Ostro"), (3, "Sirocco")]


@pytest.mark.slow
def test_the_field_and_the_paper_compare_languages(bilingual: SharedTask) -> None:
    found = seen(bilingual, RELEASE)
    assert found.languages is not None
    assert found.languages.items == [("en", 2), ("es", 2)]
    assert found.languages.rows == [
        ("Meltemi", 1.0, [1.0, 1.0]),
        ("Ostro", 0.75, [1.0, 0.5]),
        ("Sirocco", 0.5, [0.0, 1.0]),
    ]
    figure = next(figure for figure in field_figures(found) if figure.name == "by-language")
    assert [cell.text for cell in figure.cells[3]] == ["Ostro", "Spanish", "0.5000"]
    assert figure.alt == "The best in English is Meltemi with 1.0000. The best in Spanish is Meltemi with 1.0000."
    pack = pack_of(bilingual)
    assert "Meltemi & 1.0000" in pack.read("tables/one-languages.tex").decode()
    assert pack.read("figures/one-by-language.svg").startswith(b"<svg")
