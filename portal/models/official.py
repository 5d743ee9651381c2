"""The rules that determine a team's official run, both for database queries and for runs in memory."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from portal.models.phase import Phase
from portal.models.run import Run


@dataclass(frozen=True, slots=True)
class Choice:
    """A rule that sorts runs by these fields and chooses the first.

    A leading minus means descending order. Nulls come last.
    """

    order: tuple[str, ...]
    among_chosen: bool = False


_LAST = Choice(("-received_at", "-number"))
# Phase.Official → choices. The first choice that finds a run decides. With `all`, every run is official.
CHOICES: Mapping[str, tuple[Choice, ...]] = {
    Phase.Official.BEST: (Choice(("rank_key", "received_at")),),
    Phase.Official.LAST: (_LAST,),
    Phase.Official.CHOSEN: (Choice((), among_chosen=True), _LAST),
    Phase.Official.ALL: (),
}


def official_run(rule: str, runs: Collection[Run], rank_keys: Mapping[UUID, float | None]) -> Run | None:
    """Return the official run among a team's eligible runs in one track and phase.

    Return None if there are no runs or if all are official.
    """
    for choice in CHOICES[rule]:
        found = [run for run in runs if run.chosen_at is not None or not choice.among_chosen]
        for name in reversed(choice.order):
            column, descends = name.removeprefix("-"), name.startswith("-")

            def key(run: Run, column: str = column, descends: bool = descends) -> tuple[bool, Any]:
                value = rank_keys.get(run.pk) if column == "rank_key" else getattr(run, column)
                return (value is None) is not descends, value

            found.sort(key=key, reverse=descends)
        if found:
            return found[0]
    return None


def official_runs_of_teams(rule: str, runs: Iterable[Run], rank_keys: Mapping[UUID, float | None]) -> list[Run]:
    """Return all teams' official runs in each track and phase among eligible runs. Baselines are left out."""
    own: defaultdict[tuple[int, int, int], list[Run]] = defaultdict(list)
    for run in runs:
        if run.team_id is not None:
            own[run.team_id, run.phase_id, run.track_id].append(run)
    if rule == Phase.Official.ALL:
        return [run for some in own.values() for run in some]
    found = [official_run(rule, some, rank_keys) for some in own.values()]
    return [run for run in found if run is not None]


def official_id(rule: str, rows: QuerySet[Any], key: str, until: datetime | None) -> Combinable:
    """Return the choice of `official_run` as a subquery that needs only a few index lookups.

    `rows` are one team's rows, with the ordering columns, and `key` is the column that identifies a run. If `until` is
    given, a run chosen later does not count as chosen.
    """
    found = []
    for choice in CHOICES[rule]:
        among = rows
        if choice.among_chosen:
            among = rows.filter(chosen_at__isnull=False) if until is None else rows.filter(chosen_at__lte=until)
        found.append(Subquery(among.order_by(*map(_by, choice.order)).values(key)[:1]))
    return found[0] if len(found) == 1 else Coalesce(*found)


def _by(name: str) -> Any:
    """Return the sort expression for this column.

    Nulls are handled only for `rank_key`, so that the database can use the indexes of the other columns.
    """
    return F(name).asc(nulls_last=True) if name == "rank_key" else name
