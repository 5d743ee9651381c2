"""Run seqeval and nervaluate in their environment: read a JSON list of evaluations and print a list of their values.

An evaluation has the tags of each sentence as `gold` and `run`, a `scheme` (IOB2 or IOBES), and optionally the `types`.
Values have Agon's metric names; those of seqeval's strict mode begin with `discard `. nervaluate receives the entities
that seqeval reads. If the `words` of each sentence are given, there are also scores for surface forms. Like the scorer
of WNUT 2017, these count distinct pairs of words and type, on each side and among the entities that both sides have.
If there is no `scheme`, gold and run contain the entities of each item, and only nervaluate's partial matching and
matching by type are computed.
"""

import json
import sys
import warnings

from nervaluate.evaluator import Evaluator
from seqeval import metrics
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB2, IOBES

warnings.simplefilter("ignore")
MATCHES = {"strict": "", "exact": "_exact", "partial": "_partial", "ent_type": "_type"}
MEASURES = {"precision": metrics.precision_score, "recall": metrics.recall_score, "f1": metrics.f1_score}


def entities(tags):
    return [{"label": name, "start": first, "end": last} for name, first, last in get_entities(tags)]


def forms(given):
    sides = [
        {(row, *one) for row, tags in enumerate(given[side]) for one in get_entities(tags)} for side in ("gold", "run")
    ]
    both, gold, run = (
        {(name, tuple(given["words"][row][first : last + 1])) for row, name, first, last in side}
        for side in (sides[0] & sides[1], *sides)
    )
    values = {"precision": len(both) / len(run) if run else 0, "recall": len(both) / len(gold) if gold else 0}
    total = sum(values.values())
    values["f1"] = 2 * values["precision"] * values["recall"] / total if total else 0
    return {f"wnut entity_{name}_surface": value for name, value in values.items()}


def of_spans(gold, run, matches, types):
    found = Evaluator(gold, run, tags=types, loader="dict").evaluate()
    values = {}
    for match, ending in matches.items():
        for name in MEASURES:
            values[f"nervaluate entity_{name}{ending}"] = getattr(found["overall"][match], name)
            for kind, own in found["entities"].items():
                values[f"nervaluate entity_{name}{ending}:{kind}"] = getattr(own[match], name)
    return values


def evaluate(given):
    if "scheme" not in given:
        inexact = {match: MATCHES[match] for match in ("partial", "ent_type")}
        return of_spans(given["gold"], given["run"], inexact, ["PER", "LOC", "ORG"])
    sides, values, types = (given["gold"], given["run"]), {}, given.get("types", ["PER", "LOC", "ORG"])
    strict = {"mode": "strict", "scheme": {"IOB2": IOB2, "IOBES": IOBES}[given["scheme"]]}
    for prefix, options in (("", {}), ("discard ", strict)):
        report = metrics.classification_report(*sides, output_dict=True, zero_division=0, **options)
        for name, measure in MEASURES.items():
            values[f"{prefix}entity_{name}"] = measure(*sides, average="micro", zero_division=0, **options)
            values[f"{prefix}entity_{name}_macro"] = measure(*sides, average="macro", zero_division=0, **options)
            key = "f1-score" if name == "f1" else name
            for kind in types:
                values[f"{prefix}entity_{name}:{kind}"] = report[kind][key] if kind in report else None
    values |= of_spans(*([entities(tags) for tags in side] for side in sides), MATCHES, types)
    if "words" in given:
        values |= forms(given)
    return {name: value if value is None else float(value) for name, value in values.items()}


json.dump([evaluate(given) for given in json.load(sys.stdin)], sys.stdout)
