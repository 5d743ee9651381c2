"""A track's metrics as columns, and how to sort by them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Decimal

from portal.models import Track
from scoring.definition import MetricSpec
from scoring.metrics import MetricInfo, decimals, describe


@dataclass(frozen=True, slots=True)
class Column(MetricInfo):
    """A metric as a column: the key of its scores, its short and long names, and how to read it."""

    decimals: int


@dataclass(frozen=True, slots=True)
class Score:
    """A value in a column, or None if the metric is undefined."""

    column: Column
    value: float | None
    ranks: bool  # whether this is the ranking metric


@dataclass(frozen=True, slots=True)
class Order:
    """A sort key that orders scores by one metric. Undefined scores come last."""

    key: str
    descending: bool

    def __call__(self, scores: Mapping[str, float | None]) -> tuple[bool, float]:
        value = scores.get(self.key)
        if value is None:
            return True, 0.0
        return False, -value if self.descending else value


def columns(track: Track, split: str | None = None) -> list[Column]:
    """Return the track's metrics in the order of its definition. If `split` is given, only those of the split."""
    definition = track.definition if split is None else track.definition_in(split)
    return [
        Column(**asdict(describe(spec, definition.slices)), decimals=decimals(spec, definition.decimals))
        for spec in definition.metrics
    ]


def whole_title(name: str) -> str:
    """Return a metric's title without its part (such as a class).

    `name` is its key without the part, as in `f1_macro`.
    """
    return describe(MetricSpec(name)).title


def ranking_column(track: Track) -> Column:
    """Return the track's ranking metric."""
    rank_by = track.definition.rank_by
    return next(column for column in columns(track) if column.key == rank_by)


def stepped_column(track: Track, step: float) -> Column:
    """Return the only column on a ladder, rounded like its step. Other metrics would reveal more."""
    _sign, _digits, exponent = Decimal(repr(step)).as_tuple()
    return replace(ranking_column(track), decimals=max(0, -int(exponent)))


def shown_score(track: Track, key: float, step: float) -> Score:
    """Return the score that is shown for a run on a ladder."""
    return Score(stepped_column(track, step), track.score_of(key), ranks=True)


def scores(track: Track, split: str, values: Mapping[str, float | None]) -> list[Score]:
    """Return an evaluation's values in the columns of its split."""
    rank_by = track.definition.rank_by
    return [Score(column, values.get(column.key), column.key == rank_by) for column in columns(track, split)]
