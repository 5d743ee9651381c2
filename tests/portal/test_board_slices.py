"""Boards, figures and papers by item slice: from a single gold, scorer and table, and only after the release."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from django.test import Client

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.compare import boards_to_refresh, compare_board
from portal.figures.field import field_figures
from portal.models import Board, Evaluation, Phase, SharedTask
from portal.queries.boards.leaderboard import Leaderboard
from portal.queries.boards.releases import keep_release
from portal.queries.boards.slices import run_slices
from tests.portal.remembered import remembered
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
    send,
    send_run,
    with_teams,
    work_off,
)

PAGE = "/tasks/tiny/leaderboard/one/?phase=evaluation"
SPANISH = ["NO", "NO", "YES", "NO"]  # correct only for the Spanish items


def write_languages(folder: Path, languages: Iterable[str]) -> None:
    """Write the languages of the items a, b, c and d to the folder."""
    rows = [f"{item}\t{language}" for item, language in zip("abcd", languages, strict=True)]
    (folder / "data/languages.tsv").write_text("\n".join(["id\tlang", *rows, ""]))
    path = folder / "task.yaml"
    if "slices" not in path.read_text():
        slices = "slices: {language: {column: lang, items: data/languages.tsv}}"
        path.write_text(path.read_text().replace("rank_by", f"{slices}\n    rank_by", 1))


def make(at: str = "evaluation") -> None:
    """Compare the runs on the board of track one, as a worker does in the background."""
    compare_board(Board.objects.get(track__slug="one", phase__slug=at), RELEASE)


def lines(shown: Leaderboard) -> list[tuple[int | None, str, float | None]]:
    return [(row.rank, row.team or row.name, row.scores.get("accuracy")) for row in shown.rows]


def counts(shown: Leaderboard) -> dict[str, int | None]:
    return {one.key: one.items for one in shown.slices}


@pytest.fixture
def bilingual_folder(tiny: SharedTask, tiny_folder: Path) -> Path:
    """The tiny task's folder, with languages since the first import."""
    write_languages(tiny_folder, ["en", "en", "es", "es"])
    return tiny_folder


@remembered
def bilingual(tiny: SharedTask, bilingual_folder: Path) -> SharedTask:
    import_shared_task(None, bilingual_folder, EVALUATION)
    with_teams(tiny, {"Ostro": GOOD, "Meltemi": PERFECT, "Sirocco": SPANISH})
    make()
    return SharedTask.objects.get()


@pytest.mark.slow
def test_a_board_of_one_language_is_ranked_by_it(bilingual: SharedTask) -> None:
    shown = board(bilingual, RELEASE, slice="language=es")
    assert lines(shown) == [
        (None, "Gold Standard", 1.0),
        (1, "Meltemi", 1.0),
        (1, "Sirocco", 1.0),
        (None, "All yes", 0.5),
        (3, "Ostro", 0.5),
    ]
    assert shown.slice is not None
    assert (shown.slice.key, shown.slice.label, shown.slice.items, shown.unmade) == ("language=es", "Spanish", 2, 0)
    assert (shown.comparison, shown.has_groups, shown.since) == (None, False, None)
    assert set(shown.rows[1].scores) == {"accuracy", "f1_macro", "f1:YES"}
    whole = board(bilingual, RELEASE)
    assert ranked(whole) == [(1, "Meltemi"), (2, "Ostro"), (3, "Sirocco")]
    assert counts(whole) == {"language=en": 2, "language=es": 2}
    assert whole.comparison is not None
    assert lines(board(bilingual, RELEASE, slice="language=xx")) == lines(whole)


