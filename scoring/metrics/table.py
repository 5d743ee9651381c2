"""Generate docs/metrics.md: `python -m scoring.metrics.table > docs/metrics.md`."""

from collections.abc import Mapping
from math import isfinite

from scoring.metrics.metric import AnyNumber, Metric, Part
from scoring.metrics.registry import METRICS, formats_of

INTRODUCTION = """# Metrics

Every metric that can be used under `metrics:` in task.yaml, with its formula, an example calculated by hand, and its
source. The page is generated from the code. [scoring.md](scoring.md) explains how a package adds a metric.

## Conventions

- The gold defines the items: answers to other items are left out. The FMeasure of PyEvALL 0.2.11 counts such answers,
  so that a run without errors on the gold items gets less than 1. A track with `items_outside_gold: count` does the
  same.
- A value without a meaning is undefined. It is shown as undefined and never as a number. Examples are recall of a class
  that the gold lacks, kappa with a single gold class, and correlation with a constant.
- ICM: a class that never occurs in the gold counts as if one item had it, P = 1/N. PyEvALL does the same, while the
  DETESTS scorer returns no number.
- ICM-Soft: the rarity of a weight is computed from a normal distribution with the gold's mean and mean absolute
  deviation. I(c, 0) = 0. A tail too small for a float64 counts as log2 N. A class with the same weight in the whole
  gold counts as 0 up to that weight and as log2 N beyond. The gold itself is not the best possible answer, and values
  are not capped: a run may score higher than the gold, and its ICM-Soft-Norm may exceed 1.
- Cross entropy: a label that a run leaves out adds nothing, as in PyEvALL, so leaving labels out would improve the
  score. Therefore runs must contain all labels. Only `--lenient` scores a run with missing labels.
- Spans count as listed in the file: pairs and rows that touch are separate spans, and neighboring offsets are one span.
  Character metrics do not depend on this.
- Entities: F1 and recall of a type that the gold lacks are undefined, while seqeval and nervaluate return 0. Macro
  averages are over the types in the gold or, with `over: seen`, over the types on both sides, as in seqeval. If several
  entities overlap, each is matched once, in the order of the run, as in nervaluate 1.2.1. In its strict and exact
  matching, nervaluate also counts a gold entity as used after an inexact overlap. This matters only if the entities of
  one side overlap each other. In that case, every exact match counts here.
- Entities by IoU: in ERASER, a gold entity can match several run entities. Here it matches once, so that recall is at
  most 1. With `at_least` above 0.5 and entities that do not overlap, both are the same.
- Surface forms of entities: a form is correct if gold and run have the same entity, as in the WNUT 2017 scorer. A form
  that the run finds only in other places is not correct. In samples of items, a form keeps its weight: it contributes
  an equal part to each item that contains it.
- Entities by coverage: SemEval-2020 task 11 adds up all pairs of entities. Here, characters that are marked by several
  entities of the other side count once. Both are the same if the entities of one type do not overlap.
- Texts: BLEU, chrF and TER are computed by sacrebleu, from 0 to 100, and their columns show its signature. `nrefs`,
  which is not part of the signature, is the number of references in the gold. All other text metrics are from 0 to 1.
  ROUGE uses no stemmer. WER and CER use the closest of several references, while jiwer supports only one. jiwer fails
  on a reference without words, which here only adds errors.
- Rankings: `queries: all` averages over all gold queries, as `trec_eval -c` does. `judged` leaves out queries without a
  relevant document. `run` leaves out queries for which the run has no documents, as trec_eval does without `-c`. In
  lists of ids, documents are in the order of the file. In TREC files, they are ordered by score, and equal scores by
  name.
- Repeated ids are always rejected. The HatEval scorer, for example, would rate a run as perfect that repeats two ids as
  often as the gold has items.
"""

