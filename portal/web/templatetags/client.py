"""Template tags that show how to install `agon`."""

from django import template
from django.conf import settings

from portal.web.client import wheel

register = template.Library()


@register.simple_tag
def install_command() -> str:
    """Return the command that installs this portal's client."""
    return wheel().command


@register.simple_tag
def portal_address() -> str:
    """Return the portal's address for `agon login`."""
    return str(settings.PUBLIC_URL)
