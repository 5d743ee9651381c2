"""A figure about the official runs of all tracks."""

from django.utils.translation import gettext as _

from portal.figures.figure import Datum, Field, Figure, run_datum
from portal.figures.frame import WIDTH
from portal.figures.layers import Spec, layer, nominal, quantitative
from portal.queries.boards.columns import Column
from portal.queries.boards.overall import OverallBoard
from portal.times_and_numbers import score


def tracks_figures(board: OverallBoard) -> list[Figure]:
    """Return the figure that the definition asks for, if the tracks show the same columns."""
    key, found = board.phase.shared_task.definition.all_runs_figure, board.all_runs
    column = next(
        (candidate for candidate in board.boards[0].columns if candidate.key == key), None
    )  # a ladder shows only candidate column
    mean = found.mean(column.key) if found and column else None
    if found is None or column is None or mean is None:
        return []
    data = [
        run_datum(row, track=track.title, value=value)
        for row, track in found.rows
        if (value := row.scores.get(column.key)) is not None
    ]
    return [_bars(data, column, mean)]


def _bars(data: list[Datum], column: Column, mean: float) -> Figure:
    """Show a bar for each run and track, and the mean of all bars, as in Figure 3 of SSA 2023."""
    ends = {"mean": score(mean, column.decimals), "metric": column.title}
    return Figure(
        name="by-track",  # not the metric's key, which can have characters that addresses cannot
        title=_("%(metric)s by run and track") % ends,
        caption=_("Official runs and baselines. The dashed line is the mean of all bars, %(mean)s.") % ends,
        alt=_("The table below lists all values."),
        fields=(Field("name", _("Run")), Field("track", _("Track")), Field("value", column.short, column.decimals)),
        data=data,
        drawing=_drawing(column, mean),
    )


def _drawing(column: Column, mean: float) -> Spec:
    value = quantitative("value", f"{column.short} →")
    legend = {"orient": "bottom", "columns": 1, "labelLimit": 230}
    return {
        "width": WIDTH,
        "height": {"step": 14},
        "layer": [
            layer(
                "bar",
                {
                    "y": nominal("name", sort=None),
                    "yOffset": {"field": "track", "sort": None},
                    "x": value,
                    "color": nominal("track", sort=None, legend=legend),
                },
            ),
            {"data": {"values": [{"value": mean}]}} | layer("rule", {"x": value}, style="mean"),
        ],
    }
