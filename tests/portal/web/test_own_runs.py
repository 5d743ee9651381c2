"""Pages for choosing, withdrawing and describing runs."""

import re
from http import HTTPStatus

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from portal.models import Phase, Run, SharedTask, Team
from portal.models.clock import database_now
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, PERFECT, run_file, send_run, work_off


@remembered
def runs(meltemi: Team) -> list[Run]:
    """Two scored runs in an open phase in which teams choose the official run."""
    for number, values in enumerate([PERFECT, GOOD], start=1):
        send_run(meltemi, values, number, EVALUATION)
    work_off(EVALUATION)
    Phase.objects.filter(slug="evaluation").update(closes=None, released=None)
    return list(Run.objects.filter(team=meltemi).order_by("number"))


@pytest.mark.slow
def test_my_runs_say_what_counts_and_why(runs: list[Run], sender: Client) -> None:
    text = sender.get("/tasks/tiny/runs/").content.decode()
    assert "most recent run, until you choose one" in text
    assert (text.count("Make official"), text.count("Keep official")) == (1, 1)


@pytest.mark.slow
def test_a_choice_is_made_by_post_and_shown(runs: list[Run], sender: Client) -> None:
    response = sender.post(f"/runs/{runs[0].pk}/choose/", follow=True)
    text = response.content.decode()
    assert "one_Meltemi_1.json is now the official run." in text
    assert "chosen by Meltemi" in text
    page = sender.get(f"/runs/{runs[0].pk}/").content.decode()
    assert "This is the official run for Meltemi" in page
    assert "the official run</button>" not in page
    other = sender.get(f"/runs/{runs[1].pk}/").content.decode()
    assert f'href="/runs/{runs[0].pk}/">one_Meltemi_1.json</a> is the official run for Meltemi' in other


def test_where_a_phase_has_slots_the_primary_run_counts(runs: list[Run], sender: Client) -> None:
    Phase.objects.filter(slug="evaluation").update(contrastive=2)
    sender.post(f"/runs/{runs[0].pk}/choose/")
    assert "primary run, chosen by Meltemi" in sender.get("/tasks/tiny/runs/").content.decode()
    text = sender.get(f"/tasks/tiny/submissions/{runs[1].submission_id}/").content.decode()
    assert "Check which run is primary" in text
    assert "your most recent run is official" not in text


def test_a_closed_phase_shows_no_limits(runs: list[Run], sender: Client) -> None:
    page = f"/tasks/tiny/submissions/{runs[0].submission_id}/"
    text = sender.get(page).content.decode()
    assert "Runs left in Evaluation" in text
    assert re.findall('<th scope="row" class="mono">(.+)</th>', text) == ["one"]  # the upload's only track
    Phase.objects.filter(slug="evaluation").update(closes=EVALUATION)
    assert "Runs left" not in sender.get(page).content.decode()


def test_a_run_is_withdrawn_on_a_page_that_says_what_that_means(runs: list[Run], sender: Client) -> None:
    address = f"/runs/{runs[0].pk}/withdraw/"
    assert "still counts toward your run limits" in sender.get(address).content.decode()
    empty = sender.post(address, {"reason": " "})
    assert empty.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert Run.objects.get(pk=runs[0].pk).withdrawn_at is None
    text = sender.post(address, {"reason": "<b>wrong</b> file"}, follow=True).content.decode()
    assert "was withdrawn." in text
    assert "&lt;b&gt;wrong&lt;/b&gt; file" in text
    assert "Withdraw …" not in text


def test_a_refusal_is_shown_on_the_runs_page(runs: list[Run], sender: Client) -> None:
    Phase.objects.filter(slug="evaluation").update(closes=database_now())
    response = sender.post(f"/runs/{runs[0].pk}/choose/")
    assert response.status_code == HTTPStatus.FORBIDDEN
    assert "choice of the official run is final" in response.content.decode()
    assert "Make official" not in sender.get("/tasks/tiny/runs/").content.decode()


@pytest.mark.slow
@pytest.mark.parametrize("action", ["choose", "withdraw", "describe"])
def test_who_may_do_that(
    action: str,
    runs: list[Run],
    teammate: Client,
    stranger: Client,
    organizer: Client,
    newcomer: Client,
    anybody: Client,
) -> None:
    address = f"/runs/{runs[0].pk}/{action}/"
    sent = {"reason": "because", "method": "XLM-T"}
    assert anybody.post(address, sent).status_code == 302
    assert [client.post(address, sent).status_code for client in (stranger, newcomer)] == [404, 404]
    assert organizer.post(address, sent).status_code == HTTPStatus.FORBIDDEN
    untouched = {"chosen_at": None, "withdrawn_at": None, "method": ""}
    assert not Run.objects.exclude(**untouched).exists()
    assert teammate.post(address, sent).status_code == 302
    assert Run.objects.exclude(**untouched).get() == runs[0]


