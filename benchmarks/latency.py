"""Measure one upload on an idle portal: the time until its receipt, and until its scores.

After each upload, the smallest possible upload (`benchmarks.smallest_upload`) is sent to a server of the same kind with
the same database. The ratio of the two medians depends little on the machine.

    python benchmarks/latency.py [--uploads 60] [--json]
"""

import argparse
import json
import sys
import time
from http import HTTPStatus
from pathlib import Path
from statistics import median
from uuid import UUID

sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.engine import engine_milliseconds  # noqa: E402
from benchmarks.installation import Installation, Sender, bodies, installation, machine, prepare  # noqa: E402
from benchmarks.uploading import percentile, post, send, unfinished  # noqa: E402

RECEIPT_MS, SCORED_MS = 30, 500  # targets for the receipt's median and the scores' 95th percentile
WARM_UP = 5  # uploads that are not counted
RECEIPT_RATIO = 2.5  # target for the median receipt time divided by that of the smallest upload


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uploads", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    print(machine())
    with installation() as own:
        (sender,) = prepare(own, 1)
        own.start_all()
        with own.serving("benchmarks.smallest_upload:application") as port:
            times = [measure(own, sender, port, *one) for one in enumerate(bodies(own, WARM_UP + given.uploads))]
        assert unfinished() == 0
        engine_ms = median(engine_milliseconds(own.folder / "exist2024"))
    receipts, scored, smallest = ([1000 * seconds for seconds in those] for those in zip(*times[WARM_UP:], strict=True))
    ratio = median(receipts) / median(smallest)
    result = {
        "receipt_p50_ms": round(median(receipts), 1),
        "receipt_ratio": round(ratio, 2),
        "scored_p95_ms": round(percentile(scored, 0.95), 1),
        "engine_ms": round(engine_ms, 2),
    }
    print(f"{'':24}{'p50':>10}{'p95':>10}   aim")
    for name, values, aim in (
        ("upload to receipt, ms", receipts, f"p50 {RECEIPT_MS}"),
        ("smallest upload, ms", smallest, ""),
        ("upload to scores, ms", scored, f"p95 {SCORED_MS}"),
    ):
        print(f"{name:24}{median(values):10.1f}{percentile(values, 0.95):10.1f}   {aim}")
    print(f"receipt / smallest upload {ratio:.2f}, aim {RECEIPT_RATIO}")
    print(f"check and score in process {engine_ms:.1f} ms of CPU")
    if given.json:
        print(json.dumps(result))


def measure(own: Installation, sender: Sender, port: int, number: int, body: bytes) -> tuple[float, float, float]:
    """Return the seconds until the receipt, until the scores, and for the smallest upload with the same body."""
    started = time.monotonic()
    status, receipt = send(own, sender, body, f"upload-{number}")
    to_receipt = time.monotonic() - started
    if receipt is None:
        raise SystemExit(f"an upload was answered by {status}; see {own.folder}")
    if not await_scores_of(UUID(receipt.submission)):
        raise SystemExit("an upload was not scored within a minute")
    to_scores = time.monotonic() - started
    started = time.monotonic()
    answer = post(port, "/", sender, body, "")
    if answer is None or answer.status != HTTPStatus.CREATED:
        raise SystemExit(f"the smallest upload failed; see {own.folder}")
    return to_receipt, to_scores, time.monotonic() - started


def await_scores_of(submission: UUID) -> bool:
    """Query the database every few milliseconds until the scores appear. Return False after a minute."""
    from portal.models import Evaluation

    end = time.monotonic() + 60
    while not Evaluation.objects.filter(run__submission=submission).exists():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


if __name__ == "__main__":
    main()
