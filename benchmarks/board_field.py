"""Write any number of teams with scored runs in one track directly to the database.

This runs in a separate process, because Django reads its settings only once: `python -m benchmarks.board_field FOLDER
RUNS TRACK PHASE TEAMS`.
"""

import sys
from pathlib import Path
from typing import Any

import django
from django.db import connection

django.setup()

from portal.actions.task_folder.import_shared_task import import_shared_task  # noqa: E402 - models need the settings
from portal.models import (  # noqa: E402
    Board,
    Evaluation,
    GoldStandard,
    Phase,
    Run,
    SharedTask,
    Submission,
    Team,
    User,
)
from portal.models.clock import database_now  # noqa: E402
from portal.models.team_name import name_key  # noqa: E402
from tasks import build  # noqa: E402

_SCORE = "round((random() * 2 - 1)::numeric, 6)"


def main() -> None:
    """Create the shared task if it does not exist, and add runs to its teams until they have enough."""
    folder, runs, track, phase, teams = sys.argv[1:]
    there = _first_runs(Path(folder), track, phase, int(teams))
    _more(int(runs) // int(teams) - there)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _first_runs(folder: Path, track_slug: str, phase_slug: str, teams: int) -> int:
    """Create a scored run for each team, to be copied later, and return the number of runs per team."""
    if Run.objects.filter(kind="team").exists():
        return Run.objects.filter(team=Team.objects.first()).count()
    at = database_now()
    task: SharedTask = import_shared_task(None, build("exist2024", folder / "exist2024"), at).shared_task
    track, phase = task.tracks.get(slug=track_slug), Phase.objects.get(shared_task=task, slug=phase_slug)
    gold = GoldStandard.objects.get(track=track, split=phase.split)
    user = User.objects.create_user("captain@example.org", name="Captain")
    for number in range(teams):
        name = f"Team-{number:03}"
        team = Team.objects.create(
            shared_task=task, name=name, name_key=name_key(name), state="approved", created_at=at
        )
        common: dict[str, Any] = {"team": team, "phase": phase, "received_at": at}
        upload = Submission.objects.create(
            shared_task=task, sent_by=user, file_name="x.zip", size=1, sha256="0" * 64, state="accepted", **common
        )
        run = Run.objects.create(
            track=track,
            submission=upload,
            name=f"task2_hard_Team-{number:03}_1",
            state="scored",
            finished_at=at,
            **common,
        )
        scores = {"icm": number / teams, "icm_norm": 0.5, "f1_macro": number / teams}
        Evaluation.objects.create(
            run=run, gold=gold, scorer=task.scorer, scores=scores, created_at=at, phase=phase, team=team,
            rank_key=-scores["icm"],
        )  # fmt: skip
    Board.objects.create(track=track, phase=phase, gold=gold, scorer=task.scorer)
    return 1


def _more(runs: int) -> None:
    """Add this many runs to each team.

    Each is received one second after the previous one and has different scores.
    """
    if runs < 1:
        return
    copied = "received_at = first.received_at"
    with connection.cursor() as cursor:
        cursor.execute(
            _copy(Run, {"id": "gen_random_uuid()", "received_at": "first.received_at + step * interval '1 second'"})
            + f"CROSS JOIN generate_series(1, {runs}) step WHERE first.kind = 'team' AND first.number IS NULL"
            f" AND first.received_at = (SELECT min(received_at) FROM portal_run WHERE kind = 'team') AND {copied}"
        )
        cursor.execute(
            "WITH drawn AS (SELECT id, team_id, "
            f"{_SCORE} AS score FROM portal_run WHERE kind = 'team' AND NOT EXISTS "
            "(SELECT FROM portal_evaluation WHERE run_id = portal_run.id)) "
            + _copy(
                Evaluation,
                {
                    "run_id": "drawn.id",
                    "rank_key": "-drawn.score",
                    "scores": "jsonb_build_object('icm', drawn.score, 'icm_norm', 0.5, 'f1_macro', drawn.score)",
                },
                leave_out="id",
            )
            + "JOIN drawn ON drawn.team_id = first.team_id WHERE first.id IN "
            "(SELECT min(id) FROM portal_evaluation WHERE team_id IS NOT NULL GROUP BY team_id)"
        )


def _copy(model: Any, changed: dict[str, str], leave_out: str = "") -> str:
    """Return an INSERT … SELECT that copies the rows `first`, with different values in the columns of `changed`."""
    columns = [field.column for field in model._meta.concrete_fields if field.column != leave_out]
    values = [changed.get(column, f"first.{column}") for column in columns]
    table = model._meta.db_table
    return f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {table} first "


if __name__ == "__main__":
    main()
