"""How long one upload takes when nothing else is going on: to its receipt, and to its scores.

python benchmarks/latency.py [--uploads 60] [--json]
"""

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median

sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.installation import bodies, installation, machine, prepare  # noqa: E402
from benchmarks.uploading import percentile, send, unfinished  # noqa: E402

RECEIPT_MS, SCORED_MS = 30, 500  # aimed at: the median, and 19 of 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uploads", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    print(machine())
    with installation() as own:
        senders = prepare(own, 1)
        own.start_web()
        for program in own.programs[:-1]:
            program.start()
        receipts, scored = [], []
        warm_up = 5
        for number, body in enumerate(bodies(own, given.uploads + warm_up)):
            started = time.monotonic()
            status, receipt = send(own, senders[0], body, f"upload-{number}")
            taken = time.monotonic() - started
            if receipt is None:
                raise SystemExit(f"an upload was answered by {status}; see {own.folder}")
            if not await_scores_of(receipt.submission):
                raise SystemExit("an upload was not scored within a minute")
            if number >= warm_up:
                receipts.append(taken * 1000)
                scored.append((time.monotonic() - started) * 1000)
        assert unfinished() == 0
    result = {"receipt_p50_ms": round(median(receipts), 1), "scored_p95_ms": round(percentile(scored, 0.95), 1)}
    print(f"{'':24}{'p50':>10}{'p95':>10}   aim")
    for name, values, aim in (
        ("upload to receipt, ms", receipts, f"p50 {RECEIPT_MS}"),
        ("upload to scores, ms", scored, f"p95 {SCORED_MS}"),
    ):
        print(f"{name:24}{median(values):10.1f}{percentile(values, 0.95):10.1f}   {aim}")
    if given.json:
        print(json.dumps(result))


def await_scores_of(submission: str) -> bool:
    """Asked of the database every few milliseconds."""
    from portal.models import Evaluation

    end = time.monotonic() + 60
    while not Evaluation.objects.filter(run__submission=submission).exists():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


if __name__ == "__main__":
    main()
