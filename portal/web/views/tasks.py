"""A shared task's pages with texts by its organizers."""

from typing import Any

from django.conf import settings
from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.markdown import Heading, contents, has_heading
from portal.markdown import render as render_markdown
from portal.paper.references import citation
from portal.queries.public import described
from portal.queries.take_part import checklist
from portal.web.access import tab_context
from portal.web.views.announcements import published


@require_safe
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    context = text_context(request, slug, "overview", _("Overview"))
    shared_task, address = context["page"].shared_task, f"{settings.PUBLIC_URL}{reverse('task', args=[slug])}"
    context |= {"announcements": published(shared_task)}
    context |= {"described": described(shared_task, address), "citation": citation(shared_task, address)}
    return render(request, "tasks/overview.html", context)


@require_safe
def take_part(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what the person has done and still has to do before the first valid run."""
    context = tab_context(request, slug, "take_part")
    context["checklist"] = checklist(context["page"], context["at"])
    return render(request, "take_part/take_part.html", context)


@require_safe
def evaluation(request: HttpRequest, slug: str) -> HttpResponse:
    context = text_context(request, slug, "evaluation", _("Evaluation"))
    prefetch_related_objects(context["page"].phases, "changes")
    context["contents"] += [Heading("dates", _("Dates and limits")), Heading("naming", _("Naming rule"))]
    return render(request, "tasks/evaluation.html", context)


@require_safe
def terms(request: HttpRequest, slug: str) -> HttpResponse:
    return render(request, "tasks/terms.html", text_context(request, slug, "terms", _("Terms")))


def text_context(request: HttpRequest, slug: str, name: str, heading: str) -> dict[str, Any]:
    """Return the context of a page with a text by the organizers."""
    context = tab_context(request, slug, name)
    path = context["page"].shared_task.definition.pages.get(name)
    text = path.read_text(encoding="utf-8") if path is not None and path.is_file() else ""
    return context | {
        "heading": heading,
        "text": render_markdown(text),
        "has_heading": has_heading(text),
        "contents": contents(text),
    }