@pytest.mark.slow
def test_all_runs_are_ranked_by_it(bilingual: SharedTask) -> None:
    send_run(bilingual.teams.get(name="Meltemi"), SPANISH, 2, EVALUATION + MILLISECOND)
    bilingual.phases.filter(slug="evaluation").update(official="best")
    work_off(EVALUATION)
    make()
    shown = board(bilingual, RELEASE, slice="language=es", runs="all", baselines=False)
    assert [(row.rank, row.team, row.number, row.scores["accuracy"]) for row in shown.rows] == [
        (1, "Meltemi", 1, 1.0),
        (1, "Sirocco", 1, 1.0),
        (1, "Meltemi", 2, 1.0),
        (4, "Ostro", 1, 0.5),
    ]
    assert shown.unmade == 0
    in_english = board(bilingual, RELEASE, slice="language=en", runs="all", baselines=False)
    assert [row.number for row in in_english.rows if row.rank == 3] == [1, 2]
    found = seen(bilingual, RELEASE)
    (languages,) = found.slices
    assert [name for name, _score, _values in languages.rows] == ["Meltemi", "Ostro", "Sirocco"]


@pytest.mark.slow
def test_it_can_be_sorted_and_searched_like_any(bilingual: SharedTask) -> None:
    worst_first = board(bilingual, RELEASE, slice="language=es", sort="accuracy", descending=False, baselines=False)
    assert lines(worst_first)[0] == (3, "Ostro", 0.5)
    by_f1 = board(bilingual, RELEASE, slice="language=en", sort="f1:YES", baselines=False)
    assert [row.team for row in by_f1.rows] == ["Meltemi", "Ostro", "Sirocco"]
    assert lines(board(bilingual, RELEASE, slice="language=en", search="siro")) == [(3, "Sirocco", 0.0)]


def test_equal_scores_go_by_the_track_s_rule(bilingual: SharedTask, tiny_folder: Path) -> None:
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text().replace("rank_by: accuracy\n", "rank_by: accuracy\n    ties: earlier\n", 1))
    import_shared_task(None, tiny_folder, EVALUATION)
    assert ranked(board(SharedTask.objects.get(), RELEASE, slice="language=es")) == [
        (1, "Meltemi"),
        (2, "Sirocco"),
        (3, "Ostro"),
    ]


@pytest.mark.slow
def test_the_page_and_the_files_say_so(bilingual: SharedTask) -> None:
    page = Client().get(f"{PAGE}&slice=language%3Des").content.decode()
    assert "These scores cover only the 2 items with language Spanish. The official ranking uses all items." in page
    assert '<option value="language=es" selected>' in page
    assert "95% interval" not in page
    assert "The official ranking" not in Client().get(PAGE).content.decode()
    answer = Client().get(f"{PAGE}&slice=language%3Des&format=json")
    assert (answer.json()["slice"], answer.json()["slice_items"], answer.json()["intervals"]) == (
        "language=es",
        2,
        None,
    )
    assert answer["Content-Disposition"] == 'attachment; filename="tiny_one_evaluation_language-es.json"'
    head, *rows = Client().get(f"{PAGE}&slice=language%3Des&format=csv").content.decode().splitlines()
    cells = dict(zip(head.split(","), rows[1].split(","), strict=True))
    assert (cells["team"], cells["accuracy"], cells["slice"], cells["low"]) == ("Meltemi", "1.0", "language=es", "")


@pytest.mark.slow
def test_nothing_of_a_slice_before_the_release(bilingual: SharedTask) -> None:
    Phase.objects.filter(slug="evaluation").update(released=None)
    client = Client()
    client.force_login(captain(bilingual.teams.get(name="Ostro")))
    for reader in (Client(), client):
        for query in ("", "&format=csv", "&format=json"):
            answer = reader.get(f"{PAGE}&slice=language%3Des{query}").content.decode()
            assert not any(word in answer for word in ("Meltemi", "Sirocco", "0.5", "1.0000"))
    hidden = board(bilingual, RELEASE, slice="language=es")
    assert (hidden.visible, hidden.rows, hidden.slices) == (False, [], ())
    nothing = seen(bilingual, EVALUATION)
    assert (nothing.slices, nothing.gaps) == ([], [])


