"""Figures about all runs on a board: how certain ranks are, how hard items are, how similar runs and metrics are."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from portal.figures.classes import class_figures, heat
from portal.figures.figure import Datum, Field, Figure, run_datum
from portal.figures.frame import WIDTH, Axis, axis
from portal.figures.layers import Spec, layer, nominal, quantitative
from portal.figures.scores import by_slices, labels_by_slices, score_figures
from portal.queries.boards.columns import Column
from portal.queries.boards.insights import Insights
from portal.queries.boards.table import BoardTable, Row
from portal.times_and_numbers import score

_NAMES = nominal("name", sort=None)


def field_figures(insights: Insights) -> list[Figure]:
    """Return all figures that apply to the track, in reading order."""
    field = insights.field
    found = [
        intervals(insights.board),
        rank_ranges(insights.ranks, insights.board.ranks_note),
        *score_figures(insights.board, insights.every_run),
        *(by_slices(slices, insights.board.ranking_column) for slices in insights.slices),
        *class_figures(insights.details),
        correlations(insights.correlations),
        disagreement(field.get("disagreement", {})),
        difficulty(field.get("difficulty", ())),
        *(labels(field["labels"]) if "labels" in field else ()),
        *map(labels_by_slices, insights.label_shares),
    ]
    return [figure for figure in found if figure is not None]


def intervals(board: BoardTable) -> Figure | None:
    """Show each run's score with its interval, and its rank with its own. Return None if there are no intervals.

    Boards without bounds of ranks show tie groups instead.
    """
    column = board.ranking_column
    data = [
        run_datum(
            row,
            value=row.scores[column.key],
            low=row.interval[0],
            high=row.interval[1],
            group=row.group,
            rank=_rank(row),
        )
        for row in board.rows
        if row.interval is not None
    ]
    if not data:
        return None
    frame = axis(_bounds(data, of_teams=True) or [0.0, 1.0], _bounds(data, of_teams=False), WIDTH)
    shown = [datum for datum in data if frame.holds(datum["low"]) and frame.holds(datum["high"])]
    outside = ", ".join(datum["name"] for datum in data if datum not in shown)
    caption = _("Scores with 95% intervals.")
    caption += " " + (
        board.ranks_note or _("Runs with the same letter form a tie group and do not differ significantly.")
    )
    beyond = _("Outside the plot: %(names)s.") % {"names": outside}
    return Figure(
        name="intervals",
        title=_("%(metric)s with intervals") % {"metric": column.title},
        caption=f"{caption} {beyond}" if outside else caption,
        alt=_("The table below lists all bounds."),
        fields=(
            Field("name", _("Run")),
            Field("value", column.short, column.decimals),
            Field("low", _("From"), column.decimals),
            Field("high", _("To"), column.decimals),
            Field("rank", _("Rank")) if board.has_bounds else Field("group", _("Tie group")),
        ),
        data=data,
        drawing=_whiskers(
            [datum["name"] for datum in shown], f"{column.short} →", frame, "rank" if board.has_bounds else "group"
        ),
    )


def _rank(row: Row) -> str:
    """Return a row's rank with its bounds, such as `2 (1–4)`. Empty if it has none."""
    return f"{row.rank} ({row.bounds.text})" if row.bounds else ""


def _bounds(data: Sequence[Datum], *, of_teams: bool) -> list[float]:
    chosen = [datum for datum in data if (datum["kind"] == "team") == of_teams]
    return [datum[bound] for datum in chosen for bound in ("low", "high")]


def _whiskers(names: list[str], title: str, frame: Axis, text: str) -> Spec:
    """Return a drawing with one row per run: its interval and score and, next to them, the field `text`."""

    def x(field: str) -> Spec:
        return quantitative(field, title, scale={"domain": [frame.low, frame.high]})

    interval = {"x": x("low"), "x2": {"field": "high"}}
    group = {"x": x("high"), "text": {"field": text}}
    return {
        "width": WIDTH,
        "height": {"step": 26},
        "transform": [{"filter": {"field": "name", "oneOf": names}}],
        "encoding": {"y": _NAMES},
        "layer": [
            layer("rule", interval, only="datum.kind == 'team'"),
            layer("rule", interval, only="datum.kind == 'baseline'", style="baseline-rule"),
            layer("point", {"x": x("value")}, only="datum.kind == 'team'", style="team", size=60),
            layer("point", {"x": x("value")}, only="datum.kind == 'baseline'", style="baseline", size=60),
            layer("text", group, style="team-name", align="left", dx=8),
        ],
    }


