"""Upload many runs and measure what must not grow: `python benchmarks/many_uploads.py [--uploads 10000] [--json]`.

The same programs run as in `rush.py`. The uploads are sent in ten parts, each after the previous part has been scored.
After each part, this reads the memory of each program, without what it shares with others, and measures the CPU time
for comparing all rows and files (`evaluation.reconcile`).

`memory_ratio` is the largest ratio of a program's memory in the last three parts to that in the first three, where each
is the median. `reconcile_ratio` is the CPU time per run after all uploads, divided by that after the first part.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median

sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.engine import engine_milliseconds  # noqa: E402
from benchmarks.installation import Installation, bodies, installation, machine, prepare  # noqa: E402
from benchmarks.uploading import await_scores, judge, send_all, unfinished  # noqa: E402

PARTS = 10
TEAMS = 100
COMPARED = 3  # parts at the beginning and at the end
MEMORY_RATIO, RECONCILE_RATIO = 1.1, 1.2  # targets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uploads", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=15, help="uploads per second")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    print(machine())
    size = given.uploads // PARTS
    memory: list[dict[str, float]] = []
    reconciled: list[float] = []
    with installation() as own:
        senders = prepare(own, TEAMS)
        own.start_all()
        before = _stored_bytes(own)
        contents = bodies(own, given.uploads)
        receipts = []
        for part in range(PARTS):
            sent = send_all(own, senders, contents, size, size / given.rate, name=f"part-{part}")
            if not await_scores(lambda: unfinished() == 0, 600):
                raise SystemExit(f"part {part} was not scored within ten minutes; see {own.folder}")
            receipts += sent.receipts
            memory.append(own.memory_mb())
            reconciled.append(_reconcile_milliseconds() / len(receipts))
            listed = ", ".join(f"{name} {value:.0f}" for name, value in memory[-1].items())
            print(f"{len(receipts):8,} uploads, reconcile {reconciled[-1]:.3f} ms of CPU per run, MB: {listed}")
        judged = judge(receipts)
        grown = {name: (size - before[name]) / len(receipts) / 1000 for name, size in _stored_bytes(own).items()}
        engine_ms = median(engine_milliseconds(own.folder / "exist2024"))
    ratios = {name: _growth([one[name] for one in memory]) for name in memory[0]}
    result = {
        "uploads": len(receipts),
        "lost": judged.lost,
        "engine_ms": round(engine_ms, 2),
        "memory_ratio": round(max(ratios.values()), 3),
        "reconcile_ratio": round(reconciled[-1] / reconciled[0], 3),
        "kb_per_run": {name: round(size, 1) for name, size in grown.items()},
    }
    print(f"memory, last parts / first parts: {', '.join(f'{name} {ratio:.2f}' for name, ratio in ratios.items())}")
    print(f"kB per run: {', '.join(f'{name} {size:.1f}' for name, size in grown.items())}")
    print(f"check and score in process {engine_ms:.1f} ms of CPU")
    print(f"largest {result['memory_ratio']}, aim {MEMORY_RATIO}")
    print(f"reconcile, per run {result['reconcile_ratio']}, aim {RECONCILE_RATIO}")
    if given.json:
        print(json.dumps(result))


def _reconcile_milliseconds() -> float:
    """Return the CPU time for comparing all rows and files. No score is computed again, because that is a sample."""
    from portal.evaluation.reconcile import reconcile
    from portal.models import SharedTask
    from portal.models.clock import database_now

    began = time.process_time()
    differences = reconcile(SharedTask.objects.get(), database_now(), sample=0)
    took = 1000 * (time.process_time() - began)
    assert not differences, differences[0]
    return took


def _stored_bytes(own: Installation) -> dict[str, int]:
    """Return the size of the database, and of the files of uploads."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        (database,) = cursor.fetchone()
    files = (path.stat().st_size for path in (own.state / "data" / "files").rglob("*") if path.is_file())
    return {"database": database, "files": sum(files)}


def _growth(values: list[float]) -> float:
    return median(values[-COMPARED:]) / median(values[:COMPARED])


if __name__ == "__main__":
    main()
