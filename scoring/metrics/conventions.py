"""What docs/metrics.md says about each metric's conventions, beyond its formula and options.

The patterns are those of `fnmatch`, and the first that matches a metric's name applies.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TypeVar

Found = TypeVar("Found")

ALWAYS_DEFINED = "only if the gold has no items to score"
_BY_HAND = "values calculated by hand"

# When a metric is undefined, apart from a gold without items to score.
UNDEFINED: Mapping[str, str] = {
    "system_precision": "if the run answers no items",
    "kappa": "if the gold and the run both have the same class for all items",
    "mcc": "if the gold has the same class for all items",
    "precision": "only with `unpredicted: skip`, if the run lacks the class",
    "precision_micro": "only with `unpredicted: skip`, if the run has no labels",
    "precision_positive": "if the run answers no gold items or, with `unpredicted: skip`, never predicts 1",
    "recall": "if the gold lacks the class",
    "f1": "if the gold lacks the class",
    "*_positive": "if no gold value is 1, or the run answers no gold items",
    "*_macro_all": "if the run answers no gold items",
    "f1_macro_mean": ALWAYS_DEFINED,
    "f1_positive_mean": "only with `empty: skip`, if neither side has a 1 in any column",
    "entity_*_macro": "if the gold has no entities",
    "entity_precision*": ALWAYS_DEFINED,
    "entity_*": "if the gold has no entities, or none of the given type",
    "tuple_*_items": ALWAYS_DEFINED,
    "tuple_exact_match": ALWAYS_DEFINED,
    "tuple_precision": ALWAYS_DEFINED,
    "tuple_precision_partial": ALWAYS_DEFINED,
    "tuple_*": "if the gold has no tuples",
    "precision_at": "with `queries: judged` or `queries: run`, if every query is excluded",
    "recall_at": "with `queries: judged` or `queries: run`, if every query is excluded",
    "mae_macro": ALWAYS_DEFINED,
    "precision_macro": "if the gold has no labels or, with `unpredicted: skip`, if no class has a value",
    "*_macro": "if the gold has no labels",
    "*_weighted": "if the gold has no labels",
    "*_micro": "if the gold has no labels",
    "icm*_norm": "if all items have the same gold answer",
    "jensen_shannon*": "if the gold has no weights",
    "kullback_leibler": "if the gold has no weights",
    "wasserstein": "if the gold has no weights",
    "pearson": "if the gold or the run has the same number for all items",
    "spearman": "if the gold or the run has the same number for all items",
    "kendall": "if the gold or the run has the same number for all items",
    "kappa_quadratic": "if the gold and the run both have the same number for all items",
    "f_05_u": "if no item is undecided and no item is positive in the gold or the run",
    "f_beta_decided": "if no decided item is positive in the gold or the run",
    "roc_auc": "if the gold has no positive items, or no negative ones",
    "average_precision": "if the gold has no positive items",
    "bpsn_auc": "if the slice has no negative items, or the other items are all negative",
    "bnsp_auc": "if the slice has no positive items, or the other items are all positive",
    "span_f1_*": "if neither side has spans",
    **dict.fromkeys(
        ("ndcg", "map", "mrr", "f1_at", "success_at", "r_precision", "bpref", "err", "rbp"),
        "with `queries: judged` or `queries: run`, if every query is excluded",
    ),
    "wer": "if the references have no words",
    "cer": "if the references have no characters",
    "ssa_*": "if the gold has no tuples",
    "*": ALWAYS_DEFINED,
}

# What the tests compare the values with.
PEERS: Mapping[str, str] = {
    "accuracy": "PyEvALL 0.2.11, scikit-learn",
    "system_precision": "PyEvALL 0.2.11",
    "exact_match_ratio": "scikit-learn, the scorer of HatEval 2019",
    "kappa": "PyEvALL 0.2.11, scikit-learn",
    "mcc": "scikit-learn",
    "f1_macro_mean": "the scorer of HatEval 2019",
    "f1_positive_mean": "scikit-learn",
    "precision": "PyEvALL 0.2.11",
    "recall": "PyEvALL 0.2.11",
    "f1": "PyEvALL 0.2.11",
    "*_positive": "the scorer of DETESTS 2022",
    **dict.fromkeys(("precision_macro", "recall_macro", "f1_macro"), "PyEvALL 0.2.11, scikit-learn"),
    **dict.fromkeys(("precision_micro", "recall_micro", "f1_micro"), "scikit-learn"),
    "*_weighted": "scikit-learn",
    "icm*": "PyEvALL 0.2.11",
    "cross_entropy": "PyEvALL 0.2.11",
    "soft_cross_entropy": "SciPy, the scorer of LeWiDi 2023",
    **dict.fromkeys(("jensen_shannon*", "kullback_leibler", "wasserstein", "manhattan"), "SciPy"),
    "brier": "scikit-learn",
    "mae": "PyEvALL 0.2.11, scikit-learn",
    **dict.fromkeys(("pearson", "spearman", "kendall"), "SciPy"),
    **dict.fromkeys(("rmse", "kappa_quadratic", "mae_macro", "accuracy_within"), "scikit-learn"),
    "cem_ord": "an independent implementation of the authors' formula",
    "haversine*": "scikit-learn",
    "accuracy_within_km": "scikit-learn",
    "c_at_1": "an independent reimplementation of PAN's evaluator",
    "f_05_u": "an independent reimplementation of PAN's evaluator",
    **dict.fromkeys(("f_beta_decided", "brier_complement", "calibration_error"), "scikit-learn"),
    **dict.fromkeys(("roc_auc", "average_precision", "hamming_loss", "jaccard"), "scikit-learn"),
    "b???_auc": "an independent count over all pairs of items",
    "hierarchical_f": "the scorer of DETESTS 2022",
    "propensity_f": "the scorer of DETESTS 2022",
    **dict.fromkeys(("entity_*_iou*", "entity_*_covered*"), "an independent token-by-token count"),
    "entity_*_surface*": "wnuteval.py, the scorer of WNUT 2017",
    **dict.fromkeys(("entity_*_exact*", "entity_*_partial*", "entity_*_type*"), "nervaluate 1.2.1"),
    "entity_*": "seqeval 1.2.2, nervaluate 1.2.1",
    "err": "an independent implementation of the authors' algorithm, and gdeval through ir_measures 0.4.3",
    "rbp": "cwl-eval 1.0.12 through ir_measures 0.4.3",
    **dict.fromkeys(
        ("ndcg", "map", "mrr", "precision_at", "recall_at", "f1_at", "success_at", "r_precision", "bpref"),
        "trec_eval through pytrec-eval-terrier 0.5.11 and ir_measures 0.4.3",
    ),
    **dict.fromkeys(("bleu", "chrf", "chrf_pp", "ter"), "sacrebleu 2.6.0"),
    "rouge_*": "rouge-score 0.1.2",
    "wer": "jiwer 4.0.0",
    "cer": "jiwer 4.0.0",
    **dict.fromkeys(("exact_match", "token_f1"), "an independent reimplementation of SQuAD's scorer"),
    "tuple_*_partial": "SciPy, linear_sum_assignment",
    "tuple_*": "scikit-learn",
    "*": _BY_HAND,
}

# The parts of the section “Conventions” that apply.
TOPICS: Mapping[str, tuple[str, ...]] = {
    "icm_soft*": ("ICM-Soft",),
    "icm*": ("ICM",),
    "cross_entropy": ("Cross entropy",),
    **dict.fromkeys(
        ("soft_cross_entropy", "jensen_*", "kullback_*", "wasserstein", "manhattan", "brier"), ("Soft labels",)
    ),
    "annotator_*": ("Annotators",),
    "tuple_*": ("Tuples",),
    "span_*": ("Spans",),
    "entity_*_iou*": ("Entities", "Entities by IoU"),
    "entity_*_surface*": ("Entities", "Surface forms of entities"),
    "entity_*_covered*": ("Entities", "Entities by coverage"),
    "entity_*": ("Entities",),
    **dict.fromkeys(
        ("bleu", "chrf*", "ter", "rouge_*", "wer", "cer", "exact_match", "token_f1", "edit_distance"), ("Texts",)
    ),
    **dict.fromkeys(("ndcg", "map", "mrr", "*_at", "r_precision", "bpref", "err", "rbp"), ("Rankings",)),
    **dict.fromkeys(("precision*", "recall*", "f1*"), ("Items", "Classes")),
    **dict.fromkeys(
        ("c_at_1", "f_05_u", "f_beta_decided", "brier_complement", "calibration_error", "roc_auc", "average_precision"),
        ("Items", "Probabilities"),
    ),
    **dict.fromkeys(("mae", "rmse", "pearson", "spearman", "kendall", "kappa_quadratic"), ("Items", "Numbers")),
    "*": ("Items",),
}


def first(table: Mapping[str, Found], name: str) -> Found:
    """Return the entry of one of these tables that applies to a metric."""
    return next(found for pattern, found in table.items() if fnmatchcase(name, pattern))
