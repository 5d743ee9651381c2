"""The organizers' pages (gold, phases, extra time, release), and what everyone else sees of their effects."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, FakePayload, encode_multipart

from portal.actions.phases import move_phase
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.teams import register_team
from portal.evaluation.gold import check_gold_upload
from portal.evaluation.preview import preview_gold
from portal.models import (
    AuditEntry,
    Board,
    ExtraTime,
    GoldStandard,
    GoldUpload,
    Phase,
    Run,
    SharedTask,
    Submission,
    Team,
    User,
)
from portal.models.clock import database_now
from portal.queries.boards.waiting_scores import show_announced
from portal.storage import open_gold, sealed_gold
from portal.times_and_numbers import AOE
from tests.portal.test_import import edit
from tests.portal.world import (
    EVALUATION,
    GOOD,
    NOTE,
    PERFECT,
    applied,
    captain,
    judged,
    new_team,
    organizer_of,
    run_file,
    send_run,
    without_children,
    work_off,
)

PAGE = "/tasks/tiny/organize/"
HOUR = timedelta(hours=1)


def written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M")


@pytest.fixture
def now(db: None) -> datetime:
    return database_now().replace(second=0, microsecond=0)


@pytest.fixture
def phase(tiny: SharedTask, now: datetime) -> Phase:
    """A phase that has just closed. Its scores have not been released yet."""
    tiny.phases.filter(slug="evaluation").update(opens=now - 9 * HOUR, closes=now, released=None)
    return tiny.phases.get(slug="evaluation")


def gold_file(content: bytes) -> dict[str, Any]:
    return {"target": "one test", "file": SimpleUploadedFile("gold.json", content)}


@pytest.mark.slow
def test_each_page_opens_and_the_first_one_leads_to_what_waits(organizer: Client, phase: Phase) -> None:
    text = organizer.get(PAGE).content.decode()
    for part in (
        "teams/",
        "uploads/",
        "data/",
        "downloads/",
        "gold/",
        "phases/",
        "releases/",
        "scores/",
        "announcements/",
        "messages/",
        "audit/",
    ):
        assert organizer.get(PAGE + part).status_code == 200
        assert text.count(f'href="{PAGE}{part}"') >= 2  # in the navigation and in the page's text
    assert "Evaluation has closed, but its scores have not been released." in text
    assert f'href="{PAGE}releases/"' in text


def test_the_front_page_shows_organizers_what_waits_for_them(
    organizer: Client, sender: Client, tiny: SharedTask, phase: Phase
) -> None:
    register_team(User.objects.create_user("n@example.org", name="Nora"), tiny, phase.opens, name="Notus")
    Team.objects.filter(name="Notus").update(state="pending")
    text = organizer.get("/").content.decode()
    assert "1 team is waiting for your decision." in text
    assert f'href="{PAGE}"' in text
    assert "create a team" not in text
    assert "waiting for your decision" not in sender.get("/").content.decode()


def test_gold_is_sealed_while_it_comes_in_and_a_worker_answers(organizer: Client, tiny: SharedTask) -> None:
    content = run_file(["NO", "YES", "NO", "NO"])
    page = organizer.post(f"{PAGE}gold/", gold_file(content))["Location"]
    upload = GoldUpload.objects.get()
    assert page == f"{PAGE}gold/previews/{upload.pk}/"
    assert content not in sealed_gold(upload.sealed_sha256)
    assert open_gold(upload.sealed_sha256) == content
    assert "Received" in organizer.get(f"{PAGE}gold/").content.decode()
    applied(upload, upload.lease_ends or upload.received_at)
    text = organizer.get(f"{PAGE}gold/").content.decode()
    assert "as version 2" in text
    assert text.count("4 of 4 items have gold") == 2  # one for each track


@pytest.mark.slow
def test_gold_of_a_split_that_the_track_no_longer_has_is_not_found(
    organizer: Client, tiny: SharedTask, tiny_folder: Path
) -> None:
    page = organizer.post(f"{PAGE}gold/", gold_file(run_file(GOOD)))["Location"]
    older = f"{PAGE}gold/{GoldStandard.objects.get(track__slug='one', split='test').pk}/"
    assert (organizer.get(page).status_code, organizer.post(older).status_code) == (200, 302)
    yaml = tiny_folder / "task.yaml"
    yaml.write_text(yaml.read_text().replace("items: {test: data/items.txt, later", "items: {later", 1))
    edit(tiny_folder, "  - {track: one, split: test, file: gold/one.json}\n", "")
    import_shared_task(None, tiny_folder, EVALUATION)
    assert [organizer.get(page).status_code, organizer.post(page, {"note": NOTE}).status_code] == [404, 404]
    assert organizer.post(older).status_code == 404


def test_errors_of_gold_name_the_line_and_no_label(organizer: Client, tiny: SharedTask) -> None:
    organizer.post(f"{PAGE}gold/", gold_file(b'[{"id": "a", "value": "PERHAPS"}]'))
    upload = GoldUpload.objects.get()
    check_gold_upload(upload.pk, upload.received_at)
    text = organizer.get(f"{PAGE}gold/").content.decode()
    assert "label-outside-domain" in text
    assert "PERHAPS" not in text
    assert "Labels that the track does not define: (not shown). Expected" in text
    assert "1 gold file was rejected" in organizer.get(PAGE).content.decode()


def test_gold_that_is_too_large_is_not_kept(
    organizer: Client, tiny: SharedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portal.actions.gold.GOLD_BYTES", 1000)
    answer = organizer.post(f"{PAGE}gold/", gold_file(b"x" * 1001))
    assert answer.status_code == 413
    assert "The upload limit is" in answer.content.decode()
    assert "quota" not in answer.content.decode()
    assert organizer.post(f"{PAGE}gold/", {"target": "one test"}).status_code == 422
    assert not GoldUpload.objects.exists()


def test_a_moved_deadline_is_among_the_public_dates(
    organizer: Client, anybody: Client, phase: Phase, now: datetime
) -> None:
    fields = {"opens": written(phase.opens), "closes": written(now + HOUR), "zone": "UTC", "note": "Fire <alarm>."}
    assert organizer.post(f"{PAGE}phases/evaluation/move/", fields)["Location"] == f"{PAGE}phases/"
    phase.refresh_from_db()
    assert phase.closes == now + HOUR
    text = anybody.get("/tasks/tiny/evaluation/").content.decode()
    assert "Extended on" in text
    assert "Fire &lt;alarm&gt;." in text


def test_a_time_that_is_left_as_it_stood_stays_in_any_zone(organizer: Client, phase: Phase, now: datetime) -> None:
    shown = f"{phase.opens.astimezone(AOE):%Y-%m-%dT%H:%M}"
    fields = {"opens": shown, "closes": written(now + 5 * HOUR), "zone": "UTC", "note": "Fire alarm."}
    assert organizer.post(f"{PAGE}phases/evaluation/move/", fields)["Location"] == f"{PAGE}phases/"
    moved = Phase.objects.get(pk=phase.pk)
    assert moved.opens == phase.opens
    assert moved.closes != phase.closes


def test_times_are_in_the_zone_that_is_chosen(organizer: Client, phase: Phase, now: datetime) -> None:
    User.objects.update(time_zone="Europe/Madrid")
    fields = {"opens": written(phase.opens - 12 * HOUR), "note": "why"}
    late = written(now + HOUR - 12 * HOUR)
    organizer.post(f"{PAGE}phases/evaluation/move/", fields | {"closes": late, "zone": "AoE"})
    phase.refresh_from_db()
    assert phase.closes == now + HOUR
    gap = fields | {"closes": "2027-03-28T02:30", "zone": "Europe/Madrid"}
    response = organizer.post(f"{PAGE}phases/evaluation/move/", gap)
    assert response.status_code == 422
    assert "clocks are set forward" in response.content.decode()


@pytest.mark.parametrize("late", ["9999-12-31T23:59", "2200-01-01T00:00", "0001-01-01T00:00"])
@pytest.mark.parametrize("zone", ["AoE", "UTC"])
def test_a_year_that_pages_cannot_show_is_rejected(organizer: Client, phase: Phase, late: str, zone: str) -> None:
    fields = {"opens": written(phase.opens), "closes": late, "zone": zone, "note": "Why."}
    response = organizer.post(f"{PAGE}phases/evaluation/move/", fields)
    assert response.status_code == 422
    assert "between the years 2000 and 2199" in response.content.decode()


def test_a_rejected_move_says_why_next_to_what_was_typed(organizer: Client, phase: Phase, now: datetime) -> None:
    fields = {"opens": written(phase.opens), "closes": written(now - HOUR), "zone": "UTC", "note": "too soon"}
    response = organizer.post(f"{PAGE}phases/evaluation/move/", fields)
    text = response.content.decode()
    assert (response.status_code, "at least one hour from now" in text, 'value="too soon"' in text) == (422, True, True)


def test_extra_time_lets_a_team_in_and_is_public(
    organizer: Client, sender: Client, stranger: Client, anybody: Client, meltemi: Team, phase: Phase, now: datetime
) -> None:
    fields = {"team": meltemi.pk, "until": written(now + HOUR), "zone": "UTC", "reason": "No power in Athens."}
    organizer.post(f"{PAGE}phases/evaluation/extra-time/", fields)
    assert ExtraTime.objects.get().team == meltemi
    assert "Extra time for Meltemi until" in anybody.get("/tasks/tiny/evaluation/").content.decode()
    upload = {"file": SimpleUploadedFile("one_Meltemi_1.json", run_file(GOOD)), "phase": "evaluation"}
    assert "including extra time" in sender.get("/tasks/tiny/submit/").content.decode()
    assert sender.post("/tasks/tiny/submit/", upload).status_code == 303
    late = {"file": SimpleUploadedFile("one_Notus_1.json", run_file(GOOD)), "phase": "evaluation"}
    assert stranger.post("/tasks/tiny/submit/", late).status_code == 403


@pytest.mark.slow
def test_extra_time_is_revoked_on_the_page(
    organizer: Client, sender: Client, stranger: Client, meltemi: Team, phase: Phase, now: datetime
) -> None:
    fields = {"team": meltemi.pk, "until": written(now + 5 * HOUR), "zone": "UTC", "reason": "No power in Athens."}
    organizer.post(f"{PAGE}phases/evaluation/extra-time/", fields)
    assert "Revoke extra time for Meltemi" in organizer.get(f"{PAGE}phases/").content.decode()
    address = f"{PAGE}phases/evaluation/extra-time/{ExtraTime.objects.get().pk}/revoke/"
    assert (sender.post(address).status_code, stranger.post(address).status_code) == (404, 404)
    assert "The extra time ends one hour from now" in organizer.post(address, follow=True).content.decode()
    again = organizer.post(address)
    assert again.status_code == 409
    assert "ends within an hour" in again.content.decode()


@pytest.mark.parametrize("end", ["", "7/revoke/"])
def test_old_forms_for_extra_time_lead_to_the_new_addresses(organizer: Client, end: str) -> None:
    response = organizer.post(f"{PAGE}phases/evaluation/grace/{end}")
    assert response.status_code == HTTPStatus.PERMANENT_REDIRECT
    assert response["Location"] == f"{PAGE}phases/evaluation/extra-time/{end}"


@pytest.mark.slow
def test_scores_are_released_now_later_and_taken_back(
    organizer: Client, anybody: Client, phase: Phase, now: datetime
) -> None:
    address, board = f"{PAGE}releases/evaluation/", "/tasks/tiny/leaderboard/one/?phase=evaluation"
    assert organizer.post(address, {"zone": "UTC", "when": written(now + HOUR)})["Location"] == f"{PAGE}releases/"
    assert "Scheduled for" in organizer.get(f"{PAGE}releases/").content.decode()
    assert "are hidden until" in anybody.get(board).content.decode()
    Phase.objects.filter(pk=phase.pk).update(released=None)
    assert "get an email within minutes" in organizer.post(address, {"zone": "UTC"}).content.decode()
    assert "are hidden until" in anybody.get(board).content.decode()
    assert "Only organizers can see this" in organizer.get(board).content.decode()
    done = organizer.post(address, {"zone": "UTC", "confirmed": "yes"}, follow=True).content.decode()
    assert "The scores of Evaluation are public." in done
    assert "are hidden until" not in anybody.get(board).content.decode() + organizer.get(board).content.decode()


def test_the_release_page_offers_only_what_it_can_do(organizer: Client, phase: Phase, now: datetime) -> None:
    page, address = f"{PAGE}releases/", f"{PAGE}releases/evaluation/"
    at_once, restore = "leave the time empty", "releases/evaluation/put-back/"
    rows = Phase.objects.filter(pk=phase.pk)

    def text() -> str:
        return organizer.get(page).content.decode()

    rows.update(closes=now + HOUR, taken_back=now - HOUR)
    assert "It closes for all teams on" in text()
    assert at_once not in text()
    assert restore not in text()
    rejected = organizer.post(address, {"zone": "UTC"})
    assert (rejected.status_code, "Enter a time after the phase closes." in rejected.content.decode()) == (422, True)
    rows.update(closes=None)
    assert "This phase has no closing time" in text()
    assert f'action="{address}"' not in text()
    rows.update(closes=now - HOUR)
    assert at_once in text()
    assert restore in text()


def test_extra_time_that_cannot_end_earlier_has_no_button(organizer: Client, phase: Phase, now: datetime) -> None:
    Phase.objects.filter(pk=phase.pk).update(closes=now - HOUR)
    granted = {"phase": phase, "granted_by": User.objects.first(), "granted_at": now}
    extra_time = ExtraTime.objects.create(until=now + 2 * HOUR, **granted)
    address = f"{PAGE}phases/evaluation/extra-time/{extra_time.pk}/revoke/"
    assert address in organizer.get(f"{PAGE}phases/").content.decode()
    ExtraTime.objects.update(until=now + HOUR / 2)
    assert address not in organizer.get(f"{PAGE}phases/").content.decode()
    assert organizer.post(address).status_code == 409


@pytest.mark.slow
def test_a_release_is_taken_back_only_by_who_has_read_what_that_means(
    organizer: Client, anybody: Client, phase: Phase, now: datetime
) -> None:
    address, board = f"{PAGE}releases/evaluation/take-back/", "/tasks/tiny/leaderboard/one/?phase=evaluation"
    Phase.objects.filter(pk=phase.pk).update(released=now - HOUR)
    assert "To undo this" in organizer.get(address).content.decode()
    assert "No one has received an email" in organizer.get(address).content.decode()
    assert organizer.post(address).status_code == 422
    other = {"released": (now - 2 * HOUR).isoformat()}  # from a page opened before the current release
    rejected = organizer.post(address, other)
    assert rejected.status_code == 422
    assert "The release of Evaluation has changed since you saw it." in rejected.content.decode()
    assert "are hidden until" not in anybody.get(board).content.decode()
    organizer.post(address, {"released": (now - HOUR).isoformat()})
    assert "are hidden until" in anybody.get(board).content.decode()
    assert {organizer.post(address).status_code, organizer.get(address).status_code} == {409}
    Phase.objects.filter(pk=phase.pk).update(closes=now - HOUR)
    organizer.post(f"{PAGE}releases/evaluation/put-back/")
    assert "are hidden until" not in anybody.get(board).content.decode()


@pytest.mark.slow
def test_a_correction_is_previewed_then_applied_and_has_a_way_back(organizer: Client, tiny: SharedTask) -> None:
    send_run(new_team(tiny, "Perfect"), PERFECT, 1, EVALUATION)
    withdrawn = send_run(new_team(tiny, "Withdrawn"), GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    Run.objects.filter(pk=withdrawn.pk).update(withdrawn_at=EVALUATION)
    Phase.objects.filter(slug="evaluation").update(released=EVALUATION)
    page = organizer.post(f"{PAGE}gold/", gold_file(run_file(GOOD)))["Location"]
    assert "Nothing changes for anyone" in organizer.get(page).content.decode()
    upload = GoldUpload.objects.get()
    check_gold_upload(upload.pk, upload.received_at)
    with without_children():
        preview_gold(upload.pk, upload.received_at)
    assert "1 gold preview is ready to apply." in organizer.get(PAGE).content.decode()
    shown = organizer.get(page).content.decode()
    rescored = re.search(r"(\d+) runs? will be rescored", shown)
    assert rescored is not None
    assert shown.count('<th scope="row">') + 1 == int(rescored[1])
    assert "1 of them is not listed above" in shown
    assert page in organizer.get(f"{PAGE}gold/").content.decode()
    text = organizer.get(page).content.decode()
    assert "Changed: 1." in text
    assert "1.0000 → <strong>0.7500</strong>" in " ".join(text.split())
    assert "your reason is shown" in text
    assert organizer.post(page, {"note": ""}).status_code == 422
    assert organizer.post(page, {"note": NOTE})["Location"] == f"{PAGE}gold/"
    assert organizer.post(page, {"note": NOTE}).status_code == 409
    former = tiny.tracks.get(slug="one").gold_standards.get(version=1)
    back = f"{PAGE}gold/{former.pk}/"
    assert back in organizer.get(f"{PAGE}gold/").content.decode()
    work_off(EVALUATION)
    for one in Board.objects.to_announce(database_now()):
        show_announced(one.pk, database_now())
    page = organizer.post(back)["Location"]
    judged(GoldUpload.objects.latest("received_at"), database_now())
    text = organizer.get(page).content.decode()
    assert "0.7500 → <strong>1.0000</strong>" in " ".join(text.split())
    assert "your reason is shown" in text
    assert former.track.gold_standards.count() == 2
    organizer.post(page, {"note": NOTE})
    assert former.track.gold_standards.count() == 3
    assert organizer.post(back)["Location"] == f"{PAGE}gold/"
    assert "already in use" in organizer.get(f"{PAGE}gold/").content.decode()


def test_the_log_can_be_filtered(organizer: Client, phase: Phase) -> None:
    organizer.post(f"{PAGE}releases/evaluation/", {"zone": "UTC", "confirmed": "yes"})
    assert "No recorded actions match the filter." in organizer.get(f"{PAGE}audit/?verb=take_back").content.decode()
    text = organizer.get(f"{PAGE}audit/?verb=release_scores").content.decode()
    assert len(re.findall(r"<div>\s*released scores\s*<", text)) == 1
    assert not re.search(r"<div>\s*imported the shared task\s*<", text)


def test_the_log_speaks_in_words_and_times(organizer: Client, phase: Phase, now: datetime) -> None:
    user = phase.shared_task.organizers.get()
    move_phase(user, phase, now - HOUR, opens=phase.opens, closes=now + HOUR, note="Fire alarm.")
    text = organizer.get(f"{PAGE}audit/").content.decode()
    assert "after, closes" in text
    assert f'datetime="{(now + HOUR).isoformat()}"' in text
    assert "{&#x27;" not in text
    definition = AuditEntry.objects.get(verb="import_shared_task").detail["definition"]
    assert f"{definition[:8]}…" in text
    assert definition in text


class Late(FakePayload):
    """A request body that calls `then` when it is first read."""

    def __init__(self, body: bytes, then: Callable[[], Any]) -> None:
        super().__init__(body)
        self._then: Callable[[], Any] | None = then

    def read(self, *size: int) -> bytes:
        if self._then:
            self._then()
            self._then = None
        return super().read(*size)


def test_a_deadline_that_is_moved_while_the_body_comes_in_holds_for_it(
    sender: Client, meltemi: Team, phase: Phase, now: datetime
) -> None:
    oana = organizer_of(phase.shared_task, "Oana")
    file = SimpleUploadedFile("one_Meltemi_1.json", run_file(GOOD))
    body = encode_multipart(BOUNDARY, {"phase": "evaluation", "file": file})

    def extend() -> None:
        move_phase(oana, phase, database_now(), opens=phase.opens, closes=now + HOUR, note="a fire alarm")

    late = {"wsgi.input": Late(body, extend)}
    response = sender.generic("POST", "/tasks/tiny/submit/", body, MULTIPART_CONTENT, **late)
    assert response.status_code == 303
    submission = Submission.objects.get()
    assert phase.closes is not None
    assert phase.closes < submission.received_at < now + HOUR
    assert Run.objects.get(team=meltemi).phase == phase
    assert captain(meltemi) == submission.sent_by


def test_a_dataset_is_replaced_on_its_page(gated: SharedTask, sign_in: Callable[[User], Client]) -> None:
    oana = organizer_of(gated, "Oana")
    client, page = sign_in(oana), "/tasks/gated/organize/data/"
    assert client.post(f"{page}sample/", {"file": SimpleUploadedFile("x", b"second")})["Location"] == page
    again = client.post(f"{page}sample/", {"file": SimpleUploadedFile("x", b"second")})
    assert again.status_code == 422
    assert "is identical to the current version" in again.content.decode()
    answer = Client().get("/tasks/gated/data/sample/")
    assert b"".join(answer.streaming_content) == b"second"  # type: ignore[attr-defined]
    third = {"file": SimpleUploadedFile("x", b"third")}
    unsure = client.post(f"{page}sample/", third)
    assert (unsure.status_code, "The current file was downloaded 1 time." in unsure.content.decode()) == (422, True)
    assert (
        client.post(f"{page}sample/", third | {"file": SimpleUploadedFile("x", b"third"), "is_sure": "on"})["Location"]
        == page
    )
    assert client.post(f"{page}nothing/", {"file": SimpleUploadedFile("x", b"y")}).status_code == 404
