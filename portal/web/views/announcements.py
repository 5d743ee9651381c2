"""Announcements by organizers: the page for writing them, and the feeds."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.actions.announcements import delete_announcement, publish_announcement
from portal.markdown import render as render_markdown
from portal.models import Announcement, SharedTask
from portal.queries.public import FEED
from portal.queries.visible import announcements_of
from portal.web.access import SignedInRequest, find_task, organizer_context
from portal.web.organize_forms import AnnouncementForm


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def announcements(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show all announcements and a form for a new one."""
    context = organizer_context(request, slug, "announcements")
    shared_task = context["page"].shared_task
    form = AnnouncementForm(request.POST if request.method == "POST" else None)
    if form.carry_out(lambda given: publish_announcement(request.user, shared_task, context["at"], **given)):
        messages.success(request, _("The announcement was published."))
        return redirect("announcements", slug)
    context |= {"form": form, "published": published(shared_task)}
    return render(request, "organize/announcements.html", context, status=form.status)


@login_required
@require_POST
def delete(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    context = organizer_context(request, slug, "announcements")
    found = get_object_or_404(Announcement, pk=pk, shared_task=context["page"].shared_task)
    delete_announcement(request.user, found, context["at"])
    messages.success(request, _("The announcement was deleted."))
    return redirect("announcements", slug)


@require_safe
def feed(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """Return a feed of announcements for one shared task or for all tasks, newest first."""
    task = find_task(request, slug) if slug else None
    title = _("Announcements for %(task)s") % {"task": task.title} if task else _("Announcements for all shared tasks")
    link = settings.PUBLIC_URL + (reverse("task", args=[slug]) if slug else reverse("home"))
    atom = Atom1Feed(title, link, "", feed_url=settings.PUBLIC_URL + request.path)
    tasks = [task] if task else SharedTask.objects.public()
    for announcement in announcements_of(tasks)[:FEED]:
        page = reverse("task", args=[announcement.shared_task.slug])
        atom.add_item(
            title=announcement.title if task else f"{announcement.shared_task.title}: {announcement.title}",
            link=f"{settings.PUBLIC_URL}{page}#announcement-{announcement.pk}",
            description=render_markdown(announcement.text),
            pubdate=announcement.at,
            updateddate=announcement.at,
        )
    return HttpResponse(atom.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8")


def published(shared_task: SharedTask) -> list[tuple[Announcement, str]]:
    """Return the announcements with their texts as HTML, newest first."""
    return [(announcement, render_markdown(announcement.text)) for announcement in announcements_of([shared_task])]