def rank_ranges(found: Mapping[str, tuple[int, int]], note: str) -> Figure | None:
    """Show the bounds of each run's rank, which `note` explains, or the range of its ranks in the bootstrap samples."""
    if len(found) < 2:
        return None
    data: list[Datum] = [{"name": name, "best": best, "worst": worst} for name, (best, worst) in found.items()]
    x = quantitative("best", _("Rank →"), scale={"domain": [1, len(data)]}, axis={"tickMinStep": 1})
    return Figure(
        name="rank-stability",
        title=_("Confidence intervals of ranks") if note else _("Rank stability"),
        caption=note
        or _(
            "Range of each run’s ranks in 95% of the bootstrap samples of items. A point means that the rank never "
            "changes."
        ),
        alt=_("The table below lists each run’s best and worst rank."),
        fields=(Field("name", _("Run")), Field("best", _("Best rank"), 0), Field("worst", _("Worst rank"), 0)),
        data=data,
        drawing={
            "width": WIDTH,
            "height": {"step": 26},
            "encoding": {"y": _NAMES},
            "layer": [
                layer("rule", {"x": x, "x2": {"field": "worst"}}, strokeWidth=6, strokeCap="round"),
                layer("point", {"x": x}, style="team", size=40),
            ],
        },
    )


def correlations(found: Sequence[tuple[Column, Sequence[float | None]]]) -> Figure | None:
    """Show how similarly different metrics rank the runs, as Spearman correlations."""
    heads = [column.short for column, _values in found]
    values = {column.short: row for column, row in found}
    if len(heads) < 3 or all(value is None for row in values.values() for value in row):
        return None
    return _square(
        "metric-correlations",
        _("Rank correlation between metrics"),
        _("Spearman correlation over the official runs. A dash means that a metric has the same value for all runs."),
        {name: dict(zip(heads, row, strict=True)) for name, row in values.items()},
    )


def disagreement(found: Mapping[str, Mapping[str, float | None]]) -> Figure | None:
    """Show, for each pair of runs, the share of items that they answer differently."""
    if len(found) < 2:
        return None
    return _square(
        "disagreement",
        _("Disagreement between runs"),
        _("Share of gold standard items that the two runs answer differently."),
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
            "words": score(value, 2),
        }
        for row, cells in values.items()
        for column, value in cells.items()
    ]
    return Figure(
        name=name,
        title=title,
        caption=caption,
        alt=_("The table below lists all values."),
        fields=(Field("row", _("Row")), Field("column", _("Column")), Field("value", _("Value"), 4)),
        data=data,
        drawing=heat(names, names, shown="words", shade="shade", across="", down=""),
    )


def difficulty(counts: Sequence[int]) -> Figure | None:
    """Show how many items 0, 1, …, or all of the runs answered correctly."""
    if len(counts) < 3 or not sum(counts):
        return None
    data: list[Datum] = [{"runs": runs, "items": items} for runs, items in enumerate(counts)]
    return Figure(
        name="difficulty",
        title=_("Items by number of runs with the correct answer"),
        caption=_("Includes all compared runs, but no baselines."),
        alt=_("Items answered correctly by no run: %(none)d. By all runs: %(all)d.")
        % {"none": counts[0], "all": counts[-1]},
        fields=(Field("runs", _("Runs with the correct answer"), 0), Field("items", _("Items"), 0)),
        data=data,
        drawing={
            "width": WIDTH,
            "height": 220,
            "mark": {"type": "bar"},
            "encoding": {
                "x": nominal("runs", _("runs with the correct answer →"), type="ordinal", axis={"labelAngle": 0}),
                "y": quantitative("items", _("↑ items")),
            },
        },
    )


