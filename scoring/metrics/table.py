"""Generate docs/metrics.md: `python -m scoring.metrics.table > docs/metrics.md`."""

from collections.abc import Mapping
from math import isfinite

from scoring.metrics.metric import AnyNumber, Metric, Part, SomeColumns
from scoring.metrics.registry import METRICS, formats_of

INTRODUCTION = """# Metrics

This page lists every metric that you can use under `metrics:` in task.yaml: its formula and options, when it is
undefined, an example calculated by hand, the program that the tests compare it with, and its sources. The page is
generated from the code. To add a metric of your own, see [scoring.md](scoring.md).

To use a metric several times with different options, give each column a name of its own with `as`, such as
`{name: wer, case: lc, as: wer-lowercase}` ([task.yaml](task-yaml.md#tracks)).

## Conventions

In formulas, g or G is the gold answer and a or A the run's answer. For a class, *predicted* is the number of items that
have it in the run, *actual* is the number of items that have it in the gold, and *hits* is the number of items that
have it in both. In `accuracy:TR`, the suffix `:TR` limits the metric to one column or class, in this case TR.

- **Items.** The gold standard determines which items are scored. Answers to other items are ignored. PyEvALL 0.2.11
  counts such answers in FMeasure, so a run without errors on the gold items can score less than 1. To score runs as
  PyEvALL does, set `items_outside_gold: count` for the track.
- **Undefined values.** If a metric cannot be computed, Agon shows it as undefined, not as a number. Examples are recall
  for a class that is not in the gold, Matthews correlation if the gold has only one class, and Pearson's correlation
  with a constant. If your campaign's official scorer returns a value in such cases, declare it, as in
  `{name: "pearson:joy", undefined: 0}`. With `undefined: exact`, it is 1 if the run's answers equal the gold and 0
  otherwise. The declared value also counts in combined scores and in samples for intervals. A metric remains undefined
  for a gold standard or slice without items.
- **Repeated ids.** Agon always rejects runs with repeated ids. The HatEval scorer, for example, would give a perfect
  score to a run that consists of only two correctly answered items, repeated until there are as many rows as in the
  gold.
- **Classes.** Macro averages cover the classes in the gold, as in PyEvALL. By default, scikit-learn covers the classes
  in the gold or the run, as `over: seen` does. Weighted averages cover the classes in the gold. A class that is never
  predicted has a precision of 0, as with scikit-learn's `zero_division=0`. If the gold lacks a class, its recall and F1
  are undefined, while scikit-learn returns its `zero_division`. Cohen's kappa is undefined if gold and run have the
  same single class, while PyEvALL 0.2.11 returns 0.
- **Numbers.** In errors and correlations, an item without an answer counts as 0. Quadratic kappa uses the distances
  between values, while scikit-learn uses their positions in the list of values.
- **Probabilities.** In `c_at_1`, `f_05_u`, `brier_complement` and `calibration_error`, an item without an answer counts
  as 0.5, as in PAN's evaluator. `f_beta_decided` leaves it out. In `roc_auc` and `average_precision`, it counts as 0.5
  if all numbers of the run in the column are from 0 to 1. Otherwise, and for soft labels, it comes last.
- **ICM.** Agon treats a class that does not occur in the gold as if it occurred in one item, so P = 1/N. PyEvALL does
  the same, while the DETESTS scorer returns no number.
- **ICM-Soft.** By default, Agon computes P(weight ≥ w) from a normal distribution with the gold's mean and mean
  absolute deviation. I(c, 0) = 0. A probability that is too small for a float64 counts as 1/N, which gives log2 N bits.
  If a class has the same weight in all gold items, weights up to this value have 0 bits, and larger ones have log2 N
  bits. The gold itself is not the best possible answer, and values are not capped, so a run can score higher than the
  gold, and its ICM-Soft-Norm can exceed 1.
- **Cross entropy.** As in PyEvALL, a label that is missing from a run adds nothing to the cross entropy, so a run could
  improve its score by omitting labels. For this reason, runs must contain all labels. Runs with missing labels are
  scored only with `--lenient`.
- **Soft labels.** The LeWiDi 2025 scorer rounds values during the calculation, so its results can differ from Agon's in
  the last decimals. For the Wasserstein distance, that scorer places the classes at 0, 1, 2 and so on. If the classes
  are consecutive numbers, both give the same distance. For the cross entropy of earlier LeWiDi editions, use
  `soft_cross_entropy` with `added: 1e-9`.
- **Annotators.** An item's mean covers only the annotators who labeled it. Predictions for other annotators do
  not count. For the `range` of `annotator_distance`, the LeWiDi 2025 scorer uses the number of values, such as 11 for
  −5 to 5. If you use the greatest distance instead (10 in this example), scores can reach 1.
- **Tuples.** An item's tuples form a set, so identical tuples count once. Partial credit is not the sentiment graph F1
  of SemEval-2022 task 10, which weights each matched tuple by the overlap of its spans. F1 and recall are undefined if
  the gold has no tuples, while sklearn returns its `zero_division`. Macro averages cover the values in the gold.
- **Spans.** Spans count as written in the file: adjacent pairs or rows are separate spans, while adjacent offsets form
  a single span. Character-level metrics are not affected.
- **Entities.** F1 and recall for a type that is not in the gold are undefined, while seqeval and nervaluate return 0.
  Macro averages cover the types in the gold. With `over: seen`, they cover the types in the gold or run, as in seqeval.
  If entities overlap, each one is matched once, in the order of the run, as in nervaluate 1.2.1. In its strict and
  exact modes, nervaluate also marks a gold entity as used after an inexact overlap. The results differ only if entities
  on the same side overlap. In this case, Agon counts every exact match.
- **Entities by IoU.** In ERASER, a gold entity can match several run entities. In Agon, it can match only one, so
  recall never exceeds 1. Both methods give the same result if `at_least` is above 0.5 and entities don't overlap.
- **Surface forms of entities.** A form is correct if the gold and the run have at least one entity with this form in
  common, as in the WNUT 2017 scorer. A form that the run finds only in other places is not correct. When Agon resamples
  items, the weight of a form is divided equally among the items that contain it.
- **Entities by coverage.** SemEval-2020 task 11 sums over all pairs of entities. In Agon, a character counts only once,
  even if several entities on the other side cover it. Both methods give the same result if entities of the same type
  don't overlap.
- **Texts.** sacrebleu computes BLEU, chrF and TER on a scale from 0 to 100. The leaderboard columns for these metrics
  show sacrebleu's signature, but without the number of references in the gold (`nrefs`). All other text metrics range
  from 0 to 1 or, if they count edits, from 0 upward. ROUGE stems words only with `stem: porter`. If there are several
  references, WER and CER use the closest one, while jiwer supports only a single reference. If a reference has no
  words, all words of the output count as errors. If no reference has any words, WER is undefined, while jiwer 4 returns
  the number of words of the outputs. The same applies to CER and characters. Any white space separates words, including
  no-break spaces, while jiwer 4 splits texts only at spaces.
- **Rankings.** With `queries: all`, metrics are averaged over all gold queries, as in `trec_eval -c`. With
  `queries: judged`, queries without a relevant document are excluded. With `queries: run`, queries for which the run
  has no documents are excluded, as in trec_eval without `-c`. Documents in lists of ids keep the order of the file.
  Documents in TREC files are ranked by score, and those with the same score by name in descending order, as in
  trec_eval.
"""

