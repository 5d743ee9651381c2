"""The letters of a drawing: an SVG that a page shows as an image loads no font, so it carries those that it uses."""

import re
from base64 import b64encode
from collections import defaultdict
from html import unescape
from io import BytesIO
from pathlib import Path

from fontTools import subset

FOLDER = Path(__file__).parent / "fonts"
FAMILY = "Source Sans 3"
_FACES = {400: "SourceSans3-Regular.otf", 600: "SourceSans3-Semibold.otf"}
_TEXT = re.compile(r"<text([^>]*[^/])>([^<]+)</text>")
_SEMIBOLD = 'font-weight="600"'


def with_letters(svg: str) -> str:
    """The drawing with the fonts of its texts in it, each cut to the letters that occur: about 4 kB a weight."""
    letters: defaultdict[int, set[str]] = defaultdict(set)
    for attributes, text in _TEXT.findall(svg):
        letters[600 if _SEMIBOLD in attributes else 400].update(unescape(text))
    faces = "".join(_face(weight, "".join(sorted(found))) for weight, found in sorted(letters.items()))
    return svg.replace(">", f"><style>{faces}</style>", 1)


def _face(weight: int, letters: str) -> str:
    options = subset.Options(flavor="woff2")
    font = subset.load_font(str(FOLDER / _FACES[weight]), options)
    cutter = subset.Subsetter(options)
    cutter.populate(text=letters)
    cutter.subset(font)
    cut = BytesIO()
    subset.save_font(font, cut, options)
    source = f"url(data:font/woff2;base64,{b64encode(cut.getvalue()).decode()})"
    return f'@font-face{{font-family:"{FAMILY}";font-weight:{weight};src:{source} format("woff2")}}'
