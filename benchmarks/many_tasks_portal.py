"""A portal with many shared tasks. It measures its own pages and jobs.

This runs in a separate process, because Django reads its settings only once: `python -m benchmarks.many_tasks_portal
FOLDER TASKS`. Each line of standard input names a page or a job, and the program prints a line with its seconds.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import Any

import django
from django.db import connection

django.setup()

from django.test import Client  # noqa: E402 - needs the settings

from portal.actions.task_folder.import_shared_task import import_shared_task  # noqa: E402
from portal.evaluation import validate  # noqa: E402
from portal.evaluation.boards import find_board_work  # noqa: E402
from portal.evaluation.rescore import adopt_scorer  # noqa: E402
from portal.evaluation.sweep import sweep  # noqa: E402
from portal.mail import outbox  # noqa: E402
from portal.models import (  # noqa: E402
    Board,
    Evaluation,
    GoldStandard,
    Membership,
    Phase,
    Run,
    SharedTask,
    Signature,
    Submission,
    Team,
    Track,
    User,
)
from portal.models.clock import database_now  # noqa: E402
from portal.models.task import definition_name  # noqa: E402
from portal.objects.interface import data_objects  # noqa: E402
from portal.queries.occasions import notices  # noqa: E402
from tests.conftest import ROOT  # noqa: E402
from tests.portal.world import set_up_second_factor  # noqa: E402

TEAMS, MEMBERS, RUNS = 10, 10, 100  # teams per task, and members and runs per team
SHOWN = 200  # number of tasks whose pages are requested in turn
DAY = timedelta(days=1)
# When a task's evaluation opens and closes, in days from now, and whether it accepts runs afterwards. Tasks use these
# in turn.
WINDOWS = [(-10, 20, True), (10, 20, True), (-90, -60, True), (-90, -60, True)] + 6 * [(-90, -60, False)]
WORDS = ("irony", "humor", "stance", "entities", "translation", "sarcasm", "emotion", "claims", "summaries", "hate")


def main() -> None:
    """Fill the database, then answer requests."""
    folder, tasks = Path(sys.argv[1]), int(sys.argv[2])
    _write(folder, tasks, database_now())
    ask: dict[str, Callable[[], Any]] = {**_pages(tasks), **_jobs(), "ready": lambda: None}
    for line in sys.stdin:
        action = ask[line.strip()]
        start = time.perf_counter()
        action()
        print(time.perf_counter() - start, flush=True)


def _pages(tasks: int) -> dict[str, Callable[[], None]]:
    """Return functions that request each page."""
    anyone, member, organizer = (Client(SERVER_NAME="localhost") for _ in range(3))
    slugs = cycle([f"task-{7919 * number % tasks}" for number in range(SHOWN)])

    def get(client: Client, path: str) -> None:
        answer = client.get(path, secure=True)
        if answer.status_code != 200:
            raise SystemExit(f"{path}: {answer.status_code}")

    own_task = tasks // 2
    member.force_login(User.objects.get(email=f"u{own_task}-0-0@example.org"))
    organizer.force_login(_organizer_of_all())
    return {
        "home": lambda: get(anyone, "/"),
        "home, signed in": lambda: get(member, "/"),
        "search": lambda: get(anyone, "/?search=task-"),
        "task": lambda: get(anyone, f"/tasks/{next(slugs)}/"),
        "own runs": lambda: get(member, f"/tasks/task-{own_task}/team/"),
        "calendar": lambda: get(anyone, "/calendar.ics"),
        "home, organizer": lambda: get(organizer, "/"),
        "overview, organizer": lambda: get(organizer, f"/tasks/{next(slugs)}/organize/"),
        "runs, organizer": lambda: get(organizer, f"/tasks/{next(slugs)}/organize/runs/"),
        "teams, organizer": lambda: get(organizer, f"/tasks/{next(slugs)}/organize/teams/"),
        "admin, runs": lambda: get(organizer, "/admin/portal/run/"),
        "admin, uploads": lambda: get(organizer, "/admin/portal/submission/"),
    }


def _organizer_of_all() -> User:
    """Return an administrator who organizes every task and has a second factor."""
    user = User.objects.create(email="organizer@example.org", name="Organizer", is_staff=True, is_superuser=True)
    set_up_second_factor(user)
    user.organized_tasks.set(SharedTask.objects.all())
    return user


def _jobs() -> dict[str, Callable[[], Any]]:
    """Return the regular jobs of `portal.jobs` as functions that do not use the queue."""

    def find_work() -> None:
        at = database_now()
        adopt_scorer(at)
        validate.expire(at)
        validate.due(at)
        sweep(at)

    return {
        "sweep": find_work,
        "sweep_mails": lambda: outbox.due(database_now()),
        "remind": lambda: list(notices(database_now())),
        "refresh_boards": lambda: list(find_board_work(database_now())),
    }


def _write(folder: Path, tasks: int, at: datetime) -> None:
    source = shutil.copytree(ROOT / "tests/portal/tiny_task", folder / "tiny_task")
    rules = source / "task.yaml"
    (source / "pages/terms.md").write_text("Research only.", encoding="utf-8")
    rules.write_text(rules.read_text() + 'agreement: {version: "1", file: pages/terms.md}\n', encoding="utf-8")
    first = import_shared_task(None, source, at).shared_task
    first_track, first_post = first.tracks.get(slug="one"), first.phases.get(slug="post")
    first_gold = GoldStandard.objects.get(track=first_track, split="test")
    imported = data_objects().folder(definition_name(first.definition_sha256))
    copies = [
        _changed(first, slug=f"task-{n}", title=f"{WORDS[n % 10].title()} {n}", year=2020 + n % 6) for n in range(tasks)
    ]
    for copy in copies:
        copy.definition_sha256 = sha256(copy.slug.encode()).hexdigest()
        copy.imported_at = at - 60 * DAY
        shutil.copytree(imported, imported.with_name(copy.definition_sha256), copy_function=os.link)
    SharedTask.objects.bulk_create(copies)
    tracks = Track.objects.bulk_create([_changed(first_track, shared_task=task) for task in copies])
    phases = []
    for task, (opens, closes, stays) in zip(copies, cycle(WINDOWS), strict=False):
        begin, end = at + opens * DAY, at + closes * DAY
        evaluation = _changed(first.phases.get(slug="evaluation"), shared_task=task, opens=begin, closes=end)
        evaluation.released = end + DAY
        post = _changed(first_post, shared_task=task, opens=begin, closes=None if stays else end)
        phases += [evaluation, post]
    Phase.objects.bulk_create(phases)
    golds = GoldStandard.objects.bulk_create([_changed(first_gold, track=track) for track in tracks])
    posts = [phase for phase in phases if phase.slug == "post"]
    Board.objects.bulk_create(
        Board(track=track, phase=post, gold=gold, scorer=first.scorer, revision=1, compared_revision=1, compared_at=at)
        for track, post, gold in zip(tracks, posts, golds, strict=True)
    )
    _write_teams(copies, at)
    _write_runs(first, at)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _changed(row: Any, **changed: Any) -> Any:
    """Return an unsaved copy of the row with these attributes changed."""
    columns = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    copy = type(row)(**{name: value for name, value in columns.items() if name != "id"})
    for name, value in changed.items():
        setattr(copy, name, value)
    return copy


def _write_teams(tasks: list[SharedTask], at: datetime) -> None:
    """Create approved teams whose members have signed the agreement."""
    teams = [
        Team(shared_task=task, name=f"Team-{n}", name_key=f"team-{n}", state=Team.State.APPROVED, created_at=at)
        for task in tasks
        for n in range(TEAMS)
    ]
    Team.objects.bulk_create(teams)
    for start in range(0, len(teams), 1_000):
        some = [
            (team, User(email=f"u{team.shared_task.slug[5:]}-{team.name[5:]}-{n}@example.org", name=f"User {n}"))
            for team in teams[start : start + 1_000]
            for n in range(MEMBERS)
        ]
        User.objects.bulk_create([user for _team, user in some])
        Membership.objects.bulk_create(
            Membership(team=team, user=user, shared_task=team.shared_task, joined_at=at) for team, user in some
        )
        Signature.objects.bulk_create(
            Signature(
                user=user, shared_task=team.shared_task, version="1", text="", sha256="0" * 64, typed_name=user.name,
                signed_at=at,
            )
            for team, user in some
        )  # fmt: skip


def _write_runs(shared_task: SharedTask, at: datetime) -> None:
    """Create scored runs for every team. All are copies of the first run."""
    team = Team.objects.exclude(shared_task=shared_task).first()
    assert team is not None
    phase, track = team.shared_task.phases.get(slug="post"), team.shared_task.tracks.get()
    user = team.memberships.all()[0].user
    common: dict[str, Any] = {"team": team, "phase": phase, "received_at": at}
    upload = Submission.objects.create(
        shared_task=team.shared_task,
        sent_by=user,
        file_name="x.zip",
        size=1,
        sha256="0" * 64,
        state="accepted",
        **common,
    )
    run = Run.objects.create(
        track=track, submission=upload, name="one_Team_1", state="scored", finished_at=at, **common
    )
    gold = GoldStandard.objects.get(track=track)
    scores = {"accuracy": 0.5, "f1_macro": 0.5, "f1:YES": 0.5}
    shown = {"gold": gold, "scorer": shared_task.scorer, "phase": phase, "team": team}
    evaluation = Evaluation.objects.create(run=run, scores=scores, rank_key=-0.5, created_at=at, **shown)
    upload_id, run_id = (f"md5('{name} ' || team.id || ' ' || step)::uuid" for name in ("upload", "run"))
    by_team = {"team_id": "team.id", "phase_id": "phase.id"}
    then = {"received_at": "first.received_at - random() * INTERVAL '60 days'"}
    teams = (
        "CROSS JOIN portal_team team JOIN portal_phase phase ON phase.shared_task_id = team.shared_task_id"
        " AND phase.slug = 'post' JOIN portal_track track ON track.shared_task_id = team.shared_task_id"
        f" JOIN portal_goldstandard gold ON gold.track_id = track.id CROSS JOIN generate_series(1, {RUNS}) step"
        f" WHERE team.shared_task_id <> {shared_task.pk} AND first.id = "
    )
    copies: list[tuple[Any, dict[str, str]]] = [
        (upload, {"id": upload_id, "shared_task_id": "team.shared_task_id", **by_team, **then}),
        (run, {"id": run_id, "submission_id": upload_id, "track_id": "track.id", **by_team, **then}),
        (evaluation, {"run_id": run_id, "gold_id": "gold.id", "rank_key": "-random()", **by_team}),
    ]
    with connection.cursor() as cursor:
        for row, changed in copies:
            table = row._meta.db_table
            columns = [field.column for field in row._meta.concrete_fields if field.column != "id" or "id" in changed]
            values = ", ".join(changed.get(column, f"first.{column}") for column in columns)
            copy = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table} first {teams} %s"
            cursor.execute(copy, [row.pk])


if __name__ == "__main__":
    main()
