"""Run PyEvALL in its environment: read a JSON list of evaluations and print a list of their values.

An evaluation has `gold` and `run` (items as in run files), `hierarchy` or null, `metrics` and their `parameters`.
"""

import json
import logging
import sys
import tempfile
from pathlib import Path

from pyevall.evaluation import PyEvALLEvaluation

logging.disable(logging.CRITICAL)


def evaluate(folder, given):
    for side in ("gold", "run"):
        items = [{"test_case": "T", **item} for item in given[side]]
        (folder / f"{side}.json").write_text(json.dumps(items), encoding="utf-8")
    options = {"report": "embedded", "log_level": "none"}
    if given["hierarchy"] is not None:
        options["hierarchy"] = given["hierarchy"]
    options["metric_params"] = dict.fromkeys(given["metrics"], given["parameters"])
    report = PyEvALLEvaluation().evaluate(
        str(folder / "run.json"), str(folder / "gold.json"), given["metrics"], **options
    )
    metrics = report.report["metrics"]
    return {name: metrics[name]["results"].get("average_per_test_case") for name in given["metrics"]}


with tempfile.TemporaryDirectory() as name:
    stdout, sys.stdout = sys.stdout, sys.stderr  # PyEvALL prints to standard output while it works
    values = [evaluate(Path(name), given) for given in json.load(sys.stdin)]
    json.dump(values, stdout)