def test_baselines_belong_to_no_one(sender: Client, tiny: SharedTask) -> None:
    baseline = Run.objects.filter(kind="baseline").first()
    assert baseline is not None
    for action in ("choose", "withdraw", "describe"):
        assert sender.post(f"/runs/{baseline.pk}/{action}/", {"reason": "no"}).status_code == HTTPStatus.FORBIDDEN


def test_wrong_methods(runs: list[Run], sender: Client) -> None:
    assert sender.get(f"/runs/{runs[0].pk}/choose/").status_code == HTTPStatus.METHOD_NOT_ALLOWED
    for action in ("withdraw", "describe"):
        assert sender.put(f"/runs/{runs[0].pk}/{action}/").status_code == HTTPStatus.METHOD_NOT_ALLOWED


@pytest.mark.slow
@pytest.mark.parametrize("action", ["choose", "withdraw", "describe"])
def test_without_a_token_nothing_is_done(action: str, sender: Client, runs: list[Run]) -> None:
    careful = Client(enforce_csrf_checks=True)
    careful.cookies = sender.cookies
    assert careful.post(f"/runs/{runs[0].pk}/{action}/", {"reason": "x"}).status_code == HTTPStatus.FORBIDDEN


@pytest.mark.slow
def test_a_run_is_described_and_shown_so(runs: list[Run], sender: Client) -> None:
    address = f"/runs/{runs[0].pk}/describe/"
    assert "You can change the description until the scores are released" in sender.get(address).content.decode()
    wrong = sender.post(address, {"method": "XLM-T", "link": "javascript:alert(1)"})
    assert wrong.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert Run.objects.get(pk=runs[0].pk).method == ""
    for link, method in (("ftp://example.org/a", "XLM-T"), ("", "two\vlines")):
        again = sender.post(address, {"method": method, "link": link, "description": "Kept in the form"})
        assert again.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        assert "Kept in the form" in again.content.decode()
    fields = {"method": "<i>XLM-T</i>", "description": "two\nlines", "link": "example.org/x", "system_type": "other"}
    text = sender.post(address, fields, follow=True).content.decode()
    assert "&lt;i&gt;XLM-T&lt;/i&gt;" in text
    assert 'href="https://example.org/x" rel="nofollow noopener ugc"' in text
    assert "two<br>lines" in text
    assert "&lt;i&gt;XLM-T" in sender.get("/tasks/tiny/runs/").content.decode()


def test_a_method_that_is_a_formula_is_defused_in_csv(runs: list[Run], sender: Client) -> None:
    sender.post(f"/runs/{runs[1].pk}/describe/", {"method": "=cmd()"})
    Phase.objects.filter(slug="evaluation").update(released=database_now())
    assert ",'=cmd()," in sender.get("/tasks/tiny/leaderboard/one/?phase=evaluation&format=csv").content.decode()
    assert "=cmd()" in sender.get("/tasks/tiny/leaderboard/one/?phase=evaluation").content.decode()


@pytest.mark.slow
def test_organizers_read_who_withdrew_and_why(runs: list[Run], sender: Client, organizer: Client) -> None:
    sender.post(f"/runs/{runs[0].pk}/withdraw/", {"reason": "wrong file"})
    assert "“wrong file”" in organizer.get(f"/runs/{runs[0].pk}/").content.decode()


@pytest.mark.slow
def test_slots_are_asked_for_and_shown(sender: Client, meltemi: Team) -> None:
    Phase.objects.filter(slug="post").update(contrastive=1, runs_per_track=2, official="chosen")
    assert 'value="contrastive"' in sender.get("/tasks/tiny/submit/").content.decode()
    file = SimpleUploadedFile("one_Meltemi_1.json", run_file(GOOD))
    answer = sender.post("/tasks/tiny/submit/", {"file": file, "phase": "post", "slot": "contrastive"})
    assert answer.status_code == 303
    assert "contrastive" in sender.get(answer["Location"]).content.decode()
    (run,) = Run.objects.filter(team=meltemi)
    assert "Make primary" in sender.get("/tasks/tiny/runs/").content.decode()
    sender.post(f"/runs/{run.pk}/choose/")
    assert "This is the primary run." in sender.get(f"/runs/{run.pk}/").content.decode()
