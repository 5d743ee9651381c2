"""The Django app configuration."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class PortalConfig(AppConfig):
    name = "portal"
    verbose_name = "Agon"


class AdministrationConfig(admin_apps.AdminConfig):
    """The configuration of Django's administration, which uses the portal's sign-in."""

    default = False  # the default is the `portal` config above
    default_site = "portal.web.administration.Administration"
