"""Parts of Vega-Lite specifications: channels and layers of marks."""

from typing import Any

Spec = dict[str, Any]


def quantitative(field: str, title: str | None = None, **more: Any) -> Spec:
    """Return a channel for numbers. `more` sets its scale, axis, format and so on."""
    return {"field": field, "type": "quantitative"} | ({"title": title} if title is not None else {}) | more


def nominal(field: str, title: str | None = None, **more: Any) -> Spec:
    """Return a channel for names, which are sorted by default. `sort=None` keeps the order of the data."""
    return {"field": field, "type": "nominal", "title": title, **more}


def layer(mark: str, encoding: Spec | None = None, *, only: str = "", **look: Any) -> Spec:
    """Return a layer of marks that share a style. `only` is a Vega expression that filters the data."""
    made = {"mark": {"type": mark, **look}} | ({"encoding": encoding} if encoding else {})
    return {"transform": [{"filter": only}]} | made if only else made
