"""The WSGI entry point for web servers."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django_application = get_wsgi_application()

# What these import needs Django to be set up.
from django.conf import settings  # noqa: E402
from django.db.backends.signals import connection_created  # noqa: E402

import portal.urls  # noqa: E402, F401 - now, rather than with the first request
from portal.web.bodies import discarding, measured  # noqa: E402
from portal.web.connections import close_with_thread  # noqa: E402
from portal.web.templates import load_templates  # noqa: E402

load_templates()
connection_created.connect(close_with_thread)
application = measured(django_application)
if settings.ALLAUTH_TRUSTED_PROXY_COUNT:
    application = discarding(application)
gc.collect()
# The objects that exist now are permanent, so the garbage collector should not scan them again every few requests.
gc.freeze()
