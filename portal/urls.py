"""Where every address begins; the portal's own pages are in `portal.web.urls`."""

from allauth.urls import build_provider_urlpatterns
from django.contrib import admin
from django.urls import include, path

from portal.web.views import errors

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("accounts/sessions/", include("allauth.usersessions.urls")),
    path("accounts/3rdparty/", include("allauth.socialaccount.urls")),
    path("accounts/", include(build_provider_urlpatterns())),
    path("", include("portal.web.urls")),
]
handler403 = errors.forbidden
handler404 = errors.not_found
