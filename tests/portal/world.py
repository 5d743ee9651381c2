"""A small world for the portal's tests: a shared task with four items, people, teams, runs and a worker."""

import io
import json
import pickle
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.actions.agreement import sign_agreement
from portal.actions.base.errors import ActionError
from portal.actions.gold import apply_gold
from portal.actions.teams import register_team
from portal.actions.uploads.submit import submit
from portal.actions.uploads.validate_only import ValidationReport, report_of
from portal.evaluation import check, score
from portal.evaluation.check import checked, evaluate_submission
from portal.evaluation.child import Child, unpacked
from portal.evaluation.fork_server import answer
from portal.evaluation.gold import check_gold_upload
from portal.evaluation.limits import CHILD_SECONDS
from portal.evaluation.preview import preview_gold
from portal.evaluation.record import Scored, record_score
from portal.evaluation.score import score_run
from portal.evaluation.validate import validate
from portal.mail import outbox
from portal.models import (
    Evaluation,
    GoldStandard,
    GoldUpload,
    OutgoingMail,
    Phase,
    Run,
    SharedTask,
    Signature,
    Submission,
    Team,
    Track,
    User,
    Validation,
)
from portal.models.signature import text_sha256
from portal.paper.pack import pack
from portal.queries.boards.choices import Choices
from portal.queries.boards.leaderboard import Leaderboard, leaderboard
from portal.queries.boards.table import BoardTable
from portal.queries.mails import facts as mail_facts
from portal.queries.occasions import notices
from portal.sealing import SealedFile
from portal.storage import stored_name
from scoring.limits import RUN_BYTES

EVALUATION = datetime(2024, 5, 2, 12, tzinfo=UTC)  # the phase `evaluation` is open and its scores are hidden
RELEASE = datetime(2024, 5, 24, 10, tzinfo=UTC)
STRANGER = AnonymousUser()
POST = datetime(2024, 6, 2, 12, tzinfo=UTC)  # the phases `post` and `without-gold` are open

PERFECT = ["YES", "YES", "YES", "NO"]  # accuracy in track one: 1.0
GOOD = ["YES", "YES", "NO", "NO"]  # accuracy 0.75
POOR = ["NO", "NO", "NO", "NO"]  # accuracy 0.25

NOTE = "Item c was labeled wrong; two annotators agree on NO."

MILLISECOND = timedelta(milliseconds=1)
APP_TIME = 1_714_651_200  # Unix time


def stored_path(sha256: str) -> Path:
    """Return the local path of an upload, a baseline or a dataset."""
    return Path(settings.DATA_ROOT) / stored_name(sha256)


def gold_path(sealed_sha256: str) -> Path:
    """Return the local path of a sealed gold standard."""
    return Path(settings.GOLD_ROOT) / sealed_sha256


def person(name: str) -> User:
    return User.objects.create_user(f"{name.lower()}@example.org", name=name)


def organizer_of(shared_task: SharedTask, name: str = "Oana") -> User:
    """Create a person who organizes the task and has a second factor."""
    user = person(name)
    shared_task.organizers.add(user)
    set_up_second_factor(user)
    return user


def set_up_second_factor(user: User) -> str:
    """Set up an authenticator app, as organizers and administrators must, and return its secret."""
    secret = generate_totp_secret()
    TOTP.activate(user, secret)
    return secret