COMBINED = """## `combine`: Scores built from others

The range is the range of the parts. Either higher must be better for all parts, or lower must be better for all parts.
`{combine: overall, of: ["f1_macro:HS", "f1_macro:AG"], by: mean, missing: zero}` is a column like any other and can be
used for ranking. [task.yaml](task-yaml.md#tracks) lists its keys.

- mean: Σ_k w_k s_k / Σ_k w_k; harmonic mean: Σ_k w_k / Σ_k (w_k / s_k), 0 if a part is 0; product: Π_k s_k; minimum:
  min_k s_k; maximum: max_k s_k; gap: max_k s_k − min_k s_k, where lower is better, undefined with fewer than two
  defined parts; weights w_k are 1 by default
- an undefined part counts as 0 (`missing: zero`) or is skipped (`missing: skip`, the default with `slices` and `gap`);
  if all parts are skipped, the score is undefined
- has contributions by item if all parts have, so that samples of items are scored fast
- parts 0.75 and 0.5: mean 0.625, with weights 3 and 1 (3 · 0.75 + 1 · 0.5) / 4 = 0.6875; harmonic mean 2 / (1/0.75 +
  1/0.5) = 0.6; product 0.375; minimum 0.5; maximum 0.75; gap 0.25
- the sources of its parts

## Slices: metrics on a part of the items

A track's `slices` split its items by a column of the gold or of a public table. Any metric can be computed on one
slice, and scores can be built from all slices of a column:

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

- a slice is scored as if its items were the whole gold: classes that it lacks are not averaged, and the information
  content in ICM is computed within the slice; undefined if the slice has no items
- answers to items outside the gold count in no slice
- `@right=HS`: the items for which a run has the correct value in the column or class HS, which differ between runs
- has contributions by item if the metric has; with `@right`, if each item's contribution does not depend on other items
- gold 1: `yes`, 2: `yes`, 3: `no`, 4: `no`; run 1: `yes`, 2: `no`, 3: `no`, 4: `no`; slices 1: `en`, 2: `en`, 3: `en`,
  4: `es`: accuracy 0.75, `accuracy@language=en` 2/3, `accuracy@language=es` 1; mean over the languages 5/6, worst 2/3,
  gap 1/3
- gold 1: `HS 1, TR 1`, 2: `HS 1, TR 0`, 3: `HS 0, TR 0`; run 1: `HS 1, TR 1`, 2: `HS 1, TR 1`, 3: `HS 1, TR 0`:
  `accuracy:TR@right=HS` 1/2, as HS is correct in items 1 and 2, and TR in the first of them

### Gaps between slices

The results analysis compares the slices of each run by the ranking metric, if that metric has contributions by item.
With many slices, some pair differs strongly by chance alone. Therefore the intervals of all pairs, over all columns
that split the items, hold simultaneously at 95 %: for a run without any gap, an interval excludes 0 in at most 5 % of
cases.

- the gap between two slices is given ± c · √(e₁² + e₂²), where e is the standard error of a slice's score on 10,000
  samples of its items, and at least the error of the same number of items from the whole gold
- c is the 95 % quantile of the largest |gap| / √(e₁² + e₂²) of all pairs if there are no gaps: single-step max-T,
  Hothorn, Bretz and Westfall (2008), Simultaneous inference in general parametric models, Biometrical Journal 50
- slices with fewer than 10 items are left out; a slice is compared with the better slice for which the lower end of the
  interval is highest
- unintended bias, Borkan et al. (2019): Subgroup AUC is `roc_auc@group=a`; `bpsn_auc@group=a` and `bnsp_auc@group=a`
  compare a slice with all other items
"""


def as_markdown() -> str:
    """Return the page with a section per metric, in the order of the registry."""
    return "\n".join([INTRODUCTION, *(_section(metric) for metric in METRICS.values()), COMBINED])


def _section(metric: Metric) -> str:
    facts = ["higher is better" if metric.higher_is_better else "lower is better", _range(metric)]
    facts.append(f"supports {', '.join(formats_of(metric.kinds))}")
    if metric.part is not Part.NONE:
        facts.append(f"part after the colon: {metric.part.value}")
    lines = [f"## `{metric.name}`: {metric.title}", "", f"{_capital('; '.join(facts))}.", "", f"- {metric.formula}"]
    lines += [f"- option `{name}`: {_allowed(values)}" for name, values in metric.options.items()]
    if metric.contributions is not None:
        lines.append("- has contributions by item, so that samples of items are scored fast")
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
    if not isinstance(values, AnyNumber):
        return " or ".join(values)
    return f"a number from {values.low:g}" + (f" to {values.high:g}" if isfinite(values.high) else "")


def _answers(side: Mapping[str, str]) -> str:
    return ", ".join(f"{item}: `{answer}`" if answer else f"{item}: nothing" for item, answer in side.items())


if __name__ == "__main__":
    print(as_markdown(), end="")  # noqa: T201
