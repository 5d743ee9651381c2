"""Draw complete Vega-Lite specifications. This requires the `figures` extra."""

import json
from collections.abc import Callable
from html import escape
from typing import Any

import vl_convert

from portal.figures.font_subsets import FOLDER, with_fonts

_VEGA_LITE = "6.4"

vl_convert.register_font_directory(str(FOLDER))


def _svg(spec: dict[str, Any]) -> bytes:
    drawn = vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE)
    return with_fonts(drawn).replace(">", f"><title>{escape(spec['description'])}</title>", 1).encode()


def _png(spec: dict[str, Any]) -> bytes:
    on_paper = spec | {"config": spec["config"] | {"background": "white"}}
    return vl_convert.vegalite_to_png(on_paper, vl_version=_VEGA_LITE, scale=3)


def _pdf(spec: dict[str, Any]) -> bytes:
    return vl_convert.vegalite_to_pdf(spec, vl_version=_VEGA_LITE)


def _vega(spec: dict[str, Any]) -> bytes:
    return json.dumps(vl_convert.vegalite_to_vega(spec, vl_version=_VEGA_LITE)).encode()


DRAW: dict[str, Callable[[dict[str, Any]], bytes]] = {"svg": _svg, "png": _png, "pdf": _pdf, "json": _vega}
"""Extension → function that draws the file. `json` is the figure compiled to Vega."""
