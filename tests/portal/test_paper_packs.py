"""Paper packs: built once per state of the boards, one at a time, and never by the web server."""

import io
import zipfile
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from portal.actions.base.errors import NotAllowed
from portal.actions.paper_files import request_paper_files
from portal.actions.papers import set_paper
from portal.evaluation.compare import compare_board
from portal.models import Board, PaperPack, Phase, SharedTask, Team
from portal.models.clock import database_now
from portal.objects.interface import data_objects
from portal.paper import build
from portal.paper.build import build_pack
from portal.paper.queue import ATTEMPTS, TRACK_SECONDS, claim_pack, packs_to_build, request_pack
from portal.queries.paper_packs import boards_state
from portal.storage import pack_name
from tests.portal.remembered import remembered
from tests.portal.test_papers import ENTRY
from tests.portal.world import EVALUATION, GOOD, PERFECT, RELEASE, captain, person, set_up_second_factor, with_teams

MINUTE = timedelta(minutes=1)
PAGE, ZIP = "/tasks/tiny/paper/evaluation/", "/tasks/tiny/paper/evaluation.zip"


@remembered
def field(tiny: SharedTask) -> SharedTask:
    """Two teams with scored runs. The phase `evaluation` is released at RELEASE."""
    with_teams(tiny, {"Ostro": GOOD, "Meltemi": PERFECT})
    settle()
    return tiny


@pytest.fixture
def organizer(tiny: SharedTask) -> Client:
    user = person("Organizer")
    tiny.organizers.add(user)
    set_up_second_factor(user)
    client = Client()
    client.force_login(user)
    return client


def settle() -> None:
    """Compare the boards' runs, as a worker does."""
    for board in Board.objects.filter(gold__isnull=False):
        compare_board(board, RELEASE)


def phase_of(shared_task: SharedTask) -> Phase:
    return Phase.objects.select_related("shared_task").get(shared_task=shared_task, slug="evaluation")


def content(answer) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))


def change(shared_task: SharedTask) -> None:
    Board.objects.filter(phase=phase_of(shared_task)).changed()


@pytest.mark.slow
def test_the_page_leads_from_the_request_to_the_file(field):
    client = Client()
    assert client.get(ZIP)["Location"] == PAGE
    assert "Create paper files" in client.get(PAGE).content.decode()
    assert client.post(PAGE)["Location"] == PAGE
    waiting = client.get(PAGE).content.decode()
    assert "Waiting" in waiting
    assert f'hx-get="{PAGE}status/?seen=queued-0"' in waiting
    assert 'http-equiv="refresh"' in waiting
    assert client.get(f"{PAGE}status/?seen=queued-0").status_code == 204
    assert client.get(ZIP).status_code == 302  # the request does not build the pack itself
    pack = PaperPack.objects.get()
    assert build_pack(pack.pk, database_now())
    ready = client.get(PAGE).content.decode()
    assert "Download paper files" in ready
    assert "hx-get" not in ready
    assert 'http-equiv="refresh"' not in ready
    archive = content(client.get(ZIP))
    assert archive.testzip() is None
    assert {"paper.tex", "README.md", "tables/one.tex"} <= set(archive.namelist())


@pytest.mark.slow
def test_one_state_of_the_boards_is_built_once(field):
    at, phase = database_now(), phase_of(field)
    packs = {request_paper_files(viewer, phase, at).pk for viewer in (AnonymousUser(), captain(Team.objects.first()))}
    assert len(packs) == 1
    assert build_pack(*packs, at)
    assert request_paper_files(AnonymousUser(), phase, at).state == "ready"
    assert not build_pack(*packs, at)


@pytest.mark.slow
def test_a_change_of_the_boards_asks_for_another_pack_and_the_old_one_goes(field):
    at, phase = database_now(), phase_of(field)
    old = request_pack(phase, None, at)
    assert build_pack(old.pk, at)
    old.refresh_from_db()
    change(field)
    assert Client().get(ZIP).status_code == 302
    new = request_pack(phase, None, at + MINUTE)
    assert new.pk != old.pk
    assert build_pack(new.pk, at + MINUTE)
    new.refresh_from_db()
    assert list(PaperPack.objects.all()) == [new]
    assert old.sha256 != new.sha256
    assert [data_objects().has(pack_name(pack.sha256)) for pack in (old, new)] == [False, True]


def test_what_waits_for_an_older_state_is_dropped(field):
    at, phase = database_now(), phase_of(field)
    request_pack(phase, None, at)
    change(field)
    newer = request_pack(phase, None, at)
    assert list(PaperPack.objects.all()) == [newer]


def test_a_paper_of_a_team_and_a_changed_release_are_other_states(field):
    phase = phase_of(field)
    states = {boards_state(phase, RELEASE).digest}
    ostro = Team.objects.get(name="Ostro")
    set_paper(captain(ostro), ostro, EVALUATION, bibtex=ENTRY)
    states.add(boards_state(phase, RELEASE).digest)
    phase.released = RELEASE - MINUTE
    states.add(boards_state(phase, RELEASE).digest)
    assert len(states) == 3
    assert boards_state(phase, RELEASE + MINUTE).digest in states


