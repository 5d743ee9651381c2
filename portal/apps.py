"""The one Django app."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class PortalConfig(AppConfig):
    name = "portal"
    verbose_name = "Agon"


class AdministrationConfig(admin_apps.AdminConfig):
    """Django's administration behind the portal's own sign-in."""

    default = False  # `portal` is the config above
    default_site = "portal.web.administration.Administration"
