"""The portal's front door."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.models.clock import database_now
from portal.permissions import lacks_second_factor
from portal.queries.home import Wish, next_step, shared_tasks
from portal.queries.organize import duties


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """All shared tasks by state, and the reader's next step."""
    at = database_now()
    wish = Wish(*(request.GET.get(name, "").strip() for name in ("search", "language", "year")))
    lists = shared_tasks(request.user, at, wish)
    groups = [
        {"state": "open", "title": _("Open"), "lines": lists.open, "when": _("Next deadline")},
        {"state": "coming", "title": _("Coming"), "lines": lists.coming, "when": _("Next date")},
        {"state": "past", "title": _("Past"), "lines": lists.past, "when": _("Results")},
    ]  # fmt: skip
    context = {"groups": groups, "lists": lists, "wish": wish, "next": next_step(request.user, at), "at": at}
    context["duties"] = duties(request.user, at)
    context["lacks_second_factor"] = context["duties"] and lacks_second_factor(request.user)
    return render(request, "home/home.html", context)


@require_safe
def guide(request: HttpRequest) -> HttpResponse:
    return render(request, "guide/guide.html", {"portal_url": settings.PUBLIC_URL})
