"""The root URLs. The portal's own URLs are in `portal.web.urls`, and those of the API in `portal.api.urls`."""

from allauth.account.views import email
from allauth.mfa.totp.views import activate_totp
from allauth.mfa.webauthn.views import add_webauthn
from allauth.urls import build_provider_urlpatterns
from django.contrib import admin
from django.urls import include, path

from portal.api.views import docs, error
from portal.permissions import changes_address_by_mail, enrolls_by_mail
from portal.web.mail_codes import mail_code_required
from portal.web.views import errors

urlpatterns = [
    path("admin/", admin.site.urls),
    # Pages of allauth that some people can reach only with an emailed code. They come first, so they replace allauth's
    # URLs.
    path("accounts/email/", mail_code_required(changes_address_by_mail)(email), name="account_email"),
    path("accounts/2fa/totp/activate/", mail_code_required(enrolls_by_mail)(activate_totp), name="mfa_activate_totp"),
    path("accounts/2fa/webauthn/add/", mail_code_required(enrolls_by_mail)(add_webauthn), name="mfa_add_webauthn"),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("accounts/sessions/", include("allauth.usersessions.urls")),
    path("accounts/3rdparty/", include("allauth.socialaccount.urls")),
    path("accounts/", include(build_provider_urlpatterns())),
    path("api/", docs, name="api_docs"),
    path("api/v1/", include("portal.api.urls")),
    path("errors/<slug:code>/", error, name="error"),
    path("", include("portal.web.urls")),
]
handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