def labels(found: Mapping[str, Any]) -> list[Figure]:
    """Show how often each label occurs in the gold, and how often two occur together.

    `answers` of `found` has the number of items with an answer for each label, if some answers are missing.
    """
    labelled = found["items"] - next(iter(found.get("sizes", ())), 0)
    answers = found.get("answers") or [found["items"]] * len(found["classes"])
    data: list[Datum] = [
        {
            "name": name,
            "count": count,
            "answers": given,
            "share": count / given if given else None,
            "labelled": count / labelled if labelled else 0.0,
        }
        for name, count, given in zip(found["classes"], found["counts"], answers, strict=True)
    ]
    caption = _("%(items)s items.")
    columns = [Field("name", _("Label")), Field("count", _("Items"), 0), Field("share", _("Share"), 4)]
    if "answers" in found:
        caption = _("%(items)s items. Shares are of the items that have a gold answer.")
        columns.insert(2, Field("answers", _("Answers"), 0))
    elif labelled < found["items"]:
        columns.append(Field("labelled", _("Share of items with a label"), 4))
    bars = Figure(
        name="labels",
        title=_("Gold standard labels"),
        caption=caption % {"items": f"{found['items']:,}"},
        alt=", ".join(f"{bar['name']} {bar['count']:g}" for bar in data),
        fields=tuple(columns),
        data=data,
        drawing={
            "width": WIDTH,
            "height": {"step": 26},
            "encoding": {"y": _NAMES, "x": quantitative("count", _("items →"))},
            "layer": [
                layer("bar"),
                layer(
                    "text",
                    {"text": quantitative("share", format=".1%")},
                    only="isValid(datum.share)",
                    align="left",
                    dx=6,
                ),
            ],
        },
    )
    more = (_labels_of_items(found.get("sizes", ())), _cooccurrence(found))
    return [bars, *(figure for figure in more if figure is not None)]


def _labels_of_items(counts: Sequence[int]) -> Figure | None:
    """Show how many items have 0, 1, … labels, if any item has several."""
    if len(counts) < 3:
        return None
    data: list[Datum] = [{"labels": size, "items": count} for size, count in enumerate(counts)]
    return Figure(
        name="labels-of-items",
        title=_("Labels per item"),
        caption=_("Gold standard labels, without those that have child labels in the hierarchy."),
        alt=", ".join(f"{bar['labels']}: {bar['items']:,}" for bar in data),
        fields=(Field("labels", _("Labels"), 0), Field("items", _("Items"), 0)),
        data=data,
        drawing={
            "width": WIDTH,
            "height": 220,
            "encoding": {
                "x": nominal("labels", _("labels →"), type="ordinal", axis={"labelAngle": 0}),
                "y": quantitative("items", _("↑ items")),
            },
            "layer": [layer("bar"), layer("text", {"text": quantitative("items", format=",")}, dy=-8)],
        },
    )


def _cooccurrence(found: Mapping[str, Any]) -> Figure | None:
    """Show the co-occurrence of labels if items can have several labels."""
    classes, together = found["classes"], found["together"]
    if not any(count for row, line in enumerate(together) for column, count in enumerate(line) if row != column):
        return None
    data: list[Datum] = [
        {
            "row": label,
            "column": other,
            "count": count,
            "share": count / line[row] if line[row] else 0.0,
            "words": f"{count:,.0f}",
        }
        for row, (label, line) in enumerate(zip(classes, together, strict=True))
        for other, count in zip(classes, line, strict=True)
    ]
    return Figure(
        name="co-occurrence",
        title=_("Label co-occurrence"),
        caption=_("Number of items that have both labels. Shading is relative to each row."),
        alt=_("The table below lists all counts."),
        fields=(Field("row", _("Label")), Field("column", _("Together with")), Field("count", _("Items"), 0)),
        data=data,
        drawing=heat(classes, classes, shown="words", shade="share", across="", down=""),
    )
