"""The entry point for web servers."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django_application = get_wsgi_application()

from portal.web.bodies import measured  # noqa: E402 - what it imports needs Django to be set up

application = measured(django_application)
