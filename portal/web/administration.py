"""Django's admin site, which requires a second factor, like the organizers' pages."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, TypeVar, cast

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render

from portal.permissions import lacks_second_factor

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class Administration(AdminSite):
    """Django's admin site, with a check for a second factor on each page."""

    site_header = "Agon"
    site_title = "Agon"
    enable_nav_sidebar = False  # it leaves too little room for the lists
    index_title = "Administration"

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """Wrap a page: administrators without a second factor get 403 and a link for setting one up."""
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if self.has_permission(request) and lacks_second_factor(request.user):
                return render(request, "organize/second_factor.html", status=HTTPStatus.FORBIDDEN)
            return inner(request, *args, **kwargs)

        return cast(View, guarded)

    def password_change(  # type: ignore[override]  # a redirect instead of a page
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Redirect to the portal's page, because Django's page sends no email about the change."""
        return redirect("account_change_password")
