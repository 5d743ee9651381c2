"""Pages to release scores, to cancel and restore releases, and to apply new scores."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.actions.base.errors import ActionError, Invalid
from portal.actions.release import (
    NO_RELEASE,
    RELEASE_CHANGED,
    release_scores,
    restore_release,
    take_back_release,
)
from portal.actions.scores import apply_scores
from portal.queries.boards.waiting_scores import waiting_scores
from portal.queries.effects import of_hiding_scores, of_release
from portal.queries.organize import ReleaseLook, release_looks
from portal.web.access import SignedInRequest, organizer_context, organizer_phase
from portal.web.action_forms import carry_out
from portal.web.organize_forms import ScoresForm, release_form


@require_safe
@login_required
def releases(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show what each release shows or would show."""
    return _page(request, organizer_context(request, slug, "releases"))


@login_required
@require_POST
def release(request: SignedInRequest, slug: str, phase: str) -> HttpResponse:
    """Release scores at the given time or, if none is given, immediately, after a confirmation."""
    context, found = organizer_phase(request, slug, phase, "releases")
    form = release_form(found, request.user, context["at"], request.POST)
    if form.is_valid() and form.cleaned_data["when"] is None and "confirmed" not in request.POST:
        look = next((look for look in _looks(request, context) if look.phase == found), None)
        if look and look.is_closed:
            title = _("Release the scores of %(phase)s now") % {"phase": found.title}
            fields = {"zone": request.POST["zone"], "confirmed": "yes"}
            return _confirm(request, context, title, of_release(look), fields)
    if not form.carry_out(lambda given: release_scores(request.user, found, context["at"], **given)):
        return _page(request, context, {found.slug: form}, form.status)
    is_now = form.cleaned_data["when"] is None
    done = _("The scores of %(phase)s are public.") if is_now else _("The release of %(phase)s is scheduled.")
    messages.success(request, done % {"phase": found.title})
    return redirect("organize_releases", slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def take_back(request: SignedInRequest, slug: str, phase: str) -> HttpResponse:
    """Show the effects of canceling the release. A POST cancels it if it names the release time that was shown."""
    context, found = organizer_phase(request, slug, phase, "releases")
    status: int = HTTPStatus.OK
    if request.method == "POST" and found.released is not None:
        done = _("The scores of %(phase)s are hidden.") % {"phase": found.title}
        seen = request.POST.get("released", "")
        error = carry_out(request, take_back_release, found, context["at"], done, seen=seen)
        if not isinstance(error, Invalid):
            return _answer(request, context, error)
        # The time is not the one that was shown.
        context["refusal"], status = RELEASE_CHANGED(phase=found.title).message, error.http_status
        found.refresh_from_db()
    if found.released is None:
        return _answer(request, context, NO_RELEASE(phase=found.title))
    title = _("Take back the release of %(phase)s") % {"phase": found.title}
    fields = {"released": found.released.isoformat()}
    return _confirm(request, context, title, of_hiding_scores(found, context["at"]), fields, status)


@login_required
@require_POST
def put_back(request: SignedInRequest, slug: str, phase: str) -> HttpResponse:
    """Restore a release that was canceled."""
    context, found = organizer_phase(request, slug, phase, "releases")
    done = _("The scores of %(phase)s are public again.") % {"phase": found.title}
    return _answer(request, context, carry_out(request, restore_release, found, context["at"], done))


def _answer(request: SignedInRequest, context: dict[str, Any], error: ActionError | None) -> HttpResponse:
    if error:
        return _page(request, context | {"refusal": error.message}, status=error.http_status)
    return redirect("organize_releases", context["page"].shared_task.slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def scores(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show leaderboards with new scores. A POST applies the scores of the selected ones."""
    context = organizer_context(request, slug, "scores")
    shared_task, at = context["page"].shared_task, context["at"]
    context["lines"] = lines = waiting_scores(shared_task, request.user, at)
    context["form"] = form = ScoresForm(request.POST if request.method == "POST" else None, lines=lines)

    def apply(given: dict[str, Any]) -> None:
        apply_scores(request.user, shared_task, at, wanted=given["boards"], note=given["note"])

    if not form.carry_out(apply):
        return render(request, "organize/scores.html", context, status=form.status)
    count = len(form.cleaned_data["boards"])
    done = ngettext("%(n)d leaderboard shows its new scores.", "%(n)d leaderboards show their new scores.", count)
    messages.success(request, done % {"n": count})
    return redirect("organize_scores", slug)


def _looks(request: SignedInRequest, context: dict[str, Any]) -> list[ReleaseLook]:
    return release_looks(context["page"].shared_task, request.user, context["at"])


def _page(
    request: SignedInRequest, context: dict[str, Any], forms: dict[str, Any] | None = None, status: int = HTTPStatus.OK
) -> HttpResponse:
    context["lines"] = [
        {
            "look": look,
            "form": (forms or {}).get(look.phase.slug) or release_form(look.phase, request.user, context["at"]),
        }
        for look in _looks(request, context)
    ]
    return render(request, "organize/releases.html", context, status=status)


def _confirm(
    request: SignedInRequest,
    context: dict[str, Any],
    title: str,
    effects: list[str],
    fields: dict[str, str],
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Render a page that lists the effects and asks for confirmation. Its form posts to the page's own URL."""
    back = reverse("organize_releases", args=[context["page"].shared_task.slug])
    context |= {"title": title, "effects": effects, "fields": fields, "back": back}
    return render(request, "organize/confirm.html", context, status=status)
