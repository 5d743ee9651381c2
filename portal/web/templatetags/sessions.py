"""The names of the browsers that sessions belong to."""

import ua_parser
from django import template
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def browser_in_words(user_agent: str) -> str:
    """Return a user agent as text, such as "Firefox on Linux". Unknown user agents are returned unchanged.

    Versions are left out, because most browsers no longer report the real one.
    """
    found = ua_parser.parse(user_agent)
    browser = found.user_agent.family if found.user_agent else None
    system = found.os.family if found.os else None
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system or user_agent
