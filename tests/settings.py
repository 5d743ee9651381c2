"""The portal's settings for tests: a fast password hasher, and a separate state folder for each test process.

Each process also has its own broker address, where nothing listens except in tests with the fixture `broker`.
"""

import atexit
import os
import shutil
import tempfile

from portal.management.valkey import HOST, free_port

os.environ["REDIS_URL"] = f"redis://{HOST}:{free_port()}/0"
os.environ["AGON_STATE"] = tempfile.mkdtemp(prefix="agon-test-")
os.environ |= {f"{name}_{part}": "tests" for name in ("ORCID", "GITHUB") for part in ("CLIENT_ID", "SECRET")}
atexit.register(shutil.rmtree, os.environ["AGON_STATE"], ignore_errors=True)

from portal.settings import *  # noqa: E402, F403

MIDDLEWARE = ["tests.canary.ResponseEyes", *MIDDLEWARE]  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":  # noqa: F405
    # Without ORDER BY, return rows in reverse, so that tests that depend on their order always fail.
    DATABASES["default"]["OPTIONS"]["init_command"] += "; PRAGMA reverse_unordered_selects = ON"  # noqa: F405
WHITENOISE_AUTOREFRESH = True  # otherwise, every test client would scan all static files first
