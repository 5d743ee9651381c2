"""docs/metrics.md, made from the registry: `python -m scoring.metrics.table > docs/metrics.md`."""

from collections.abc import Mapping

from scoring.metrics.metric import AnyNumber, Metric, Part
from scoring.metrics.registry import METRICS, formats_of

INTRODUCTION = """# Metrics

Every metric that `metrics:` of a task.yaml may name, with its formula, an example worked out by hand and its source.
The page is made of the code itself; [scoring.md](scoring.md) says how a package adds another.

## Conventions

- The gold sets the items: what a run says of others is left out. PyEvALL 0.2.11 counts it in its FMeasure, so that a
  run without a mistake on the gold's items gets less than 1; a track with `items_outside_gold: count` does the same.
- A value that has no meaning is undefined, shown as such and never a number: recall of a class that the gold lacks,
  kappa of a gold of one class, a correlation with a constant.
- ICM: a class that the gold never has counts as if one item had it, P = 1/N. The scorer of DETESTS gives no number
  there; PyEvALL does as here.
- ICM-Soft: how rare a weight is comes from a normal distribution with the gold's mean and mean absolute deviation.
  I(c, 0) = 0; a tail too small for a float64 counts log2 N; a class with one weight throughout the gold counts 0 up to
  that weight and log2 N beyond. The gold itself is not the best possible answer, and nothing is capped: a run may get
  more than the gold, and its ICM-Soft-Norm more than 1.
- Cross entropy: a label that a run leaves out adds nothing, as in PyEvALL, so that leaving out would pay. A check
  therefore demands all labels; only `--lenient` scores a run without.
- Spans count as a file lists them: pairs and rows that touch are separate spans, neighboring offsets are one. Metrics
  on characters see no difference.
- Entities: F1 and recall of a type that the gold lacks are undefined, where seqeval and nervaluate say 0. Macro
  averages are over the types in the gold, with `over: seen` over those of both sides, as in seqeval. Where several
  entities overlap, each is matched once, in the order of the run, as in nervaluate 1.2.1.
- Ids that stand twice are refused, whatever a metric would make of them: the scorer of HatEval takes two ids,
  repeated as often as the gold has items, for perfect.
"""

COMBINED = """## `combine`: Scores built from others

The range is that of the parts; all parts of a score are better when greater, or all better when less.
`{combine: overall, of: ["f1_macro:HS", "f1_macro:AG"], by: mean, missing: zero}` is a column like any other and may
rank; [task.yaml](task-yaml.md#tracks) lists its keys.

- mean: Σ_k w_k s_k / Σ_k w_k; harmonic mean: Σ_k w_k / Σ_k (w_k / s_k), 0 where a part is 0; product: Π_k s_k; minimum:
  min_k s_k; weights w_k are 1 unless given
- an undefined part counts 0 (`missing: zero`) or is skipped (`missing: skip`); with all parts skipped, the score is
  undefined
- has contributions by item where all of its parts have, so that samples of items are judged fast
- parts 0.75 and 0.5: mean 0.625, with weights 3 and 1 (3 · 0.75 + 1 · 0.5) / 4 = 0.6875; harmonic mean
  2 / (1/0.75 + 1/0.5) = 0.6; product 0.375; minimum 0.5
- the sources of its parts
"""


def as_markdown() -> str:
    """The page, a section per metric in the order of the registry."""
    return "\n".join([INTRODUCTION, *(_section(metric) for metric in METRICS.values()), COMBINED])


def _section(metric: Metric) -> str:
    facts = ["greater is better" if metric.higher_is_better else "less is better", _range(metric)]
    facts.append(f"judges {', '.join(formats_of(metric.kinds))}")
    if metric.part is not Part.NONE:
        facts.append(f"after a colon: {metric.part.value}")
    lines = [f"## `{metric.name}`: {metric.title}", "", f"{_capital('; '.join(facts))}.", "", f"- {metric.formula}"]
    lines += [f"- option `{name}`: {_allowed(values)}" for name, values in metric.options.items()]
    if metric.contributions is not None:
        lines.append("- has contributions by item, so that samples of items are judged fast")
    if metric.example:
        example = metric.example
        sides = f"gold {_answers(example.gold)}; run {_answers(example.run)}"
        part = f" for `{example.part}`" if example.part else ""
        lines.append(f"- {sides}: {example.value:.4g}{part}, as {example.why}")
    return "\n".join([*lines, f"- {metric.source}", ""])


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _range(metric: Metric) -> str:
    if metric.low is None and metric.high is None:
        return "any number"
    if metric.high is None:
        return f"from {metric.low:g}"
    return f"from {metric.low:g} to {metric.high:g}" if metric.low is not None else f"up to {metric.high:g}"


def _allowed(values: tuple[str, ...] | AnyNumber) -> str:
    return f"a number from {values.low:g}" if isinstance(values, AnyNumber) else " or ".join(values)


def _answers(side: Mapping[str, str]) -> str:
    return ", ".join(f"{item}: `{answer}`" if answer else f"{item}: nothing" for item, answer in side.items())


if __name__ == "__main__":
    print(as_markdown(), end="")  # noqa: T201
