"""A person's access tokens: creating and revoking them. A token's text is shown only once."""

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from portal.actions.access_tokens import create_token, revoke_token
from portal.models.clock import database_now
from portal.web.access import SignedInRequest
from portal.web.account_forms import TokenForm


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required(allow_get=True)
@never_cache
def access_tokens(request: SignedInRequest) -> HttpResponse:
    """Show the valid tokens and a form that creates a new one."""
    at = database_now()
    form = TokenForm(request.POST if request.method == "POST" else None, user=request.user)
    context = {"form": form, "at": at, "tokens": request.user.access_tokens.valid(at).select_related("shared_task")}

    if form.carry_out(lambda given: create_token(request.user, request.user, at, **given)):
        context["created"], context["text"] = form.result
        context["form"] = TokenForm(user=request.user)
    return render(request, "settings/tokens.html", context, status=form.status)


@login_required
@require_POST
def revoke(request: SignedInRequest, pk: int) -> HttpResponse:
    """Revoke one of the person's tokens."""
    token = get_object_or_404(request.user.access_tokens, pk=pk)
    revoke_token(request.user, token, database_now())
    messages.success(request, _("The token “%(name)s” was revoked.") % {"name": token.name})
    return redirect("access_tokens")
