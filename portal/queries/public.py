"""Data for calendars, feed readers and search engines. All of it is also on public pages."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import QuerySet

from portal.models import Phase, ReleasedBoard, SharedTask
from portal.queries.visible import public_releases
from scoring.definition import Organizer

FEED = 50  # maximum number of entries


class PhaseDates(NamedTuple):
    """The dates of a phase, and what calendars say about it."""

    slug: str
    title: str
    opens: datetime
    closes: datetime | None
    released: datetime | None
    scores: str
    task_slug: str
    task_title: str
    changed_at: datetime  # when the task was imported


class Date(NamedTuple):
    """A date in a task's calendar: a phase opens or closes, or its scores are released."""

    phase: PhaseDates
    kind: str  # opens, closes or released
    at: datetime


def phase_dates(tasks: QuerySet[SharedTask]) -> list[PhaseDates]:
    """Return the dates of all phases of these tasks, in one query."""
    task = ("shared_task__slug", "shared_task__title", "shared_task__imported_at")
    rows = Phase.objects.filter(shared_task__in=tasks.order_by()).order_by("shared_task", "position")
    names = ("slug", "title", "opens", "closes", "released", "scores", *task)
    return [PhaseDates(*row) for row in rows.values_list(*names)]


def dates(phases: Iterable[PhaseDates]) -> list[Date]:
    """Return when phases open, close and are released, sorted by time."""
    return sorted((date for phase in phases for date in _dates(phase)), key=attrgetter("at"))


def _dates(phase: PhaseDates) -> Iterator[Date]:
    yield Date(phase, "opens", phase.opens)
    if phase.closes is not None:
        yield Date(phase, "closes", phase.closes)
    if phase.released is not None and phase.scores == Phase.Scores.ON_RELEASE:
        yield Date(phase, "released", phase.released)


def releases(at: datetime, shared_task: SharedTask | None = None) -> list[ReleasedBoard]:
    """Return the public released boards (at most FEED), newest first."""
    found = public_releases(at).defer("content")
    if shared_task is not None:
        found = found.filter(phase__shared_task=shared_task)
    return list(found[:FEED])


def described(shared_task: SharedTask, address: str) -> list[dict[str, Any]]:
    """Describe the task and its public files as schema.org data."""
    definition = shared_task.definition
    phases = list(shared_task.phases.all())
    event: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Event",
        "name": shared_task.title,
        "description": shared_task.subtitle or shared_task.title,
        "url": address,
        "inLanguage": shared_task.languages,
        "eventAttendanceMode": "https://schema.org/OnlineEventAttendanceMode",
        "location": {"@type": "VirtualLocation", "url": address},
    }
    if definition.organizers:
        event["organizer"] = [_described_organizer(organizer) for organizer in definition.organizers]
    if phases:
        ends = [phase.closes for phase in phases if phase.closes is not None]
        event["startDate"] = min(phase.opens for phase in phases).isoformat()
        event |= {"endDate": max(ends).isoformat()} if ends else {}
    datasets = [
        {
            "@context": "https://schema.org",
            "@type": "Dataset",
            "name": f"{shared_task.title}: {dataset.title}",
            "description": f"{dataset.title}, {shared_task.subtitle or shared_task.title}",
            "license": dataset.licence,
            "inLanguage": shared_task.languages,
            "url": f"{address}data/",
            "isAccessibleForFree": True,
        }
        for dataset in definition.datasets
    ]
    return [event, *datasets]


def _described_organizer(organizer: Organizer) -> dict[str, Any]:
    described: dict[str, Any] = {"@type": "Person", "name": organizer.name}
    if organizer.affiliation:
        described["affiliation"] = {"@type": "Organization", "name": organizer.affiliation}
    if organizer.link:
        described["url"] = organizer.link
    return described
