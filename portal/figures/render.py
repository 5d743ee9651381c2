"""Render figures as files: SVG for pages, PNG and PDF for papers, Vega for browsers."""

import hashlib
import json
from importlib.metadata import version

from django.core.cache import caches

from portal.figures.figure import CAN_DRAW, Figure

_VERSION = version("vl-convert-python") if CAN_DRAW else ""
FORMATS = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "json": "application/json"}
"""Extension → media type."""
_KEPT_SECONDS = 7 * 24 * 60 * 60


def render(figure: Figure, ending: str, theme: str = "light", *, is_small: bool = False) -> bytes:
    """Draw the figure in one of FORMATS, or get it from the cache. The first drawing in a process takes a second."""
    spec = figure.spec(theme, is_small=is_small)
    text = json.dumps(spec, sort_keys=True)
    key = f"figure:{hashlib.sha256(f'{_VERSION}{ending}{text}'.encode()).hexdigest()}"
    cache = caches["figures"]
    kept = cache.get(key)
    if kept is None:
        from portal.figures.drawing import DRAW  # noqa: PLC0415 - an extra; also, web servers start sooner without it

        kept = DRAW[ending](spec)
        cache.set(key, kept, _KEPT_SECONDS)
    return bytes(kept)
