"""Run PyEvALL in its own environment: evaluate one variant per line of standard input and print the seconds.

This program imports nothing from Agon. `--once TRACK` evaluates one variant and exits, to measure the whole process.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from pyevall.evaluation import PyEvALLEvaluation
from pyevall.utils.utils import PyEvALLUtils


def evaluate(variant: dict[str, Any]) -> tuple[float, Any]:
    """Evaluate a variant as PyEvALL's authors recommend, without its printed output.

    Return the seconds from files to values, and the values.
    """
    options = {PyEvALLUtils.PARAM_LOG_LEVEL: PyEvALLUtils.PARAM_OPTION_LOG_LEVEL_NONE}
    options[PyEvALLUtils.PARAM_REPORT] = PyEvALLUtils.PARAM_OPTION_REPORT_EMBEDDED
    if variant["hierarchy"]:
        options[PyEvALLUtils.PARAM_HIERARCHY] = variant["hierarchy"]
    start = time.perf_counter()
    report = PyEvALLEvaluation().evaluate(variant["run"], variant["gold"], variant["metrics"], **options)
    return time.perf_counter() - start, report


def main() -> None:
    answers = sys.stdout
    sys.stdout = sys.stderr  # PyEvALL's own output must not be mixed with the results
    with Path(sys.argv[1]).open(encoding="utf-8") as file:
        variants = {variant["track"]: variant for variant in json.load(file)}
    if "--once" in sys.argv:
        evaluate(variants[sys.argv[-1]])
        return
    for line in sys.stdin:
        seconds, report = evaluate(variants[line.strip()])
        metrics = report.report["metrics"]
        values = {name: metrics[name]["results"]["average_per_test_case"] for name in metrics}
        print(json.dumps({"seconds": seconds, "values": values}), file=answers, flush=True)


if __name__ == "__main__":
    main()
