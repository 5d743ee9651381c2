"""Figures of a field of runs: how sure ranks are, how hard items, how alike runs and metrics, which labels."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from portal.figures.classes import class_figures, heat
from portal.figures.figure import Datum, Field, Figure
from portal.figures.frame import WIDTH, axis
from portal.figures.scores import by_language, score_figures
from portal.models import Run
from portal.printing import score
from portal.queries.columns import Column
from portal.queries.insights import Insights
from portal.queries.leaderboard import Leaderboard

_NAMES = {"field": "name", "type": "nominal", "sort": None, "title": None}


def field_figures(insights: Insights) -> list[Figure]:
    """All that have a meaning for the track, in the order in which they are read."""
    field = insights.field
    found = [
        intervals(insights.board),
        rank_ranges(insights.ranks),
        *score_figures(insights.board, insights.every_run),
        by_language(insights.languages, insights.board.ranking_column) if insights.languages else None,
        *class_figures(insights.details),
        correlations(insights.correlations),
        disagreement(field.get("disagreement", {})),
        difficulty(field.get("difficulty", ())),
        *(labels(field["labels"]) if "labels" in field else ()),
    ]
    return [figure for figure in found if figure is not None]


def intervals(board: Leaderboard) -> Figure | None:
    """Each run's score with its interval, and the letter of its tie group; None where no interval is known."""
    column = board.ranking_column
    data: list[Datum] = [
        {
            "name": row.team or row.name,
            "kind": "team" if row.kind == Run.Kind.TEAM else "baseline",
            "value": row.scores[column.key],
            "low": row.interval[0],
            "high": row.interval[1],
            "group": row.group,
        }
        for row in board.rows
        if row.interval is not None
    ]
    if not data:
        return None
    frame = axis(
        [bound for datum in data for bound in (datum["low"], datum["high"]) if datum["kind"] == "team"] or [0.0, 1.0],
        [bound for datum in data for bound in (datum["low"], datum["high"]) if datum["kind"] != "team"],
        WIDTH,
    )
    shown = [datum for datum in data if frame.holds(datum["low"]) and frame.holds(datum["high"])]
    outside = ", ".join(datum["name"] for datum in data if datum not in shown)
    caption = _("Intervals of 95 %. Runs with the same letter do not differ significantly.")
    beyond = _("Beyond the frame: %(names)s.") % {"names": outside}
    x = {"type": "quantitative", "title": f"{column.short} →", "scale": {"domain": [frame.low, frame.high]}}
    kinds = ("team", "baseline")
    rules = [
        {
            "transform": [{"filter": f"datum.kind == '{kind}'"}],
            "mark": {"type": "rule"} | ({} if kind == "team" else {"style": "baseline-rule"}),
            "encoding": {"x": {"field": "low"} | x, "x2": {"field": "high"}},
        }
        for kind in kinds
    ]
    points = [
        {
            "transform": [{"filter": f"datum.kind == '{kind}'"}],
            "mark": {"type": "point", "style": kind, "size": 60},
            "encoding": {"x": {"field": "value"} | x},
        }
        for kind in kinds
    ]
    letters = {
        "mark": {"type": "text", "style": "team-name", "align": "left", "dx": 8},
        "encoding": {"x": {"field": "high"} | x, "text": {"field": "group"}},
    }
    return Figure(
        name="intervals",
        title=_("%(metric)s with its interval") % {"metric": column.title},
        caption=f"{caption} {beyond}" if outside else caption,
        told=_("The table beneath has every bound."),
        fields=(
            Field("name", _("Run of")),
            Field("value", column.short, column.decimals),
            Field("low", _("From"), column.decimals),
            Field("high", _("To"), column.decimals),
            Field("group", _("Tie group")),
        ),
        data=data,
        drawing={
            "width": WIDTH,
            "height": {"step": 26},
            "transform": [{"filter": {"field": "name", "oneOf": [datum["name"] for datum in shown]}}],
            "encoding": {"y": _NAMES},
            "layer": [*rules, *points, letters],
        },
    )


def rank_ranges(found: Mapping[str, tuple[int, int]]) -> Figure | None:
    """Between which ranks the samples put each run."""
    if len(found) < 2:
        return None
    data: list[Datum] = [{"name": name, "best": best, "worst": worst} for name, (best, worst) in found.items()]
    x = {"type": "quantitative", "title": _("Rank →"), "scale": {"domain": [1, len(data)]}, "axis": {"tickMinStep": 1}}
    return Figure(
        name="rank-stability",
        title=_("How far ranks move on resampled items"),
        caption=_(
            "Of each run the ranks that 95 % of the bootstrap’s samples give it; a point is a rank that never moves."
        ),
        told=_("The table beneath has the best and the worst rank of each run."),
        fields=(Field("name", _("Run of")), Field("best", _("Best rank"), 0), Field("worst", _("Worst rank"), 0)),
        data=data,
        drawing={
            "width": WIDTH,
            "height": {"step": 26},
            "encoding": {"y": _NAMES},
            "layer": [
                {
                    "mark": {"type": "rule", "strokeWidth": 6, "strokeCap": "round"},
                    "encoding": {"x": {"field": "best"} | x, "x2": {"field": "worst"}},
                },
                {"mark": {"type": "point", "style": "team", "size": 40}, "encoding": {"x": {"field": "best"} | x}},
            ],
        },
    )


