"""The state of a leaderboard in one query: phases, what is public, and the revision."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from django.db import connection
from django.http import Http404

from portal.models import Phase, SharedTask
from portal.models.clock import clock_question, parse_db_time
from portal.models.task import definition_of
from portal.queries.boards.leaderboard import default_phase

_FIELDS = (
    "id",
    "slug",
    "title",
    "opens",
    "closes",
    "scores",
    "released",
    "official",
    "team_names",
    "ladder_step",
    "round_days",
)
# Times are read as text, because psycopg's loader is slow. Those of phases are parsed only if the text has changed.
_MOMENTS = ("opens", "closes", "released")
_PHASES = f"""
SELECT {", ".join(f"CAST(phase.{name} AS text)" if name in _MOMENTS else f"phase.{name}" for name in _FIELDS)},
task.state, task.definition_sha256, (SELECT CAST(max(until) AS text) FROM portal_grace),
CAST(({{clock}}) AS text), {{revision}}
FROM portal_sharedtask task JOIN portal_phase phase ON phase.shared_task_id = task.id
"""
_OF_ONE_TRACK = (
    _PHASES
    + """
JOIN portal_track track ON track.shared_task_id = task.id
LEFT JOIN portal_board board ON board.track_id = track.id AND board.phase_id = phase.id
WHERE task.slug = %s AND track.slug = %s ORDER BY phase.position
"""
)
_OF_ALL_TRACKS = _PHASES + "WHERE task.slug = %s ORDER BY phase.position"
_SUM = "(SELECT sum(board.revision) FROM portal_board board WHERE board.phase_id = phase.id)"


@dataclass(frozen=True, slots=True)
class BoardHead:
    """The phase of a board's page, the database's time, and the `state` of the page.

    `state` changes whenever the page does. It is None while the task or the phase's scores are not visible to everyone.
    """

    phase: str  # slug of the phase
    at: datetime
    state: str | None


def board_head(shared_task: str, track: str | None, slug: str | None) -> BoardHead:
    """Return the head of a track's board, or of the board of all tracks, in this phase or the default one.

    A track has a board only in phases that accept runs for it.

    The SQL is handwritten because it runs on every request for a board, and building it with the ORM would take longer
    than everything else.

    Raises:
        Http404: there is no such board.
    """
    with connection.cursor() as cursor:
        if track is None:
            cursor.execute(_question(_OF_ALL_TRACKS, _SUM, clock_question()), [shared_task])
        else:
            cursor.execute(_question(_OF_ONE_TRACK, "board.revision", clock_question()), [shared_task, track])
        rows = cursor.fetchall()
    if not rows:
        raise Http404
    at = parse_db_time(rows[0][-2])
    slugs = _phases_of(rows[0][len(_FIELDS) + 1], track)
    phases = [phase for phase in (_phase(row[: len(_FIELDS)]) for row in rows) if phase.slug in slugs]
    if slug is None:
        phase = default_phase(phases, at)
    else:
        phase = next((candidate for candidate in phases if candidate.slug == slug), None)
    if phase is None:
        raise Http404
    return BoardHead(phase.slug, at, _state(phase, rows, at))


@lru_cache(maxsize=256)
def _phases_of(definition_sha256: str, track: str | None) -> frozenset[str]:
    """Return the slugs of the phases that accept runs for the track, or for any track."""
    rules = definition_of(definition_sha256)
    tracks = [rule for rule in rules.tracks if track in (None, rule.slug)]
    return frozenset(phase.slug for phase in rules.phases if any(map(phase.accepts, tracks)))


@cache
def _question(template: str, revision: str, clock: str) -> str:
    escaped = clock.replace("%", "%%")  # required in a statement with placeholders
    return template.format(clock=escaped, revision=revision)


@lru_cache(maxsize=256)
def _phase(row: tuple[Any, ...]) -> Phase:
    """Return the phase in this row. Phases are cached because they rarely change, so callers must not change them."""
    phase = Phase(**dict(zip(_FIELDS, row, strict=True)))
    for name in _MOMENTS:
        if (text := getattr(phase, name)) is not None:
            setattr(phase, name, parse_db_time(text))
    return phase


def _state(phase: Phase, rows: Sequence[Sequence[Any]], at: datetime) -> str | None:
    """Return a text that changes with the page: what the query found, and what follows from the time.

    Return None if the task or the phase's scores are not public.
    """
    task_state = rows[0][len(_FIELDS)]
    if task_state != SharedTask.State.OPEN or not phase.scores_are_public(at):
        return None
    facts = [(*row[:-3], row[-1] if row[0] == phase.pk else None) for row in rows]
    last_extra_time = rows[0][-3]  # end of the latest extra time in any phase; if it has passed, no query is needed
    has_extra_time = last_extra_time is not None and parse_db_time(last_extra_time) > at
    ends = [phase.closes, phase.last_closing if has_extra_time else phase.closes]
    is_over = [end is not None and end <= at for end in ends]
    return repr((phase.slug, facts, is_over, phase.names_are_public(at), phase.step_at(at)))
