"""What Vega-Lite specifications are made of: channels, and layers of marks."""

from typing import Any

Spec = dict[str, Any]


def quantitative(field: str, title: str | None = None, **more: Any) -> Spec:
    """A channel of numbers; `more` is its scale, axis, format or other parts."""
    return {"field": field, "type": "quantitative"} | ({"title": title} if title is not None else {}) | more


def nominal(field: str, title: str | None = None, **more: Any) -> Spec:
    """A channel of names, sorted; `sort=None` leaves them in the order of the data."""
    return {"field": field, "type": "nominal", "title": title, **more}


def layer(mark: str, encoding: Spec | None = None, *, only: str = "", **look: Any) -> Spec:
    """Marks of one look; `only` is a condition on the data in Vega's expressions."""
    made = {"mark": {"type": mark, **look}} | ({"encoding": encoding} if encoding else {})
    return {"transform": [{"filter": only}]} | made if only else made
