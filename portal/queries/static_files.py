"""Whether the static files that pages request have been collected."""

from functools import cache
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.files.storage import storages

from portal.models.schema import some_of


def missing_static_files() -> str:
    """Return the names of static files that are missing from AGON_STATIC, or an empty string.

    The list of collected files is read again each time, because a web server keeps the list that it read at its start.
    """
    if not settings.STATIC_ROOT:
        return ""
    files: Any = storages.create_storage(settings.STORAGES["staticfiles"])  # with a list of its files
    collected, _digest = files.load_manifest()
    missing = sorted(name for name in _names() if name not in collected or not files.exists(collected[name]))
    return some_of(missing)


@cache
def _names() -> frozenset[str]:
    """Return the names of the static files that belong to this version."""
    return frozenset(name for finder in get_finders() for name, _storage in finder.list([]))
