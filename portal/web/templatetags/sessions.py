"""Where somebody is signed in, in words."""

import ua_parser
from django import template
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def browser_in_words(user_agent: str) -> str:
    """What a browser calls itself → "Firefox on Linux"; as it is where nothing of it is known.

    Without versions: browsers freeze most of those that they tell.
    """
    found = ua_parser.parse(user_agent)
    browser = found.user_agent.family if found.user_agent else None
    system = found.os.family if found.os else None
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system or user_agent
