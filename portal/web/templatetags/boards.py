"""A leaderboard's scores and intervals: one line per row on a common scale, as inline SVG."""

from collections.abc import Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from portal.queries.boards.columns import Column
from portal.queries.boards.overall import Combined
from portal.queries.boards.table import CombinedRow, Row
from portal.queries.boards.whiskers import Scale
from portal.times_and_numbers import score
from portal.web.board_address import Head

register = template.Library()

_DISC = mark_safe('<circle cx="{}%" r="4.2" class="disc"/>')
_DIAMOND = mark_safe('<svg x="{}%" overflow="visible"><path d="M0-5 5 0 0 5-5 0z" class="diamond"/></svg>')


@register.filter
def cells(row: Row, heads: Sequence[Head]) -> list[tuple[str, str, str]]:
    """Return a row's formatted scores, one for each heading.

    A leaderboard has hundreds of scores, and formatting them in a template would be slow.
    """
    return [
        (
            "ranks" if head.ranks else "other",
            head.column.short,
            score(row.scores.get(head.column.key), head.column.decimals),
        )
        for head in heads
    ]


@register.simple_tag
def whisker(row: Row, scale: Scale, column: Column) -> SafeString:
    """Draw a row's value with its interval. If all of it is outside the scale, show an arrow with text instead."""
    value = row.scores.get(column.key)
    return mark_safe("") if value is None else _drawn(row, value, scale, _words(row, column))


@register.simple_tag
def mean_whisker(row: CombinedRow, scale: Scale, ranking: Combined) -> SafeString:
    """Draw a team's mean score with its interval."""
    return _drawn(row, row.value, scale, ranking.bounds(row) or score(row.value, ranking.decimals))


def _drawn(row: Row | CombinedRow, value: float, scale: Scale, words: str) -> SafeString:
    low, high = row.interval or (value, value)
    if high < scale.low or low > scale.high:
        outside = (
            format_html("‹ {}", _("outside the scale"))
            if high < scale.low
            else format_html("{} ›", _("outside the scale"))
        )
        side = "below" if high < scale.low else "above"
        return format_html('<span class="off {}">{}</span>', side, outside)
    mark = format_html(_DISC if row.is_team else _DIAMOND, scale.place(value))
    return format_html(
        '<svg class="whisker" role="img" aria-label="{}">{}<g class="marks">{}{}</g></svg>',
        words,
        _grid(scale),
        _line(low, high, scale) if row.interval else "",
        mark,
    )


@register.simple_tag
def rank_bar(row: Row | CombinedRow, last: int) -> SafeString:
    """Print the bounds of a row's rank and draw them on a scale from rank 1 to rank `last`."""
    if row.bounds is None or row.rank is None:
        return mark_safe("")
    start, end, place = (
        round(100 * (rank - 1) / max(last - 1, 1), 2) for rank in (row.bounds.low, row.bounds.high, row.rank)
    )
    return format_html(
        '<span class="bounds">({})</span><svg class="rank-bar" aria-hidden="true">'
        '<line x1="0%" x2="100%" y1="50%" y2="50%" class="grid"/><line x1="{}%" x2="{}%" y1="50%" y2="50%"/>'
        '<circle cx="{}%" cy="50%" r="3"/></svg>',
        row.bounds.text,
        start,
        end,
        place,
    )


@register.simple_tag
def whisker_head(scale: Scale) -> SafeString:
    """Draw the ticks of the scale."""
    labels = format_html_join(
        "",
        '<text x="{}%" y="11" text-anchor="middle">{}</text>',
        ((scale.place(tick), score(tick, scale.decimals)) for tick in scale.ticks),
    )
    return format_html('<svg class="ticks" aria-hidden="true">{}</svg>', labels)


def _grid(scale: Scale) -> SafeString:
    lines = ((scale.place(tick),) * 2 for tick in scale.ticks)
    return format_html_join("", '<line x1="{}%" x2="{}%" y1="0" y2="100%" class="grid"/>', lines)


def _line(low: float, high: float, scale: Scale) -> SafeString:
    start, end = scale.place(max(low, scale.low)), scale.place(min(high, scale.high))
    line = format_html('<line x1="{}%" x2="{}%"/>', start, end)
    caps = format_html_join(
        "",
        '<svg x="{}%" overflow="visible"><path d="M0-4V4"/></svg>',
        ((place,) for place, bound in ((start, low), (end, high)) if scale.holds(bound)),
    )
    return line + caps


def _words(row: Row, column: Column) -> str:
    if row.interval is None:
        return score(row.scores.get(column.key), column.decimals)
    low, high = (score(bound, column.decimals) for bound in row.interval)
    return _("%(low)s to %(high)s") % {"low": low, "high": high}
