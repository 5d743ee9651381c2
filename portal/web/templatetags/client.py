"""How to install `agon`."""

from django import template
from django.conf import settings

from portal.web.client import wheel

register = template.Library()


@register.simple_tag
def install_command() -> str:
    """The command that installs the client of this portal."""
    return wheel().command


@register.simple_tag
def portal_address() -> str:
    """The portal's address for `agon login`."""
    return str(settings.PUBLIC_URL)
