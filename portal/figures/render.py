"""Draws figures on the server: SVG for pages, PNG and PDF for papers, Vega for browsers that draw them anew."""

import hashlib
import json
from collections.abc import Callable
from html import escape
from typing import Any

import vl_convert
from django.core.cache import caches

from portal.figures.figure import Figure
from portal.figures.letters import FOLDER, with_letters

_VEGA_LITE = "6.4"
_KEPT_SECONDS = 7 * 24 * 60 * 60

vl_convert.register_font_directory(str(FOLDER))


def _svg(spec: dict[str, Any]) -> bytes:
    drawn = vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE)
    return with_letters(drawn).replace(">", f"><title>{escape(spec['description'])}</title>", 1).encode()


def _png(spec: dict[str, Any]) -> bytes:
    on_paper = spec | {"config": spec["config"] | {"background": "white"}}
    return vl_convert.vegalite_to_png(on_paper, vl_version=_VEGA_LITE, scale=3)


def _pdf(spec: dict[str, Any]) -> bytes:
    return vl_convert.vegalite_to_pdf(spec, vl_version=_VEGA_LITE)


def _vega(spec: dict[str, Any]) -> bytes:
    return json.dumps(vl_convert.vegalite_to_vega(spec, vl_version=_VEGA_LITE)).encode()


FORMATS: dict[str, tuple[str, Callable[[dict[str, Any]], bytes]]] = {
    "svg": ("image/svg+xml", _svg),
    "png": ("image/png", _png),
    "pdf": ("application/pdf", _pdf),
    "json": ("application/json", _vega),
}
"""Ending → media type and how to draw; `json` is the figure compiled to Vega."""


def render(figure: Figure, ending: str, theme: str = "light", *, is_small: bool = False) -> bytes:
    """The figure in one of FORMATS, drawn once and kept: the first drawing of a process takes a second."""
    spec = figure.spec(theme, is_small=is_small)
    text = json.dumps(spec, sort_keys=True)
    key = f"figure:{hashlib.sha256(f'{vl_convert.get_vega_version()}{ending}{text}'.encode()).hexdigest()}"
    cache = caches["figures"]
    kept = cache.get(key)
    if kept is None:
        kept = FORMATS[ending][1](spec)
        cache.set(key, kept, _KEPT_SECONDS)
    return bytes(kept)