def app_code(secret: str) -> str:
    """Return the app's code at `APP_TIME`, the current time in tests with the fixture `time_of_apps`."""
    return str(format_hotp_value(hotp_value(secret, APP_TIME // 30)))


def new_team(shared_task: SharedTask, name: str) -> Team:
    """Create an approved team. Its captain has the same name and has signed the agreement, if there is one."""
    user = person(name)
    if shared_task.definition.agreement is not None:
        sign(user, shared_task)
    return register_team(user, shared_task, EVALUATION, name=name)


def sign(user: User, shared_task: SharedTask, at: datetime = EVALUATION) -> Signature:
    """Sign the current agreement."""
    agreement = shared_task.definition.agreement
    assert agreement is not None
    return sign_agreement(
        user, shared_task, at, typed_name=user.name, sha256=text_sha256(agreement.file.read_text()), address="192.0.2.1"
    )


def captain(team: Team) -> User:
    return team.members.get(memberships__is_captain=True)


def run_file(values: list[str]) -> bytes:
    return json.dumps([{"id": item, "value": value} for item, value in zip("abcd", values, strict=False)]).encode()


def sealed_file(content: bytes) -> SealedFile:
    """Return a file as it is received from an organizer."""
    file = SealedFile(RUN_BYTES)
    file.add(content)
    file.end()
    return file


def archive(files: Mapping[str, bytes]) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return body.getvalue()


def send(
    team: Team,
    name: str,
    body: bytes,
    at: datetime,
    phase: str = "evaluation",
    key: str = "",
    slot: str = "",
    by: User | None = None,
) -> Submission:
    """Submit a file in the same way as the upload page, as the captain unless `by` is given."""
    there = team.shared_task.phases.get(slug=phase)
    return submit(by or captain(team), there, at, content=[body], file_name=name, key=key, slot=slot)


def send_run(team: Team, values: list[str], number: int, at: datetime, phase: str = "evaluation") -> Run:
    """Submit a single run for track one."""
    return send(team, f"one_{team.name}_{number}.json", run_file(values), at, phase).runs.get()


def with_teams(shared_task: SharedTask, runs: Mapping[str, list[str]]) -> SharedTask:
    """Create teams with these names, each with one scored run for track one."""
    for name, values in runs.items():
        send_run(new_team(shared_task, name), values, 1, EVALUATION)
    work_off(EVALUATION)
    return shared_task


def work_off(at: datetime, *, confined: bool = False) -> None:
    """Check and score everything that is waiting. Set `confined` if the content could harm the process reading it."""
    with nullcontext() if confined else without_children():
        for submission in Submission.objects.filter(state=Submission.State.RECEIVED):
            evaluate_submission(submission.pk, at)
        for run in Run.objects.scorable().filter(state=Run.State.VALID):
            score_run(run.pk, at)
        for validation in Validation.objects.unfinished():
            validate(validation.pk, at)


def judged(upload: GoldUpload, at: datetime) -> GoldUpload:
    """Have a worker check a gold file and compute its preview."""
    check_gold_upload(upload.pk, at)
    with without_children():
        preview_gold(upload.pk, at)
    upload.refresh_from_db()
    return upload


def applied(upload: GoldUpload, at: datetime) -> GoldUpload:
    """Have a worker check a gold file. If it is valid, apply it as the organizer who sent it."""
    judged(upload, at)
    if upload.state == GoldUpload.State.READY:
        apply_gold(upload.sent_by, upload, at, note=NOTE)
        upload.refresh_from_db()
    return upload


@contextmanager
def without_children() -> Iterator[None]:
    """Check and score in this process, because starting a child takes longer than scoring four items."""
    with patch.object(check, "Child", NoChild), patch.object(score, "Child", NoChild):
        yield


class NoChild(Child):
    """A stand-in for a child that works in this process."""

    def __init__(self, work: object, *_limits: Any, **_further: Any) -> None:
        self._work, self._pid, self._unsent, self._used = work, 0, b"", 0.0
        self.grant(CHILD_SECONDS)

    def _answer(self, question: bytes) -> dict[str, Any]:
        method, arguments = pickle.loads(question)
        return unpacked(answer(getattr(self._work, method), *arguments))

    def _end(self) -> tuple[int, float]:
        self._pid = None
        return 0, 0.0


def check_submission(submission_id: UUID, at: datetime) -> list[UUID]:
    """Check an upload like a worker that stops before scoring. Return the ids of the runs left to score."""
    with checked(submission_id, at) as found:
        return [run.pk for run in found.runs]


def validated(validation: Validation, at: datetime) -> ValidationReport:
    """Have a worker run the validation, and return the report."""
    validate(validation.pk, at)
    report = report_of(Validation.objects.get(pk=validation.pk), at)
    assert report is not None
    return report


def deliver(at: datetime = EVALUATION) -> None:
    """Send all waiting emails, as a worker does."""
    outbox.send(outbox.due(at), lambda: at, mail_facts)


def remind(at: datetime) -> None:
    """Queue the scheduled emails that are due at the given time."""
    for due in notices(at):
        OutgoingMail.objects.notify(due.user, due.kind, due.occasion, at, **due.about)


def at_once(actions: list[Callable[[], Any]]) -> list[Any]:
    """Start all actions at the same time, each on its own connection. Return each one's value or ActionError.

    If there are other errors, raise the first of them in the order of the list.
    """
    start = Barrier(len(actions))

    def do(action: Callable[[], Any]) -> Any:
        try:
            connection.ensure_connection()
            start.wait()
            return action()
        except ActionError as raised:
            return raised
        except Exception:
            start.abort()  # so that the other threads do not wait for this one
            raise
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as pool:
        done = [pool.submit(do, action) for action in actions]
    errors = [error for one in done if (error := one.exception())]
    if errors:
        # a BrokenBarrierError is only the consequence of a different error
        raise min(errors, key=lambda error: isinstance(error, BrokenBarrierError))
    return [one.result() for one in done]


def board(shared_task: SharedTask, at: datetime, phase: str = "evaluation", **choice: Any) -> Leaderboard:
    """Return the board of track one as someone who is not signed in sees it, or as `viewer` does."""
    viewer = choice.pop("viewer", AnonymousUser())
    track, there = shared_task.tracks.get(slug="one"), shared_task.phases.get(slug=phase)
    return leaderboard(track, there, viewer, at, Choices(**choice))


def pack_of(shared_task: SharedTask, at: datetime = RELEASE) -> zipfile.ZipFile:
    """Return the paper pack of the phase `evaluation` as the public gets it at the given time."""
    tracks = list(Track.objects.filter(shared_task=shared_task).select_related("shared_task"))
    phase = Phase.objects.select_related("shared_task").get(shared_task=shared_task, slug="evaluation")
    return zipfile.ZipFile(
        io.BytesIO(b"".join(pack(tracks, phase, AnonymousUser(), at, "https://agon.example/tasks/tiny/")))
    )


def ranked(shown: BoardTable) -> list[tuple[int | None, str]]:
    """Return the rank and name of each team, in the board's order."""
    return [(row.rank, row.team) for row in shown.teams]


def scored(team: Team, scores: Mapping[str, float | None], at: datetime, number: int = 1) -> Run:
    """Create a run for track one and record these scores, regardless of its content."""
    run = send_run(team, GOOD, number, at)
    gold = GoldStandard.objects.newest(run.track, run.phase.split)
    assert gold is not None
    Run.objects.filter(pk=run.pk).update(token=run.pk)
    record_score(run, run.pk, gold, run.track.shared_task.scorer, Scored(dict(scores), [], {}), at)
    return run


def copy_of(run: Run, team: Team, scores: Mapping[str, float | None]) -> Run:
    """Create a copy of this run for the team, with these scores but without an upload."""
    old = run.evaluations.get()
    run.pk, run.team, run.number, run.name = uuid4(), team, None, f"one_{team.name}.json"
    run.received_at += MILLISECOND
    run.save(force_insert=True)
    old.pk, old.run, old.team, old.scores, old.rank_key = None, run, team, scores, run.track.rank_key(scores)
    old.save(force_insert=True)
    return run


def queries(question: Callable[[], Any]) -> int:
    """Return how many database queries the call makes."""
    with CaptureQueriesContext(connection) as asked:
        question()
    return len(asked)


def rescored(run: Run, scores: Mapping[str, float | None]) -> None:
    """Replace the scores in the run's evaluations."""
    Evaluation.objects.filter(run=run).update(scores=scores, rank_key=run.track.rank_key(scores))
