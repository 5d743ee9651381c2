"""Figures about the scores on a leaderboard."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.figures.figure import Datum, Field, Figure, run_datum
from portal.figures.frame import HEIGHT, LABEL_POSITIONS, LINE, NAME_LIMIT, PLANE, WIDTH, Axis, axis, label_positions
from portal.figures.layers import Spec, layer, nominal, quantitative
from portal.models import Run
from portal.queries.boards.columns import Column, whole_title
from portal.queries.boards.insights import SliceScores
from portal.queries.boards.label_shares import LabelShares
from portal.queries.boards.table import BoardTable
from portal.times_and_numbers import score

_UNLABELED = {"label": "", "lines": 0, "large": "", "small": ""}
_LIMIT = {"limit": {"expr": f"place == 'small' ? {1.6 * NAME_LIMIT} : 0"}}  # Vega assumes a wider font


def score_figures(board: BoardTable, every_run: BoardTable) -> list[Figure]:
    """Return all figures that apply to the track. `board` has the official runs, and `every_run` has all runs."""
    heads = {column.key: column for column in board.columns}
    found = [
        against(every_run if across.startswith("recall") else board, heads[across], heads[up])
        for across, up in _pairs(board)
    ]
    return [figure for figure in (*found, by_part(board), over_time(every_run)) if figure is not None]


def _pairs(board: BoardTable) -> Iterator[tuple[str, str]]:
    """Yield pairs of metrics to plot.

    Recall and precision for the same classes come first (plotted for every run), then the ranking metric with each
    other metric. If there are exactly two others, they are also paired with each other.
    """
    keys = [column.key for column in board.columns]
    kinds = [key.removeprefix("recall") for key in keys if key.startswith("recall")]
    pairs = [(f"recall{kind}", f"precision{kind}") for kind in kinds if f"precision{kind}" in keys]
    yield from pairs
    drawn = {board.rank_by, *(key for pair in pairs for key in pair)}
    others = [
        key for key in keys if key not in drawn and ":" not in key and not key.startswith(f"{board.rank_by}_norm")
    ]
    yield from ((board.rank_by, key) for key in others)
    if len(others) == 2:
        yield others[0], others[1]


def against(board: BoardTable, across: Column, up: Column) -> Figure | None:
    """Plot one metric against another, with a point for each run. Return None if fewer than two team runs have both."""
    rows = [row for row in board.rows if row.scores.get(across.key) is not None and row.scores.get(up.key) is not None]
    if sum(row.is_team for row in rows) < 2:
        return None
    data = [run_datum(row, x=row.scores[across.key], y=row.scores[up.key]) for row in rows]
    shown, outside = _framed(data)
    title = _("%(up)s by %(across)s") % {"up": up.title, "across": across.title}
    return Figure(
        name=f"{up.key}-against-{across.key}".replace(":", "-").replace("_", "-").lower(),
        title=title,
        caption=_outside_words(outside, across, up),
        alt=_alt(shown, across, up),
        fields=(
            Field("name", _("Run")),
            Field("kind", _("Kind")),
            Field("x", across.short, across.decimals),
            Field("y", up.short, up.decimals),
        ),
        data=shown + outside,
        drawing=_scatter(shown, across, up),
    )


def _framed(data: list[Datum]) -> tuple[list[Datum], list[Datum]]:
    """Return the points inside the frame, with their labels and the labels' positions, and the points outside it.

    Points of the same kind at the same place share the label of the first one, which has a line for each name.
    """
    teams = [datum for datum in data if datum["kind"] == "team"]
    others = [datum for datum in data if datum["kind"] != "team"]
    horizontal = axis([point["x"] for point in teams], [point["x"] for point in others], WIDTH)
    vertical = axis([point["y"] for point in teams], [point["y"] for point in others], HEIGHT)
    inside = [datum for datum in data if horizontal.holds(datum["x"]) and vertical.holds(datum["y"])]
    across, up = _frames(inside)
    groups: defaultdict[tuple[int, int, str], list[Datum]] = defaultdict(list)
    for datum in inside:
        x, y = across.pixel(datum["x"]), HEIGHT - up.pixel(datum["y"])
        groups[round(x), round(y), datum["kind"]].append(datum)
    points = [(x, y) for x, y, _kind in groups]
    labels = ["\n".join(dict.fromkeys(point["name"] for point in group)) for group in groups.values()]
    large = label_positions(points, labels)
    small = label_positions([(x * PLANE / WIDTH, y) for x, y in points], labels, PLANE)
    labeled = {
        id(group[0]): {"label": label, "lines": label.count("\n") + 1, "large": on_large, "small": on_small}
        for group, label, on_large, on_small in zip(groups.values(), labels, large, small, strict=True)
    }
    shown = [datum | labeled.get(id(datum), _UNLABELED) for datum in inside]
    return shown, [datum for datum in data if datum not in inside]


def _frames(shown: list[Datum]) -> tuple[Axis, Axis]:
    """Return the horizontal and the vertical axis."""
    return axis([datum["x"] for datum in shown], [], WIDTH), axis([datum["y"] for datum in shown], [], HEIGHT)


def _scatter(shown: list[Datum], across: Column, up: Column) -> Spec:
    horizontal, vertical = ({"domain": [frame.low, frame.high]} for frame in _frames(shown))
    kinds = ("baseline", "team")
    named = {(place, datum["kind"], datum["lines"]) for datum in shown for place in (datum["large"], datum["small"])}
    most = max((datum["lines"] for datum in shown), default=0)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "transform": [{"filter": "isValid(datum.large)"}],
        "encoding": {
            "x": quantitative("x", f"{across.short} →", scale=horizontal, axis={"titleAnchor": "end"}),
            "y": quantitative("y", f"↑ {up.short}", scale=vertical),
            "tooltip": [
                {"field": "name", "title": _("Run")},
                {"field": "x", "title": across.short, "format": f".{across.decimals}f"},
                {"field": "y", "title": up.short, "format": f".{up.decimals}f"},
            ],
        },
        "layer": [
            *(layer("point", only=f"datum.kind == '{kind}'", style=kind, clip=True) for kind in kinds),
            *(
                _names(place, kind, lines)
                for place in LABEL_POSITIONS
                for kind in kinds
                for lines in range(1, most + 1)
                if (place, kind, lines) in named
            ),
        ],
    }


def _names(place: str, kind: str, lines: int) -> Spec:
    """Return a layer with the labels at this position that have this many lines, for runs of this kind."""
    only = f"datum[place] == '{place}' && datum.kind == '{kind}' && datum.lines == {lines}"
    position = LABEL_POSITIONS[place].of_lines(lines)._asdict()
    look = {"style": f"{kind}-name", "baseline": "middle", "lineBreak": "\n", "lineHeight": LINE} | _LIMIT | position
    return layer("text", {"text": {"field": "label"}}, only=only, **look)


def _outside_words(outside: list[Datum], across: Column, up: Column) -> str:
    if not outside:
        return ""
    named = [
        f"{point['name']} ({score(point['x'], across.decimals)}, {score(point['y'], up.decimals)})" for point in outside
    ]
    return _("Outside the plot: %(names)s.") % {"names": ", ".join(named)}


def _alt(shown: Iterable[Datum], across: Column, up: Column) -> str:
    """Describe the best run on each axis. For some metrics, this is the one with the lowest value."""
    teams = [datum for datum in shown if datum["kind"] == "team"]
    first, second = (
        max(teams, key=lambda team: team[key] if column.higher_is_better else -team[key])
        for key, column in (("x", across), ("y", up))
    )
    words = ngettext("%(n)d team run.", "%(n)d team runs.", len(teams)) % {"n": len(teams)}
    best = _("The best run by %(across)s is from %(first)s. The best run by %(up)s is from %(second)s.") % {
        "across": across.short,
        "first": first["name"],
        "up": up.short,
        "second": second["name"],
    }
    return f"{words} {best}"


def by_part(board: BoardTable) -> Figure | None:
    """Show a metric on parts of the items, such as the groups of SSA 2023: a row for each run, a point for each part.

    If there are several such metrics, show the first one.
    """
    columns = [column for column in board.columns if _part(column) and not _part(column).isdecimal()]  # without cutoffs
    bases = [column.key.split(":")[0] for column in columns]
    base = next((base for base in bases if bases.count(base) > 1), None)
    if base is None:
        return None
    parts = [column for column in columns if column.key.split(":")[0] == base]
    data = [
        {"name": row.label, "part": _part(column), "value": row.scores.get(column.key)}
        for row in board.rows
        if row.kind != Run.Kind.GOLD
        for column in parts
    ]
    if not data:
        return None
    title = whole_title(base)
    return Figure(
        name=f"{base}-by-part".replace("_", "-"),
        title=_("%(metric)s by group") % {"metric": title},
        caption="",
        alt=_("The table below lists the values of each run for each group."),
        fields=(Field("name", _("Run")), Field("part", _("Group")), Field("value", title, parts[0].decimals)),
        data=data,
        drawing=_dumbbells(title, _("Group")),
    )


def _part(column: Column) -> str:
    """Return the class, column or group that a metric is limited to, or an empty string."""
    name, _colon, part = column.key.partition(":")
    return "" if name == "combine" or "@" in part else part


def by_slices(found: SliceScores, column: Column) -> Figure:
    """Show scores in each slice of the items, with a row for each run and a point for each slice."""
    labels = [label for label, _items in found.items]
    data = [point for name, _whole, values in found.rows for point in _points(name, labels, values)]
    items = ", ".join(f"{label} {items:,}" for label, items in found.items)
    title = capfirst(found.title)
    return Figure(
        name=f"by-{found.name}".replace("_", "-").lower(),
        title=_("%(metric)s by %(column)s") % {"metric": column.title, "column": found.title},
        caption=_("Each slice is scored as if its items were the whole gold standard (%(items)s).") % {"items": items},
        alt=" ".join(_best_in(label, data, column) for label in labels),
        fields=(Field("name", _("Run")), Field("part", title), Field("value", column.short, column.decimals)),
        data=data,
        drawing=_dumbbells(column.short, title),
    )


def labels_by_slices(found: LabelShares) -> Figure:
    """Show the share of each label in each slice, with a row for each label, as in Figures 1 and 2 of HatEval 2019."""
    labels = [label for label, _items in found.items]
    data: list[Datum] = [
        {"name": name, "part": part, "value": share.value, "answers": share.answers}
        for name, shares in found.rows
        for part, share in zip(labels, shares, strict=True)
    ]
    title = capfirst(found.title)
    return Figure(
        name=f"labels-by-{found.name}".replace("_", "-").lower(),
        title=_("Gold standard labels by %(column)s") % {"column": found.title},
        caption=", ".join(f"{label}: {items:,}" for label, items in found.items),
        alt=_("The table below lists all shares."),
        fields=(
            Field("name", _("Label")),
            Field("part", title),
            *([Field("answers", _("Answers"), 0)] if found.are_of_some else []),
            Field("value", _("Share"), 4),
        ),
        data=data,
        drawing=_dumbbells(_("Share"), title),
    )


def _points(name: str, parts: list[str], values: list[float | None]) -> list[Datum]:
    return [{"name": name, "part": part, "value": value} for part, value in zip(parts, values, strict=True)]


def _best_in(part: str, data: list[Datum], column: Column) -> str:
    defined = [point for point in data if point["part"] == part and point["value"] is not None]
    if not defined:
        return _("No run has a score for %(part)s.") % {"part": part}
    best = (max if column.higher_is_better else min)(defined, key=lambda point: point["value"])
    names = {"part": part, "name": best["name"], "value": score(best["value"], column.decimals)}
    return _("The best run for %(part)s is %(name)s with %(value)s.") % names


def _dumbbells(across: str, parts: str) -> Spec:
    """Draw a row for each `name`: a point at the `value` of each `part`, and a line from the lowest to the highest."""
    ends = {"x": {"field": "value", "aggregate": "min"}, "x2": {"field": "value", "aggregate": "max"}}
    return {
        "width": WIDTH,
        "height": {"step": 28},
        "encoding": {"y": nominal("name", sort=None), "x": quantitative("value", f"{across} →", scale={"zero": False})},
        "layer": [
            layer("rule", ends, style="baseline-rule"),
            layer("point", {"shape": nominal("part", parts)}, style="team"),
        ],
    }


def time_axis(days: int) -> Spec:
    """Return an axis of this many days with about a dozen ticks at most."""
    ticks: Spec = {"interval": "month", "step": 1 + days // 365}
    if days <= 90:
        ticks = {"interval": "week", "step": 1} if days > 24 else {"interval": "day", "step": 2}
    return {"format": "%-d %b", "labelOverlap": True, "tickCount": ticks}


def over_time(board: BoardTable) -> Figure | None:
    """Show the ranking score of every run over time, and the best so far. Return None if there are fewer than two
    runs."""
    column = board.ranking_column
    runs = [row for row in board.teams if row.scores.get(column.key) is not None]
    if len(runs) < 2:
        return None
    runs.sort(key=lambda row: row.received_at)
    values = [row.scores[column.key] or 0.0 for row in runs]
    best = accumulate(values, max if column.higher_is_better else min)
    data: list[Datum] = [
        {"name": row.team, "at": row.received_at.isoformat(), "value": value, "best": so_far}
        for row, value, so_far in zip(runs, values, best, strict=True)
    ]
    return Figure(
        name="over-time",
        title=_("%(metric)s over time") % {"metric": column.title},
        caption=_(
            "Each point is a run, plotted at the time it was received. The line shows the best score so far. Times are "
            "in UTC."
        ),
        alt=_("Between %(first)s and %(last)s, the best score rose to %(best)s.")
        % {"first": data[0]["at"][:10], "last": data[-1]["at"][:10], "best": score(data[-1]["best"], column.decimals)},
        fields=(
            Field("at", _("Received")),
            Field("name", _("Run")),
            Field("value", column.short, column.decimals),
            Field("best", _("Best so far"), column.decimals),
        ),
        data=data,
        drawing=_steps(column, (runs[-1].received_at - runs[0].received_at).days),
    )


def _steps(column: Column, days: int) -> Spec:
    """Draw a point at each `value`, and the line of the `best` score so far. `days` is the length of the time axis."""
    scale = {"zero": False}
    tooltip = [{"field": "name"}, {"field": "value", "format": f".{column.decimals}f"}]
    time = {"field": "at", "type": "temporal", "scale": {"type": "utc"}, "title": None, "axis": time_axis(days)}
    return {
        "width": WIDTH,
        "height": 260,
        "encoding": {"x": time},
        "layer": [
            layer("line", {"y": quantitative("best", f"↑ {column.short}", scale=scale)}, interpolate="step-after"),
            layer("point", {"y": quantitative("value", scale=scale), "tooltip": tooltip}, style="team", size=40),
        ],
    }
