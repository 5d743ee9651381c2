"""Calendars, feeds, references, and files for search engines."""

import hashlib

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.models import SharedTask
from portal.models.clock import database_now
from portal.paper.references import references
from portal.queries.papers import public_papers
from portal.queries.public import dates, phase_dates, releases
from portal.times_and_numbers import AOE
from portal.web.access import find_task
from portal.web.calendar import as_ics

_A_DAY = 86_400  # seconds


@require_safe
def calendar(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """Return a calendar with all dates of one shared task or of all tasks."""
    tasks, name, known_as = SharedTask.objects.visible_to(request.user), _("Shared tasks"), slug or "shared-tasks"
    if slug is not None:
        name, tasks = find_task(request, slug, tasks).title, tasks.filter(slug=slug)
    phases, at = phase_dates(tasks), database_now()
    # Writing a calendar of many tasks takes a second, so it is kept until one of its dates changes.
    shown = hashlib.sha256(repr((known_as, name, get_language(), phases, at.astimezone(AOE).year)).encode()).hexdigest()
    body = caches["boards"].get_or_set(
        f"calendar:{shown}", lambda: as_ics(dates(phases), known_as, name, settings.PUBLIC_URL, at), _A_DAY
    )
    headers = {"Content-Disposition": f'inline; filename="{known_as}.ics"'}
    return HttpResponse(body, content_type="text/calendar; charset=utf-8", headers=headers)


@require_safe
def feed(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """Return a feed of released leaderboards, for one shared task or for all tasks, newest first."""
    task = find_task(request, slug) if slug else None
    title = _("Releases for %(task)s") % {"task": task.title} if task else _("Releases for all shared tasks")
    link = settings.PUBLIC_URL + (reverse("task", args=[slug]) if slug else reverse("home"))
    atom = Atom1Feed(title, link, "", feed_url=settings.PUBLIC_URL + request.path)
    for release in releases(database_now(), task):
        track, phase = release.track, release.phase
        arguments = [phase.shared_task.slug, track.slug, phase.slug, release.number]
        words = {"task": phase.shared_task.title, "track": track.title, "phase": phase.title, "number": release.number}
        atom.add_item(
            title=_("%(task)s: %(track)s, %(phase)s, release %(number)d") % words,
            link=settings.PUBLIC_URL + reverse("released_board", args=arguments),
            description=_("gold version %(gold)d, scorer %(scorer)s")
            % {"gold": release.gold.version, "scorer": release.scorer},
            pubdate=release.at,
            updateddate=release.at,
        )
    return HttpResponse(atom.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8")


@require_safe
def references_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Return BibTeX for the task, its sources, and the papers of teams on public leaderboards."""
    task = find_task(request, slug)
    address = f"{settings.PUBLIC_URL}{reverse('task', args=[slug])}"
    body = references(task, address, public_papers(task, database_now()))
    headers = {"Content-Disposition": f'attachment; filename="{slug}.bib"'}
    return HttpResponse(body, content_type="application/x-bibtex; charset=utf-8", headers=headers)


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Return robots.txt, which allows all public pages, but not tables in different sort orders."""
    lines = ["User-agent: *", "Disallow: /accounts/", "Disallow: /admin/", "Disallow: /*?*sort="]
    lines.append(f"Sitemap: {settings.PUBLIC_URL}{reverse('sitemap')}")
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain")


@require_safe
def sitemap(request: HttpRequest) -> HttpResponse:
    """Return the sitemap of public pages."""
    at = database_now()
    tasks = SharedTask.objects.public().prefetch_related("tracks")
    paths = [reverse("home"), reverse("guide")]
    for task in tasks:
        paths += [reverse(name, args=[task.slug]) for name in ("task", "task_data", "task_evaluation", "leaderboards")]
        paths += [reverse("leaderboard", args=[task.slug, track.slug]) for track in task.tracks.all()]
    paths += [
        reverse(
            "released_board",
            args=[release.phase.shared_task.slug, release.track.slug, release.phase.slug, release.number],
        )
        for release in releases(at)
    ]
    body = render_to_string("public/sitemap.xml", {"addresses": [settings.PUBLIC_URL + path for path in paths]})
    return HttpResponse(body, content_type="application/xml")