def test_a_ladder_shows_nothing_by_slice(bilingual: SharedTask) -> None:
    rules = {"scores": "at-once", "ladder_step": 0.5, "released": None}
    Phase.objects.filter(slug="evaluation").update(**rules)
    task = SharedTask.objects.get()
    stepped = board(task, EVALUATION, slice="language=es")
    assert stepped == board(task, EVALUATION)
    assert (stepped.slice, stepped.slices, stepped.step) == (None, (), 0.5)
    organizer = organizer_of(task, "Organizer")
    shown = board(task, EVALUATION, slice="language=es", viewer=organizer).slice
    assert shown is not None
    assert shown.items == 2


def test_a_released_board_stays_one_of_all_items(bilingual: SharedTask, client: Client) -> None:
    keep_release(Board.objects.get(track__slug="one", phase__slug="evaluation"), RELEASE)
    address = "/tasks/tiny/leaderboard/one/evaluation/1/?format=json"
    assert client.get(address).json()["rows"][1]["team"] == "Meltemi"
    assert client.get(f"{address}&slice=language%3Des").content == client.get(address).content


@pytest.mark.slow
def test_a_run_that_was_not_compared_yet_has_no_score(bilingual: SharedTask) -> None:
    send_run(new_team(bilingual, "Levante"), GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    shown = board(bilingual, RELEASE, slice="language=es")
    assert (lines(shown)[-1], shown.unmade) == ((None, "Levante", None), 1)
    assert "One run has no scores" in Client().get(f"{PAGE}&slice=language%3Des").content.decode()
    make()
    assert lines(board(bilingual, RELEASE, slice="language=es"))[-1] == (3, "Ostro", 0.5)


@pytest.mark.slow
def test_scores_by_another_gold_or_table_are_not_shown(bilingual: SharedTask, tiny_folder: Path) -> None:
    Evaluation.objects.update(scorer="0.0")
    Board.objects.update(scorer="0.0")
    shown = board(bilingual, RELEASE, slice="language=es")
    assert counts(shown) == {"language=en": None, "language=es": None}
    assert {score for _, _, score in lines(shown)} == {None}
    Evaluation.objects.update(scorer=bilingual.scorer)
    Board.objects.update(scorer=bilingual.scorer)
    assert counts(board(bilingual, RELEASE, slice="language=es"))["language=es"] == 2
    write_languages(tiny_folder, ["es", "en", "en", "es"])
    import_shared_task(None, tiny_folder, EVALUATION)
    task = SharedTask.objects.get()
    assert counts(board(task, RELEASE, slice="language=es"))["language=es"] is None
    assert "are still being computed" in Client().get(f"{PAGE}&slice=language%3Des").content.decode()
    assert seen(task, RELEASE).slices == []
    Board.objects.update(compared_at=None)
    assert Board.objects.get(track__slug="one", phase__slug="evaluation").pk in boards_to_refresh(
        Board.objects.all(), RELEASE
    )
    make()
    assert ranked(board(task, RELEASE, slice="language=es")) == [(1, "Meltemi"), (1, "Ostro"), (3, "Sirocco")]


@pytest.mark.slow
def test_the_field_and_the_paper_compare_languages(bilingual: SharedTask) -> None:
    found = seen(bilingual, RELEASE)
    (languages,) = found.slices
    assert (languages.title, languages.items) == ("language", [("English", 2), ("Spanish", 2)])
    assert languages.rows == [
        ("Meltemi", 1.0, [1.0, 1.0]),
        ("Ostro", 0.75, [1.0, 0.5]),
        ("Sirocco", 0.5, [0.0, 1.0]),
    ]
    figure = next(figure for figure in field_figures(found) if figure.name == "by-language")
    assert [cell.text for cell in figure.cells[3]] == ["Ostro", "Spanish", "0.5000"]
    assert (
        figure.alt
        == "The best run for English is Meltemi with 1.0000. The best run for Spanish is Meltemi with 1.0000."
    )
    pack = pack_of(bilingual)
    assert "Meltemi & 1.0000" in pack.read("tables/one-slices-language.tex").decode()
    assert pack.read("figures/one-by-language.svg").startswith(b"<svg")


@pytest.mark.slow
def test_the_run_page_has_the_scores_of_each_slice(bilingual: SharedTask) -> None:
    team = bilingual.teams.get(name="Ostro")
    client = Client()
    client.force_login(captain(team))
    run = team.runs.get()
    assert "Scores by language" in client.get(f"/runs/{run.pk}/").content.decode()
    Phase.objects.filter(slug="evaluation").update(released=None)
    assert "Scores by language" not in client.get(f"/runs/{run.pk}/").content.decode()
    evaluation = Evaluation.objects.get(run=run)
    assert evaluation.details["slices"]["language"]["items"] == {"en": 2, "es": 2}
    (found,) = run_slices(evaluation)
    heads = [column.key for column in found.columns]
    assert [(label, items, values[heads.index("accuracy")]) for label, items, values in found.rows] == [
        ("English", 2, 1.0),
        ("Spanish", 2, 0.5),
    ]


MANY = [f"i{number}" for number in range(80)]


def content(labels: Mapping[str, str]) -> bytes:
    return json.dumps([{"id": item, "value": value} for item, value in labels.items()]).encode()


GOLD = {item: "YES" if place % 3 else "NO" for place, item in enumerate(MANY)}


@pytest.fixture
def uneven_folder(tiny_folder: Path) -> Path:
    """The tiny task's folder, with more items, which have topics."""
    (tiny_folder / "data/items.txt").write_text("\n".join([*MANY, ""]))
    topics = [f"{item}\t{'news' if place < 40 else 'sport'}" for place, item in enumerate(MANY)]
    (tiny_folder / "data/topics.tsv").write_text("\n".join(["id\ttopic", *topics, ""]))
    for track in ("one", "two"):
        (tiny_folder / f"gold/{track}.json").write_bytes(content(GOLD))
        (tiny_folder / f"baselines/{track}_yes.json").write_bytes(content(dict.fromkeys(MANY, "YES")))
    path = tiny_folder / "task.yaml"
    slices = "slices: {topic: {items: {test: data/topics.tsv}}}"
    path.write_text(path.read_text().replace("rank_by", f"{slices}\n    rank_by", 1))
    return tiny_folder


@remembered
def uneven(db: None, uneven_folder: Path) -> SharedTask:
    """Two teams: Ostro is wrong on every second item about sport, Meltemi on every tenth item of either topic."""
    import_shared_task(None, uneven_folder, EVALUATION)
    task, wrong = SharedTask.objects.get(), {"YES": "NO", "NO": "YES"}
    for name, flawed in {"Ostro": MANY[40::2], "Meltemi": MANY[::10]}.items():
        labels = GOLD | {item: wrong[GOLD[item]] for item in flawed}
        send(new_team(task, name), f"one_{name}_1.json", content(labels), EVALUATION)
    work_off(EVALUATION)
    make()
    return task


@pytest.mark.slow
def test_the_bias_report_finds_the_gap_that_is_there(uneven: SharedTask) -> None:
    lines = {gap.run: gap for gap in seen(uneven, RELEASE).gaps}
    ostro, meltemi = lines["Ostro"], lines["Meltemi"]
    assert (ostro.title, ostro.behind, ostro.ahead, ostro.gap) == ("topic", "sport", "news", 0.5)
    assert 0 < ostro.low < 0.5 < ostro.high
    assert ostro.is_found
    assert not meltemi.is_found
    page = Client().get("/tasks/tiny/insights/one/?phase=evaluation").content.decode()
    assert "Bias report" in page
    assert "may be due to chance" in page
    assert "Ostro & topic & sport & news & 0.5000" in pack_of(uneven).read("tables/one-gaps.tex").decode()


@pytest.mark.slow
def test_the_bias_report_is_hidden_until_the_release(uneven: SharedTask) -> None:
    Phase.objects.filter(slug="evaluation").update(released=None)
    client = Client()
    client.force_login(captain(uneven.teams.get(name="Ostro")))
    for reader in (Client(), client):
        page = reader.get("/tasks/tiny/insights/one/?phase=evaluation").content.decode()
        assert "Bias report" not in page
        assert "sport" not in page
    assert seen(uneven, EVALUATION).gaps == []
