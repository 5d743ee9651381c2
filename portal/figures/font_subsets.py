"""Embed fonts in drawings.

An SVG that is shown as an image cannot load fonts, so it must contain the glyphs that it uses.
"""

import re
from base64 import b64encode
from collections import defaultdict
from functools import lru_cache
from html import unescape
from io import BytesIO
from pathlib import Path

from fontTools import subset

from portal.figures.theme import FAMILY

FOLDER = Path(__file__).parent / "fonts"
_FACES = {400: "SourceSans3-Regular.otf", 600: "SourceSans3-Semibold.otf"}
_TEXT = re.compile(r"<text([^>]*[^/])>(.+?)</text>")
_TAG = re.compile(r"<[^>]+>")  # a text with several lines has a tspan for each line
_LATIN = frozenset(map(chr, (*range(0x20, 0x250), *range(0x2010, 0x2040), *range(0x2190, 0x2194), 0x2212, 0x3B1)))
_SEMIBOLD = 'font-weight="600"'


def with_fonts(svg: str) -> str:
    """Return the drawing with its fonts, reduced to the glyphs that it uses: about 4 kB for each weight."""
    letters: defaultdict[int, set[str]] = defaultdict(set)
    for attributes, text in _TEXT.findall(svg):
        letters[600 if _SEMIBOLD in attributes else 400].update(unescape(_TAG.sub("", text)))
    faces = "".join(_face(weight, "".join(sorted(found))) for weight, found in sorted(letters.items()))
    return svg.replace(">", f"><style>{faces}</style>", 1)


@lru_cache
def _latin(weight: int) -> bytes:
    """Return the part of a font that most drawings need. Starting from the full font takes three times as long."""
    return _cut(str(FOLDER / _FACES[weight]), "".join(_LATIN))


def _cut(font: str | BytesIO, letters: str, flavor: str | None = None) -> bytes:
    options = subset.Options(flavor=flavor)
    found = subset.load_font(font, options)
    cutter = subset.Subsetter(options)
    cutter.populate(text=letters)
    cutter.subset(found)
    cut = BytesIO()
    subset.save_font(found, cut, options)
    return cut.getvalue()


@lru_cache  # similar figures usually use the same letters, and reducing a font takes as long as drawing
def _face(weight: int, letters: str) -> str:
    font = BytesIO(_latin(weight)) if _LATIN.issuperset(letters) else str(FOLDER / _FACES[weight])
    source = f"url(data:font/woff2;base64,{b64encode(_cut(font, letters, 'woff2')).decode()})"
    return f'@font-face{{font-family:"{FAMILY}";font-weight:{weight};src:{source} format("woff2")}}'