@pytest.mark.slow
def test_a_release_brings_the_pack_by_itself_and_once(field):
    assert packs_to_build(RELEASE - MINUTE) == []
    (pack,) = packs_to_build(RELEASE)
    assert packs_to_build(RELEASE) == []  # a message has been queued
    assert packs_to_build(RELEASE + MINUTE) == [pack]  # in case the message was lost
    assert build_pack(pack, RELEASE + MINUTE)
    assert packs_to_build(RELEASE + 2 * MINUTE) == []
    change(field)
    assert packs_to_build(RELEASE + 2 * MINUTE) == []  # the boards have not been compared yet
    settle()
    (again,) = packs_to_build(RELEASE + 2 * MINUTE)
    assert again != pack


def test_nothing_is_hinted_at_while_a_pack_is_built(field):
    at = database_now()
    one = request_pack(phase_of(field), None, at)
    other = request_pack(Phase.objects.select_related("shared_task").get(shared_task=field, slug="post"), None, at)
    assert packs_to_build(at) == [one.pk]
    assert claim_pack(one.pk, at)
    assert packs_to_build(at + MINUTE) == []
    PaperPack.objects.filter(pk=one.pk).update(state=PaperPack.State.READY)
    assert packs_to_build(at + MINUTE) == [other.pk]


def test_one_pack_is_built_at_a_time(field):
    at = database_now()
    one = request_pack(phase_of(field), None, at)
    post = Phase.objects.select_related("shared_task").get(shared_task=field, slug="post")
    other = request_pack(post, None, at)
    assert claim_pack(one.pk, at)
    assert not claim_pack(one.pk, at)
    assert not claim_pack(other.pk, at)
    one.refresh_from_db()
    assert (one.state, one.done, one.total) == ("building", 0, 2)


@pytest.mark.slow
def test_progress_is_shown_track_by_track(field, monkeypatch):
    seen = []
    status = Client().get(PAGE)
    assert status.status_code == 200
    insights = build.pack.__globals__["insights"]

    def watch(*given):
        seen.append(Client().get(f"{PAGE}status/").content.decode())
        return insights(*given)

    monkeypatch.setitem(build.pack.__globals__, "insights", watch)
    at = database_now()
    assert build_pack(request_pack(phase_of(field), None, at).pk, at)
    assert ["0 of 2 tracks" in seen[0], "1 of 2 tracks" in seen[1]] == [True, True]


@pytest.mark.slow
def test_a_stale_builder_writes_nothing_and_another_builds_it(field, monkeypatch):
    at = database_now()
    pack = request_pack(phase_of(field), None, at)
    later = at + timedelta(seconds=TRACK_SECONDS)
    insights = build.pack.__globals__["insights"]

    def lose(*given):
        monkeypatch.setitem(build.pack.__globals__, "insights", insights)
        assert packs_to_build(later + MINUTE) == [pack.pk]
        assert build_pack(pack.pk, later + MINUTE)
        return insights(*given)

    monkeypatch.setitem(build.pack.__globals__, "insights", lose)
    assert not build_pack(pack.pk, at)
    pack.refresh_from_db()
    assert (pack.state, pack.attempts) == ("ready", 2)


@pytest.mark.slow
def test_a_pack_that_cannot_be_built_fails_after_some_attempts_and_may_be_asked_for_again(field, monkeypatch):
    at, phase = database_now(), phase_of(field)
    pack = request_pack(phase, None, at)

    def fail(*_given):
        raise ValueError("no figure")

    with monkeypatch.context() as patch:
        patch.setitem(build.pack.__globals__, "insights", fail)
        for attempt in range(ATTEMPTS):
            assert not build_pack(pack.pk, at + attempt * MINUTE)
    pack.refresh_from_db()
    assert pack.state == "failed"
    assert "Try again in ten minutes" in Client().get(PAGE).content.decode()
    assert request_pack(phase, None, at + MINUTE).state == "failed"
    assert request_pack(phase, None, at + 30 * MINUTE).state == "queued"
    assert build_pack(pack.pk, at + 30 * MINUTE)


@pytest.mark.slow
def test_before_the_release_organizers_alone_have_a_pack_and_it_goes_with_it(field, organizer):
    Phase.objects.filter(slug="evaluation").update(released=None)
    for client in (Client(), organizer):
        answers = {client.get(PAGE).status_code, client.get(f"{PAGE}status/").status_code}
        assert answers == ({200} if client is organizer else {404})
    assert Client().post(PAGE).status_code == 404
    with pytest.raises(NotAllowed):
        request_paper_files(AnonymousUser(), phase_of(field), database_now())
    assert organizer.post(PAGE).status_code == 302
    pack = PaperPack.objects.get()
    assert pack.audience == "organizers"
    assert build_pack(pack.pk, database_now())
    assert b"Ostro" in content(organizer.get(ZIP)).read("tables/one.tex")
    assert Client().get(ZIP).status_code == 404
    Phase.objects.filter(slug="evaluation").update(released=RELEASE)
    assert Client().get(ZIP).status_code == 302  # the organizers' pack is not public
    public = request_paper_files(AnonymousUser(), phase_of(field), database_now())
    assert build_pack(public.pk, database_now())
    assert [one.audience for one in PaperPack.objects.all()] == ["public"]


@pytest.mark.slow
def test_a_pack_whose_file_is_gone_can_be_built_again(field):
    at, phase = database_now(), phase_of(field)
    assert build_pack(request_pack(phase, None, at).pk, at)
    data_objects().delete(pack_name(PaperPack.objects.get().sha256))
    assert Client().get(ZIP).status_code == 302
    assert build_pack(request_pack(phase, None, at).pk, at)
    assert content(Client().get(ZIP)).testzip() is None
