"""Figures about classes, from `scoring.analysis.details`: confusion, scores by class, and curves."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.text import slugify
from django.utils.translation import gettext as _

from portal.figures.figure import Field, Figure
from portal.figures.frame import HEIGHT, NUMBER
from portal.figures.layers import Spec, layer, nominal, quantitative
from portal.times_and_numbers import score

CURVES = 15  # maximum number of runs whose curves are drawn
_CELL = 58  # pixels
_ROOM = 600  # width in pixels of all cells together, on a page
_DASHES = [[1, 0], [8, 3], [2, 2], [12, 3, 2, 3], [5, 5], [1, 4]]  # distinguishable without color
_SHADES = {"domain": [0, 1], "interpolate": "rgb"}
_CHANCE = [{"x": 0, "y": 0}, {"x": 1, "y": 1}]


def run_figures(details: Mapping[str, Any]) -> list[Figure]:
    """Return the figures about one run: a confusion matrix for each scored column, and ROC curves."""
    several = len(details.get("classes", ())) > 1
    found = [
        confusion(column["confusion"], what=column["column"] if several else "")
        for column in details.get("classes", ())
        if column["confusion"]
    ]
    given = details.get("probabilities")
    pooled = roc_of_runs({_("This run"): given}) if given else None
    return [*found, *(curves for curves in (roc(details.get("curves", ())), pooled) if curves)]


def class_figures(runs: Mapping[str, Mapping[str, Any]]) -> list[Figure]:
    """Return the figures about several runs: F1 by class, or by column if there are several columns, and ROC curves.

    `runs` maps names to details, best runs first.
    """
    lines = {name: positive_lines(details.get("classes", ())) for name, details in runs.items()}
    given = {name: details["probabilities"] for name, details in runs.items() if "probabilities" in details}
    curves = roc_of_runs(dict(list(given.items())[:CURVES]))
    return [*([by_class(lines)] if lines and all(lines.values()) else []), *([curves] if curves else [])]


def positive_lines(found: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the lines for the classes of a single column.

    For several columns, return each one's line for the value 1.
    """
    if len(found) == 1:
        return list(found[0]["lines"])
    return [line | {"name": column["column"]} for column in found for line in column["lines"] if line["name"] == "1"]


def heat(rows: Sequence[str], columns: Sequence[str], *, shown: str, shade: str, across: str, down: str) -> Spec:
    """Return a heatmap. Cells contain the field `shown` and are shaded by the field `shade`, from 0 to 1."""
    longest = max((len(name) for name in columns), default=0)
    room = _ROOM // max(len(columns), 1)
    wanted = max(_CELL, min(7 * longest + 12, 130))  # width that the names need
    angle = -35 if wanted > room or longest > 16 else 0
    return {
        "width": {"step": max(min(wanted, room), NUMBER)},
        "height": {"step": _CELL - 10},
        "encoding": {
            "x": nominal("column", across, sort=list(columns), axis={"orient": "top", "labelAngle": angle}),
            "y": nominal("row", down, sort=list(rows)),
        },
        "layer": [
            layer("rect", {"color": quantitative(shade, scale=_SHADES, legend=None)}),
            layer("text", {"text": {"field": shown}}),
        ],
    }


def confusion(found: Mapping[str, Any], what: str = "") -> Figure:
    """Show how often the gold has one class (row) and the run another (column), shaded by the share of the row."""
    classes = found["classes"]
    data = []
    for row, counts in zip(classes, found["counts"], strict=True):
        for column, count in zip(classes, counts, strict=True):
            share = count / sum(counts) if sum(counts) else 0.0
            data.append({"row": row, "column": column, "count": count, "share": share, "words": f"{count:,}"})
    drawing = heat(classes, classes, shown="words", shade="share", across=_("run →"), down=_("gold"))
    percent = layer("text", {"text": {"field": "share", "format": ".0%"}}, style="small", dy=10)
    rect, text = drawing["layer"]
    text["mark"]["dy"] = -7
    right = sum(cell["count"] for cell in data if cell["row"] == cell["column"])
    return Figure(
        name=slugify(f"confusion {what}"),
        title=_("Confusion matrix for %(what)s") % {"what": what} if what else _("Confusion matrix"),
        caption=_(
            "Number of items by gold label (rows) and predicted label (columns). Shading and percentages are relative "
            "to each row."
        ),
        alt=_("The run assigns the gold label to %(right)d of %(all)d items.")
        % {"right": right, "all": sum(cell["count"] for cell in data)},
        fields=(
            Field("row", _("Gold")),
            Field("column", _("Run")),
            Field("count", _("Items")),
            Field("share", _("Share"), 4),
        ),
        data=data,
        drawing=drawing | {"layer": [rect, text, percent]},
    )