COMBINED = """## `combine`: Combined scores

You can combine several metrics into a score, such as
`{combine: overall, of: ["f1_macro:HS", "f1_macro:AG"], by: mean, missing: zero}`. The score has its own column, and you
can rank by it. Either higher must be better for all metrics, or lower must be better for all of them. The range of the
score follows from the ranges of its metrics. For all keys, see [task.yaml](task-yaml.md#tracks).

- Formulas, where s_k are the metrics and w_k their weights, which default to 1: mean: Σ_k w_k s_k / Σ_k w_k; harmonic
  mean: Σ_k w_k / Σ_k (w_k / s_k), 0 if a metric is 0; product: Π_k s_k; minimum: min_k s_k; maximum: max_k s_k; gap:
  max_k s_k − min_k s_k, where lower is better, undefined if fewer than two metrics are defined
- Undefined metrics count as 0 (`missing: zero`) or are skipped (`missing: skip`, the default with `slices` and `gap`);
  if all metrics are skipped, the score is undefined
- A score can combine other combined scores that are listed under the track's `metrics`, as in
  `{combine: final, of: ["combine:overall", accuracy], by: product}`. You can limit a combined score to a slice, as in
  `combine:overall@language=es`, unless it uses slices itself. To compute it on every slice, use
  `{combine: languages, of: ["combine:overall"], slices: language}`. If a slice has no items or a run lacks the slice's
  file, the combined score is undefined there, even with `missing: zero`.
- Resampling: fast if it is fast for all metrics
- Example: for the metrics 0.75 and 0.5, the mean is 0.625, and with the weights 3 and 1, it is (3 · 0.75 + 1 · 0.5) / 4
  = 0.6875; harmonic mean 2 / (1/0.75 + 1/0.5) = 0.6; product 0.375; minimum 0.5; maximum 0.75; gap 0.25
- Sources: those of the metrics

## Slices: metrics for subsets of items

A track's `slices` divide its items by a column of the gold file or of a public table. You can compute any metric on a
single slice, or combine its values on all slices of a column:

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

- Agon scores each slice as if it were the entire gold. Averages exclude classes that do not occur in the slice, and
  ICM's information content is computed within the slice. If a slice has no items, the metric is undefined.
- Answers to items outside the gold do not count in any slice.
- `@right=HS` selects the items for which a run has the correct value for the column or class HS. These items differ
  between runs.
- Resampling is fast if it is fast for the metric. With `@right`, each item's contribution must also be independent of
  the other items.
- Example: gold 1: `yes`, 2: `yes`, 3: `no`, 4: `no`; run 1: `yes`, 2: `no`, 3: `no`, 4: `no`; slices 1: `en`, 2: `en`,
  3: `en`, 4: `es`. Accuracy is 0.75, `accuracy@language=en` is 2/3, and `accuracy@language=es` is 1. Over the
  languages, the mean is 5/6, the minimum 2/3 and the gap 1/3.
- Example: gold 1: `HS 1, TR 1`, 2: `HS 1, TR 0`, 3: `HS 0, TR 0`; run 1: `HS 1, TR 1`, 2: `HS 1, TR 1`, 3:
  `HS 1, TR 0`. `accuracy:TR@right=HS` is 1/2, because HS is correct in items 1 and 2, and TR is correct in only the
  first of them.

### Gaps between slices

The results analysis compares slices for each run. It uses the ranking metric, provided that this metric can be computed
from contributions of individual items. If a task has many slices, some of them differ greatly just by chance.
Therefore, the confidence intervals for all pairs of slices, over all columns that define slices, hold simultaneously at
95%. For a run without any gaps, the probability that any interval excludes 0 is at most 5%.

- The gap between two slices is reported with the interval ± c · √(e₁² + e₂²). For each slice, e is the standard error
  of its score over 10,000 samples of its items. If samples of the same sizes from the entire gold give a larger
  standard error for the gap, that one is used instead.
- c is the 95% quantile of the largest |gap| / √(e₁² + e₂²) over all pairs, assuming that there are no gaps. This is
  the single-step max-T procedure: Hothorn, Bretz and Westfall (2008), Simultaneous inference in general parametric
  models, Biometrical Journal 50.
- In simulations with 1,000 items, a slice with an accuracy of 0.75 instead of 0.85 is found in 98% of cases with two
  slices of equal size, in 82% with four and in 35% with ten. With four slices, an uncorrected test of only this slice
  against all other items finds it in 94% of cases.
- Slices with fewer than 10 items are excluded. The analysis reports one gap for each slice except the best: among its
  gaps to all slices with better scores, the one whose interval has the highest lower bound.
- The metrics for unintended bias of Borkan et al. (2019) are also available: `roc_auc@group=a` is the Subgroup AUC, and
  `bpsn_auc@group=a` and `bnsp_auc@group=a` compare a slice with all other items.
"""