def correlations(found: Sequence[tuple[Column, Sequence[float | None]]]) -> Figure | None:
    """How alike metrics rank the runs: Spearman's correlations."""
    heads = [column.short for column, _values in found]
    values = {column.short: row for column, row in found}
    if len(heads) < 3 or all(value is None for row in values.values() for value in row):
        return None
    return _square(
        "metric-correlations",
        _("How alike the metrics rank the runs"),
        _("Spearman’s correlation over the official runs; – where a metric is the same for all."),
        {name: dict(zip(heads, row, strict=True)) for name, row in values.items()},
    )


def disagreement(found: Mapping[str, Mapping[str, float | None]]) -> Figure | None:
    """The share of items that two runs answer differently."""
    if len(found) < 2:
        return None
    return _square(
        "disagreement",
        _("How differently two runs answer"),
        _("Share of the gold standard’s items to which the runs of row and column give different answers."),
        found,
    )


def _square(name: str, title: str, caption: str, values: Mapping[str, Mapping[str, float | None]]) -> Figure:
    names = list(values)
    data: list[Datum] = [
        {
            "row": row,
            "column": column,
            "value": value,
            "shade": abs(value or 0.0),
            "words": "–" if value is None else score(value, 2),
        }
        for row, cells in values.items()
        for column, value in cells.items()
    ]
    return Figure(
        name=name,
        title=title,
        caption=caption,
        told=_("The table beneath has every value."),
        fields=(Field("row", _("Row")), Field("column", _("Column")), Field("value", _("Value"), 4)),
        data=data,
        drawing=heat(names, names, shown="words", shade="shade", across="", down=""),
    )


def difficulty(counts: Sequence[int]) -> Figure | None:
    """How many items 0, 1, ... all of the runs got right."""
    if len(counts) < 3 or not sum(counts):
        return None
    data: list[Datum] = [{"runs": runs, "items": items} for runs, items in enumerate(counts)]
    return Figure(
        name="difficulty",
        title=_("Items by how many runs got them right"),
        caption=_("All compared runs, baselines left out."),
        told=_("%(none)d items no run got right, %(all)d all of them.") % {"none": counts[0], "all": counts[-1]},
        fields=(Field("runs", _("Runs that are right"), 0), Field("items", _("Items"), 0)),
        data=data,
        drawing={
            "width": WIDTH,
            "height": 220,
            "mark": {"type": "bar"},
            "encoding": {
                "x": {
                    "field": "runs",
                    "type": "ordinal",
                    "title": _("runs that are right →"),
                    "axis": {"labelAngle": 0},
                },
                "y": {"field": "items", "type": "quantitative", "title": _("↑ items")},
            },
        },
    )


def labels(found: Mapping[str, Any]) -> list[Figure]:
    """How often the gold standard has each label, and how often two together."""
    data: list[Datum] = [
        {"name": name, "count": count, "share": count / found["items"] if found["items"] else 0.0}
        for name, count in zip(found["classes"], found["counts"], strict=True)
    ]
    bars = Figure(
        name="labels",
        title=_("Labels of the gold standard"),
        caption=_("%(items)s items.") % {"items": f"{found['items']:,}"},
        told=", ".join(f"{one['name']} {one['count']:g}" for one in data),
        fields=(Field("name", _("Label")), Field("count", _("Items"), 0), Field("share", _("Share"), 4)),
        data=data,
        drawing={
            "width": WIDTH,
            "height": {"step": 26},
            "encoding": {"y": _NAMES, "x": {"field": "count", "type": "quantitative", "title": _("items →")}},
            "layer": [
                {"mark": {"type": "bar"}},
                {
                    "mark": {"type": "text", "align": "left", "dx": 6},
                    "encoding": {"text": {"field": "share", "type": "quantitative", "format": ".1%"}},
                },
            ],
        },
    )
    return [bars, *_company(found)]


def _company(found: Mapping[str, Any]) -> list[Figure]:
    """Only where an item may have several labels."""
    classes, together = found["classes"], found["together"]
    if not any(count for row, line in enumerate(together) for column, count in enumerate(line) if row != column):
        return []
    data: list[Datum] = [
        {
            "row": one,
            "column": other,
            "count": count,
            "share": count / line[row] if line[row] else 0.0,
            "words": f"{count:,.0f}",
        }
        for row, (one, line) in enumerate(zip(classes, together, strict=True))
        for other, count in zip(classes, line, strict=True)
    ]
    return [
        Figure(
            name="co-occurrence",
            title=_("Labels that occur together"),
            caption=_("Items that have the labels of row and column; shade by share of the row’s."),
            told=_("The table beneath has every count."),
            fields=(Field("row", _("Label")), Field("column", _("With")), Field("count", _("Items"), 0)),
            data=data,
            drawing=heat(classes, classes, shown="words", shade="share", across="", down=""),
        )
    ]
