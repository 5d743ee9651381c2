"""Simulate the last minute before a deadline: many teams upload complete EXIST 2024 runs.

    python benchmarks/rush.py [--uploads 1500] [--teams 300] [--seconds 60] [--processes 2] [--json]

This machine runs PostgreSQL with fsync, Valkey, Granian, one worker each for scoring, bulk work and email, Celery beat,
and the sender.

`engine_ms` is the CPU time for checking and scoring one such run in a single process that has already opened the gold,
measured before the first upload and after the last score. `life_ratio` is the CPU time of all servers and workers per
upload, divided by `engine_ms`.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median

sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.engine import TRACK, engine_milliseconds  # noqa: E402
from benchmarks.installation import ITEMS, Shape, bodies, installation, machine, prepare  # noqa: E402
from benchmarks.uploading import await_scores, judge, look, percentile, send_all, unfinished  # noqa: E402

P95_MS, SCORED_SECONDS, LIFE_RATIO = 200, 120, 10  # targets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uploads", type=int, default=1500)
    parser.add_argument("--teams", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--processes", type=int, default=2, help="that score")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    print(machine())
    with installation(Shape(processes=given.processes)) as own:
        senders = prepare(own, given.teams)
        own.start_all()
        for sender in senders[:20]:
            look(own, sender)
        time.sleep(5)  # time for workers to import what they need
        engine = engine_milliseconds(own.folder / "exist2024")
        before, started = own.cpu_seconds(), time.monotonic()
        uploads = send_all(own, senders, bodies(own, given.uploads), given.uploads, given.seconds)
        sent = time.monotonic() - started
        all_scored = await_scores(lambda: unfinished() == 0, 600)
        took = time.monotonic() - started
        cpu = {name: seconds - before[name] for name, seconds in own.cpu_seconds().items()}
        engine_ms = median(engine + engine_milliseconds(own.folder / "exist2024"))
        judged = judge(uploads.receipts)
    life_ms = {name: seconds * 1000 / given.uploads for name, seconds in cpu.items() if name != "sender"}
    milliseconds = [seconds * 1000 for seconds in uploads.seconds]
    result = {
        "uploads": len(uploads.receipts),
        "p95_ms": round(percentile(milliseconds, 0.95), 1),
        "errors_5xx": uploads.errors_5xx,
        "lost": judged.lost,
        "double": judged.double,
        "waiting": judged.waiting,
        "all_scored_s": round(took, 1) if all_scored else None,
        "engine_ms": round(engine_ms, 2),
        "life_ratio": round(sum(life_ms.values()) / engine_ms, 1),
    }
    print(f"{given.uploads} runs of {ITEMS} items for {TRACK} by {given.teams} teams in {given.seconds:.0f} s")
    rows = [
        ("receipts", f"{len(uploads.receipts)} in {sent:.1f} s", f"{given.uploads}"),
        ("upload to receipt, p50", f"{median(milliseconds):.0f} ms", ""),
        ("upload to receipt, p95", f"{result['p95_ms']:.0f} ms", f"{P95_MS} ms"),
        ("upload to receipt, longest", f"{max(milliseconds):.0f} ms", ""),
        ("other answers", str({code: n for code, n in uploads.statuses.items() if code != 303} or "none"), "none"),
        ("all scored after the first", f"{took:.1f} s" if all_scored else "never", f"{SCORED_SECONDS} s"),
        (f"scored a second, {given.processes} processes", f"{len(uploads.receipts) / took:.1f}", ""),
        ("lost", str(judged.lost), "0"),
        ("double", str(judged.double), "0"),
        ("waiting", str(judged.waiting), "0"),
        ("check and score in process", f"{engine_ms:.1f} ms of CPU", ""),
        ("CPU of an upload, over that", str(result["life_ratio"]), str(LIFE_RATIO)),
    ]
    print(f"{'':28}{'':>24}   aim")
    for name, value, aim in rows:
        print(f"{name:28}{value:>24}   {aim}")
    print(f"{'CPU, ms an upload':28}" + ", ".join(f"{name} {value:.1f}" for name, value in life_ms.items()))
    if given.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
