"""Run ir_measures in its environment: read a JSON list of evaluations and print the values of each query.

An evaluation has `qrels` and `run`, which map queries to documents. Values have Agon's metric keys, followed by a space
and the options.
"""

import json
import sys

import ir_measures
from ir_measures import AP, ERR, RBP, RR, Bpref, P, R, Rprec, Success, nDCG

EXPONENTIAL = {grade: 2**grade - 1 for grade in range(1, 5)}
MEASURES = {
    "ndcg": nDCG,
    "ndcg:5": nDCG @ 5,
    "ndcg gain=exponential": nDCG(gains=EXPONENTIAL),
    "ndcg:10 gain=exponential": nDCG(gains=EXPONENTIAL) @ 10,
    "map": AP,
    "map:5 relevant=2": AP(rel=2) @ 5,
    "mrr": RR,
    "mrr relevant=2": RR(rel=2),
    "precision_at:5": P @ 5,
    "recall_at:5": R @ 5,
    "success_at:1": Success @ 1,
    "success_at:5 relevant=2": Success(rel=2) @ 5,
    "r_precision": Rprec,
    "r_precision relevant=2": Rprec(rel=2),
    "bpref": Bpref,
    "bpref relevant=2": Bpref(rel=2),
    "rbp": RBP(rel=1, p=0.8),
    "rbp relevant=2 persistence=0.5": RBP(rel=2, p=0.5),
    "err:10": ERR @ 10,
}


def evaluate(given):
    found = {key: dict.fromkeys(given["qrels"], 0.0) for key in MEASURES}
    for key, measure in MEASURES.items():
        for metric in ir_measures.iter_calc([measure], given["qrels"], given["run"]):
            found[key][metric.query_id] = metric.value
    pairs = {query: (found["precision_at:5"][query], found["recall_at:5"][query]) for query in given["qrels"]}
    found["f1_at:5"] = {query: 2 * p * r / (p + r) if p + r else 0.0 for query, (p, r) in pairs.items()}
    return found


json.dump([evaluate(given) for given in json.load(sys.stdin)], sys.stdout)
