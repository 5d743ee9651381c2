"""The first steps of all estimates: check the arguments, and select and prepare the runs that have a value."""

from collections.abc import Mapping

from scoring.definition import MetricSpec
from scoring.metrics import compute
from scoring.metrics.comparison import Comparison
from scoring.significance.resampling import RunField, field_of

ROUNDS = 10_000


def require_valid(rounds: int, name: str = "level", share: float = 0.95) -> None:
    """Raise ValueError unless `rounds` is at least 1 and `share`, which messages call `name`, is between 0 and 1."""
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, not {rounds}")
    if not 0 < share < 1:
        example = "0.95" if name == "level" else "0.05"
        raise ValueError(f"{name} must be between 0 and 1, such as {example}, not {share:g}")


def defined_values(runs: Mapping[str, Comparison], spec: MetricSpec) -> dict[str, float]:
    """Return the defined values by run name."""
    values = {name: compute(run, spec) for name, run in runs.items()}
    return {name: value for name, value in values.items() if value is not None}


def field_of_runs(runs: Mapping[str, Comparison], values: Mapping[str, float], spec: MetricSpec) -> RunField:
    """Prepare the runs that have a value for sampling."""
    chosen = [runs[name] for name in values]
    if any(run.gold is not chosen[0].gold for run in chosen):
        raise ValueError("the runs are compared with different gold standards")
    return field_of(chosen, spec)