def by_class(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure:
    """Show the F1 of every run (row) for every class (column). `runs` maps a run's name to a line for each class."""
    classes = [line["name"] for line in next(iter(runs.values()))]
    data = [
        {
            "row": run,
            "column": line["name"],
            "f1": line["f1"],
            "shade": line["f1"] or 0.0,
            "words": score(line["f1"], 2),
        }
        for run, lines in runs.items()
        for line in lines
    ]
    return Figure(
        name="by-class",
        title=_("F1 by class"),
        caption=_(
            "Rows are runs and columns are classes. A dash means that the class occurs neither in the gold standard "
            "nor in the run."
        ),
        alt=_("The table below lists all values."),
        fields=(Field("row", _("Run")), Field("column", _("Class")), Field("f1", "F1", 4)),
        data=data,
        drawing=heat(list(runs), classes, shown="words", shade="shade", across=_("class"), down=""),
    )


def roc(found: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Show the ROC curve of each class that has one, with the diagonal for chance level."""
    points = [
        {"name": curve["name"], "x": x, "y": y, "order": order}
        for curve in found
        for order, (x, y) in enumerate(curve["roc"] or ())
    ]
    if not points:
        return None
    return Figure(
        name="roc",
        title=_("ROC curves"),
        caption=_(
            "The higher a curve lies above the dashed chance line, the better. An item is positive if its gold value "
            "is greater than 0.5. To protect the gold standard, curves have at most ten segments."
        ),
        alt=_("Curves: %(names)s.") % {"names": ", ".join(dict.fromkeys(point["name"] for point in points))},
        fields=(
            Field("name", _("Class")),
            Field("x", _("False positive rate"), 4),
            Field("y", _("True positive rate"), 4),
        ),
        data=points,
        drawing=_curves({"strokeDash": nominal("name", _("Class"), scale={"range": _DASHES})}),
    )


def roc_of_runs(found: Mapping[str, Mapping[str, Any]]) -> Figure | None:
    """Show the ROC curve of each run with probabilities, with its area in the legend, as in Figure 2 of SSA 2023."""
    points = [
        {"name": f"{score(curve['auc'], 3)} {run}", "run": run, "auc": curve["auc"], "x": x, "y": y, "order": order}
        for run, curve in found.items()
        for order, (x, y) in enumerate(curve["roc"])
    ]
    if not points:
        return None
    legend = {"orient": "bottom", "columns": 1, "labelLimit": 260, "symbolSize": 500, "symbolType": "stroke"}
    look = {"legend": legend, "sort": None}
    best = max(found, key=lambda run: float(found[run]["auc"]))
    return Figure(
        name="roc-of-runs",
        title=_("ROC curves"),
        caption=_(
            "The curves are computed from the probabilities in the runs, pooled over all columns. The numbers are "
            "the areas under the whole curves (AUC). The dashed line shows chance level. To protect the "
            "gold standard, curves have at most ten segments."
        ),
        alt=_("The largest area is %(auc)s, for %(run)s.") % {"auc": score(found[best]["auc"], 3), "run": best},
        fields=(
            Field("run", _("Run")),
            Field("auc", "AUC", 4),
            Field("x", _("False positive rate"), 4),
            Field("y", _("True positive rate"), 4),
        ),
        data=points,
        drawing=_curves(
            {
                "color": nominal("name", _("AUC and run"), **look),
                "strokeDash": nominal("name", _("AUC and run"), scale={"range": _DASHES}, **look),
            }
        ),
    )


def _curves(look: Mapping[str, Any]) -> Spec:
    """Draw a line for each `name`, and the diagonal for chance level. `look` distinguishes the lines."""
    return {
        "width": HEIGHT,
        "height": HEIGHT,
        "layer": [
            {"data": {"values": _CHANCE}}
            | layer("line", {"x": quantitative("x"), "y": quantitative("y")}, style="chance"),
            layer(
                "line",
                {
                    "x": quantitative("x", _("False positive rate →")),
                    "y": quantitative("y", _("↑ True positive rate")),
                    "order": {"field": "order"},
                    "detail": {"field": "name"},
                    **look,
                },
            ),
        ],
    }
