"""A person's settings: personal data, emails, sessions, and deleting the account."""

import json

from allauth.account.decorators import reauthentication_required
from allauth.socialaccount.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.forms import model_to_dict
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.actions.account_settings import change_settings, end_session, stop_mails
from portal.actions.accounts import delete_account
from portal.actions.base.errors import ActionError
from portal.mail import unsubscribe
from portal.models.clock import database_now
from portal.queries.personal_data import personal_data, teams_to_hand_over
from portal.web.access import SignedInRequest
from portal.web.account_forms import SettingsForm


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: SignedInRequest) -> HttpResponse:
    """Show the personal settings and links to all other account settings, and save changes."""
    values = request.POST if request.method == "POST" else None
    form = SettingsForm(values, initial=model_to_dict(request.user, SettingsForm.base_fields))
    if form.carry_out(lambda given: change_settings(request.user, request.user, database_now(), **given)):
        messages.success(request, _("Your settings were saved."))
        return redirect("settings")
    context = {
        "form": form,
        "has_second_factor": request.user.has_second_factor,
        "has_providers": bool(get_adapter().list_providers(request)),
    }
    return render(request, "settings/settings.html", context, status=form.status)


@login_required
@require_safe
@reauthentication_required
def export_data(request: SignedInRequest) -> HttpResponse:
    """Download all data about the person."""
    text = json.dumps(personal_data(request.user), default=str, ensure_ascii=False, indent=2)
    response = HttpResponse(text, content_type="application/json")
    response["Content-Disposition"] = 'attachment; filename="agon-my-data.json"'
    return response


@login_required
@require_POST
def end_one_session(request: SignedInRequest, pk: int) -> HttpResponse:
    """Sign out another browser session."""
    others = UserSession.objects.filter(user=request.user).exclude(session_key=request.session.session_key)
    session = get_object_or_404(others, pk=pk)
    end_session(request.user, session, database_now())
    messages.success(request, _("The session was signed out."))
    return redirect("usersessions_list")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required(allow_get=True)
def delete(request: SignedInRequest) -> HttpResponse:
    """Show the effects of deleting the account, and delete it on POST."""
    context = {"teams": teams_to_hand_over(request.user)}
    if request.method != "POST":
        return render(request, "settings/delete.html", context)
    try:
        delete_account(request.user, request.user, database_now())
    except ActionError as error:
        return render(request, "settings/delete.html", context | {"refusal": error.message}, status=error.http_status)
    logout(request)
    messages.success(request, _("Your account was deleted."))
    return redirect("home")


# RFC 8058: mail programs post without a cookie. The signature in the URL is enough.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def stop_mails_of(request: HttpRequest, token: str) -> HttpResponse:
    """Unsubscribe on POST. GET changes nothing, because mail servers follow links to scan for viruses."""
    wish = unsubscribe.read(token)
    if wish is None:
        raise Http404
    if request.method == "POST":
        stop_mails(request.user, wish, database_now())
    return render(request, "mails/stop.html", {"field": wish.field, "is_done": request.method == "POST"})
