"""The WSGI entry point for web servers."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django_application = get_wsgi_application()

import portal.urls  # noqa: E402, F401 - now, rather than with the first request
from portal.web.bodies import discarding, measured  # noqa: E402 - what it imports needs Django to be set up

application = discarding(measured(django_application))
gc.collect()
# The objects that exist now are permanent, so the garbage collector should not scan them again every few requests.
gc.freeze()
