"""Text for the browsers of sessions."""

import ua_parser
from django import template
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def browser_in_words(user_agent: str) -> str:
    """Return a user agent as text, for example "Firefox on Linux". Unknown ones are not changed.

    Without versions, as browsers freeze most of them.
    """
    found = ua_parser.parse(user_agent)
    browser = found.user_agent.family if found.user_agent else None
    system = found.os.family if found.os else None
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system or user_agent