def as_markdown() -> str:
    """Return the page with a section per metric, in the order of the registry."""
    return "\n".join([INTRODUCTION, *(_section(metric) for metric in METRICS.values()), COMBINED])


def _section(metric: Metric) -> str:
    facts = ["Higher is better" if metric.higher_is_better else "Lower is better", f"Range: {_range(metric)}"]
    facts.append(f"Formats: {', '.join(formats_of(metric.kinds))}")
    if metric.part is not Part.NONE:
        facts.append(metric.part.value)
    lines = [f"## `{metric.name}`: {metric.title}", "", f"{'. '.join(facts)}.", "", f"- Formula: {metric.formula}"]
    lines += [f"- Option `{name}`: {_allowed(values)}" for name, values in metric.options.items()] or [
        "- Options: none"
    ]
    lines.append(f"- Undefined: {metric.undefined or 'only if the gold has no items to score'}")
    if metric.contributions is not None:
        lines.append("- Resampling: fast, because the score is computed from contributions of individual items")
    if metric.example:
        example = metric.example
        sides = f"gold {_answers(example.gold)}; run {_answers(example.run)}"
        key = (example.part or "") + (f"@{'='.join(example.where)}" if example.where else "")
        sides += f"; slices {_answers(example.slices)}" if example.slices else ""
        score = f"With `:{key}`, the score" if key else "The score"
        lines.append(f"- Example: {sides}. {score} is {example.value:.4g}. Calculation: {example.why}")
    lines.append(f"- Compared with: {metric.compared_with}")
    lines.append(f"- Conventions: see {' and '.join(f'*{topic}*' for topic in metric.conventions)} above")
    return "\n".join([*lines, f"- Sources: {metric.source}", ""])


def _range(metric: Metric) -> str:
    if metric.low is None and metric.high is None:
        return "any number"
    if metric.high is None:
        return f"{metric.low:g} or more"
    return f"{metric.low:g} to {metric.high:g}" if metric.low is not None else f"up to {metric.high:g}"


def _allowed(values: tuple[str, ...] | AnyNumber | SomeColumns) -> str:
    if isinstance(values, SomeColumns):
        return ("columns joined by +" if values.several else "a column") + (", required" if values.required else "")
    if not isinstance(values, AnyNumber):
        return ", ".join(values[:-1]) + f" or {values[-1]}"
    return (
        f"a number from {values.low:g} to {values.high:g}"
        if isfinite(values.high)
        else f"a number, {values.low:g} or greater"
    )


def _answers(side: Mapping[str, str]) -> str:
    return ", ".join(f"{item}: `{answer}`" if answer else f"{item}: nothing" for item, answer in side.items())


if __name__ == "__main__":
    print(as_markdown(), end="")  # noqa: T201
