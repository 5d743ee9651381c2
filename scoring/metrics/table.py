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
  entities overlap, each is matched once, in the order of the run, as in nervaluate 1.2.1. That package also lets an
  inexact overlap use up a gold entity in its strict and exact matching. This only matters if the entities of one side
  overlap each other; then every exact match counts here.
- Entities by IoU: ERASER lets a gold entity match several of the run's; here it matches once, so that recall is at
  most 1. With `at_least` above 0.5 and entities that do not overlap both are the same.
- Surface forms of entities: a form is right where gold and run have the same entity, as in the scorer of WNUT 2017. A
  form that the run finds only in other places is not. In samples of items a form keeps its weight: it adds an equal
  part in each item that has it.
- Entities by coverage: SemEval-2020 task 11 adds up all pairs of entities; here characters that several entities of
  the other side mark count once. Both are the same if the entities of one type do not overlap.
- Texts: BLEU, chrF and TER are sacrebleu's, from 0 to 100, and their columns show its signature; `nrefs`, which is
  not in it, is the number of references in the gold. All other metrics of texts are from 0 to 1. ROUGE has no stemmer,
  and WER and CER take the closest of several references, where jiwer has one. A reference without words makes jiwer
  fail; here it only adds errors.
- Repeated ids are rejected, whatever a metric would do with them: the scorer of HatEval takes two ids,
  repeated as often as the gold has items, for perfect.
"""

COMBINED = """## `combine`: Scores built from others

The range is that of the parts; all parts of a score are better when greater, or all better when less.
`{combine: overall, of: ["f1_macro:HS", "f1_macro:AG"], by: mean, missing: zero}` is a column like any other and may
rank; [task.yaml](task-yaml.md#tracks) lists its keys.

- mean: Σ_k w_k s_k / Σ_k w_k; harmonic mean: Σ_k w_k / Σ_k (w_k / s_k), 0 where a part is 0; product: Π_k s_k; minimum:
  min_k s_k; maximum: max_k s_k; gap: max_k s_k − min_k s_k, less is better, undefined with fewer than two defined
  parts; weights w_k are 1 unless given
- an undefined part counts 0 (`missing: zero`) or is skipped (`missing: skip`, the default with `slices` and `gap`);
  with all parts skipped, the score is undefined
- has contributions by item where all of its parts have, so that samples of items are judged fast
- parts 0.75 and 0.5: mean 0.625, with weights 3 and 1 (3 · 0.75 + 1 · 0.5) / 4 = 0.6875; harmonic mean
  2 / (1/0.75 + 1/0.5) = 0.6; product 0.375; minimum 0.5; maximum 0.75; gap 0.25
- the sources of its parts

## Slices: metrics on some of the items

A track's `slices` split its items by a column of the gold or of a public table. Any metric can be about one slice, and
scores can be built from all slices of a column:

```yaml
slices: {language: {column: lang, items: data/tweets.tsv}, target: target}
metrics:
  - f1_macro
  - "f1_macro@language=es"
  - {combine: languages, of: [f1_macro], slices: language, by: mean}
  - {combine: worst-target, of: [f1_macro], slices: target, by: minimum}
  - {combine: gap, of: [f1_macro], slices: target, by: gap}
  - "accuracy:TR@right=HS"
```

- a slice is judged as if its items were the whole gold: classes that it lacks are not averaged, and the information of
  ICM is that within the slice; undefined where the slice has no items
- what a run says of items outside the gold counts in no slice
- `@right=HS`: the items for which a run has the column or class HS as the gold has it; other items for each run
- has contributions by item where the metric has; with `@right`, where items add to it what they would add by themselves
- gold 1: `yes`, 2: `yes`, 3: `no`, 4: `no`; run 1: `yes`, 2: `no`, 3: `no`, 4: `no`; slices 1: `en`, 2: `en`, 3: `en`,
  4: `es`: accuracy 0.75, `accuracy@language=en` 2/3, `accuracy@language=es` 1; mean over the languages 5/6, worst 2/3,
  gap 1/3
- gold 1: `HS 1, TR 1`, 2: `HS 1, TR 0`, 3: `HS 0, TR 0`; run 1: `HS 1, TR 1`, 2: `HS 1, TR 1`, 3: `HS 1, TR 0`:
  `accuracy:TR@right=HS` 1/2, as HS is right in items 1 and 2, and TR in the first of them

### Gaps between slices

The results analysis compares the slices of each run by the metric that ranks, where that has contributions by item.
Of many slices some pair differs much by chance alone. So the intervals of all pairs, over all columns that split the
items, hold together at 95 %: a run without any gap has an interval that excludes 0 in at most 5 % of cases.

- the gap of two slices ± c · √(e₁² + e₂²); e is the standard error of a slice's score on 10,000 samples of its items,
  and no less than as many items of the whole gold would give
- c is the 95 % quantile of the largest of all pairs' |gap| / √(e₁² + e₂²) without gaps: single-step max-T, Hothorn,
  Bretz and Westfall (2008), Simultaneous inference in general parametric models, Biometrical Journal 50
- slices of fewer than 10 items are left out; a slice is shown behind that better slice for which the lower end of the
  interval is highest
- unintended bias, Borkan et al. (2019): Subgroup AUC is `roc_auc@group=a`; `bpsn_auc@group=a` and `bnsp_auc@group=a`
  compare a slice with all other items
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
        key = (example.part or "") + (f"@{'='.join(example.where)}" if example.where else "")
        sides += f"; slices {_answers(example.slices)}" if example.slices else ""
        part = f" for `{key}`" if key else ""
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
