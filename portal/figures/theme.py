"""The styles of figures in light and dark themes. Marks refer to a style, never to a color."""

from typing import Any

FAMILY = "Source Sans 3"
_LIMIT, _SMALL_LIMIT = 400, 180  # for names on axes, in pixels of a wider font that Vega assumes

THEMES: dict[str, dict[str, str]] = {
    "light": {
        "wash": "#f5f6f4",
        "ink": "#1b1d1f",
        "soft": "#565d64",
        "edge": "#8a9096",
        "hair": "#dcdedd",
        "accent": "#15527f",
        "half": "#8aa9bf",
        "second": "#a8480a",
        "third": "#2f7036",
        "fourth": "#7b3f98",
        "fifth": "#7a6100",
    },
    "dark": {
        "wash": "#1c1f22",
        "ink": "#e8e9e7",
        "soft": "#a7aeb5",
        "edge": "#7b838a",
        "hair": "#2f3438",
        "accent": "#8fc3ea",
        "half": "#48647a",
        "second": "#f0a268",
        "third": "#86c98c",
        "fourth": "#cfa1e6",
        "fifth": "#d9c15c",
    },
}
"""The colors of static/agon.css. `half` is the accent at half strength, on which `ink` is still legible.

The accent and `second` to `fifth` distinguish lines, which also have different dashes.
"""


def config(theme: str, *, is_small: bool = False) -> dict[str, Any]:
    """Return the Vega-Lite `config` of the theme. Small figures shorten long names on their axes."""
    colour = THEMES[theme]
    titles = {"titleColor": colour["ink"], "titleFontSize": 13.5, "titleFontWeight": 600, "titlePadding": 10}
    labels = {"labelColor": colour["soft"], "labelFontSize": 13.5}
    axis = {"ticks": False, "grid": True, "gridColor": colour["hair"], "labelPadding": 8}
    axis["labelLimit"] = _SMALL_LIMIT if is_small else _LIMIT
    return {
        "background": "transparent",
        "font": f"'{FAMILY}', Helvetica, Arial, sans-serif",
        "padding": 6,
        "view": {"stroke": None},
        "axis": titles | labels | axis,
        "axisX": {"domainColor": colour["edge"]},
        "axisXQuantitative": {"tickCount": 6, "labelFlush": False},
        "axisY": {"domain": False},
        "axisYQuantitative": {
            "tickCount": 6,
            "titleAngle": 0,
            "titleAnchor": "end",
            "titleAlign": "left",
            "titleBaseline": "bottom",
            "titleX": 0,
            "titleY": -8,
        },
        "axisBand": {"grid": False, "domain": False},
        "header": titles | labels,
        "legend": titles | labels | ({"orient": "bottom", "columns": 2} if is_small else {}),
        # Use `color`. `fill` and `stroke` would override a mark's style.
        "bar": {"color": colour["accent"]},
        "line": {"color": colour["accent"], "strokeWidth": 1.6},
        "rule": {"color": colour["accent"], "strokeWidth": 1.6},
        "rect": {"stroke": colour["wash"], "strokeWidth": 1},
        "text": {"color": colour["ink"], "fontSize": 13.5},
        "point": {"color": colour["accent"], "filled": True},
        "range": {
            "category": [colour[name] for name in ("accent", "second", "third", "fourth", "fifth")],
            "heatmap": [colour["wash"], colour["half"]],
            "ramp": [colour["wash"], colour["half"]],
        },
        "style": {
            "team": {"shape": "circle", "size": 90, "opacity": 1},
            "baseline": {
                "shape": "diamond",
                "filled": False,
                "size": 90,
                "color": colour["edge"],
                "strokeWidth": 1.8,
                "opacity": 1,
            },
            "team-name": {"fontWeight": 600},
            "baseline-name": {"color": colour["soft"]},
            "baseline-rule": {"color": colour["edge"]},
            "chance": {"color": colour["edge"], "strokeDash": [4, 4], "strokeWidth": 1},
            "mean": {"color": colour["ink"], "strokeDash": [5, 4], "strokeWidth": 1.6},
            "small": {"fontSize": 12},
        },
    }
