"""Fault injection during uploads: checks that everything acknowledged is kept and scored exactly once.

    python benchmarks/faults.py [UPLOADS,SECONDS,EVERY[,WORD] ...] [--json]

A stage sends so many uploads within so many seconds and injects a fault every few seconds. WORD restricts the faults to
those with that word in their name. The usual stage is "900,150,5". Several stages run one after another on one
installation.

The installation is PostgreSQL, Valkey, granian, a scoring worker with two processes and beat, on this machine. Uploads
without a receipt are repeated with the same key, as a person would do. A full disk is simulated by a web server that
may not write larger files. An outage of database and broker for a minute is injected only if a stage names it.
"""

import argparse
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

import psycopg  # noqa: E402
import redis  # noqa: E402

from benchmarks.installation import Installation, Sender, bodies, installation, machine, prepare  # noqa: E402
from benchmarks.uploading import await_scores, judge, send_all, unfinished  # noqa: E402
from portal.evaluation.lanes import Lane  # noqa: E402
from portal.management.programs import worker_command  # noqa: E402
from tests.services import Program, children, wait_until  # noqa: E402

USUAL = "900,150,5"
DRAINED_SECONDS = 60  # goal for scoring everything after the last upload
PATIENCE_SECONDS = 900  # time limit for a slow or busy machine
TRIES = 300  # one per second
TEAMS = 100
FULL_DISK_BYTES = 64 * 1024  # smaller than a run
DOWN_SECONDS = 1.5
OUTAGE_SECONDS = 60


def kill_worker(own: Installation) -> None:
    own.scorers[0].kill()
    own.scorers[0].start()


def kill_pool_process(own: Installation) -> None:
    """Kill a process of the pool. Celery starts another. The run can be claimed again when its lease has ended."""
    _kill(children(own.scorers[0].pid)[:1])


def kill_scoring_child(own: Installation) -> None:
    _kill(_confined(own))


def kill_fork_servers(own: Installation) -> None:
    """Kill the fork servers. Each pool process starts another when it next needs a child."""
    _kill([server for process in children(own.scorers[0].pid) for server in children(process)])


def kill_broker(own: Installation) -> None:
    own.broker.kill()
    time.sleep(DOWN_SECONDS)
    own.broker.start()


def flush_broker(own: Installation) -> None:
    redis.Redis.from_url(own.environment["REDIS_URL"]).flushall()


def stop_database(own: Installation) -> None:
    own.database.stop(signal.SIGQUIT)
    time.sleep(DOWN_SECONDS)
    own.database.start(fsync=True)


def kill_web(own: Installation) -> None:
    own.web.kill()
    own.web.start()


def fill_disk(own: Installation) -> None:
    processes = [own.web.pid, *children(own.web.pid)]
    _limit_files(processes, FULL_DISK_BYTES)
    time.sleep(DOWN_SECONDS)
    _limit_files(processes, resource.RLIM_INFINITY)


def forbid_writes(own: Installation) -> None:
    """Make the database read-only, like a standby or a database with a full disk."""
    _write_only_if(own, allowed=False)
    time.sleep(DOWN_SECONDS)
    _write_only_if(own, allowed=True)


def add_worker_without_data(own: Installation) -> None:
    """Start a worker on a machine without the portal's data and key. It must not claim any work."""
    elsewhere = own.environment | {"AGON_STATE": str(own.folder / "elsewhere")}
    worker = Program(worker_command("elsewhere", [Lane.SCORING]), elsewhere, own.folder / "elsewhere.log")
    worker.start()
    log = own.folder / "elsewhere.log"
    wait_until(lambda: "accepts no work yet" in log.read_text(), "the worker says that it lacks something")
    worker.kill()
    log.unlink()


def stop_all(own: Installation) -> None:
    """Stop database and broker while a child checks or scores, so that its worker cannot record the result."""
    wait_until(lambda: _confined(own), "a child is at work")
    own.database.stop(signal.SIGQUIT)
    own.broker.kill()
    time.sleep(OUTAGE_SECONDS)
    own.database.start(fsync=True)
    own.broker.start()


def _confined(own: Installation) -> list[int]:
    """Return the children that are checking and scoring now. Their parents are the pool's fork servers."""
    servers = [server for process in children(own.scorers[0].pid) for server in children(process)]
    return [child for server in servers for child in children(server)]


Fault = Callable[[Installation], None]
FAULTS: dict[str, Fault] = {
    "the worker killed, all its processes": kill_worker,
    "the database stopped at once": stop_database,
    "the child that scores killed": kill_scoring_child,
    "the parents of such children killed": kill_fork_servers,
    "the web server killed": kill_web,
    "the broker emptied": flush_broker,
    "the disk full": fill_disk,
    "a process of the worker killed": kill_pool_process,
    "the broker killed": kill_broker,
    "the database read-only": forbid_writes,
    "a worker without data": add_worker_without_data,
}
OUTAGES: dict[str, Fault] = {"an outage of a minute": stop_all}


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage: `uploads` uploads in `seconds` seconds, and one of `faults` in turn every `every` seconds."""

    uploads: int
    seconds: float
    every: float
    faults: Mapping[str, Fault]

    @classmethod
    def of(cls, text: str) -> "Stage":
        uploads, seconds, every, word = (*text.split(","), "")[:4]
        named = {what: fault for what, fault in (FAULTS | OUTAGES).items() if word in what}
        if not named:
            raise argparse.ArgumentTypeError(f"no fault has {word!r} in its name: {'; '.join(FAULTS | OUTAGES)}")
        return cls(int(uploads), float(seconds), float(every), named if word else FAULTS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", type=Stage.of, default=[Stage.of(USUAL)], metavar="STAGE")
    parser.add_argument("--json", action="store_true", help="each stage's result as a line of JSON, too")
    given = parser.parse_args()
    print(machine())
    with installation() as own:
        senders = prepare(own, TEAMS)
        own.start_web()
        for program in own.programs[:-1]:
            program.start()
        time.sleep(5)
        files = bodies(own, sum(stage.uploads for stage in given.stages))
        for number, stage in enumerate(given.stages):
            result = _play(own, senders, files, stage, f"stage-{number}")
            if given.json:
                print(json.dumps(result), flush=True)


def _play(
    own: Installation, senders: Sequence[Sender], files: Iterator[bytes], stage: Stage, name: str
) -> dict[str, float | None]:
    """Run a stage and return its results. Attempts and failures include those of earlier stages."""
    done: list[str] = []
    hurting = threading.Thread(target=_hurt, args=(own, stage, done))
    hurting.start()
    uploads = send_all(own, senders, files, stage.uploads, stage.seconds, TRIES, name)
    hurting.join()
    ended = time.monotonic()
    is_drained = await_scores(lambda: _nothing_waits(own), PATIENCE_SECONDS)
    drained = time.monotonic() - ended
    judged = judge(own, uploads.receipts)
    attempts, failed = _attempts_and_failed()
    if judged.lost or judged.double or not is_drained:
        print(own.logs(), file=sys.stderr)
    received = len(set(uploads.receipts))
    print(f"{received} of {stage.uploads} uploads got their receipt, {uploads.retried} further tries")
    answers = ", ".join(f"{n} × {status or 'none'}" for status, n in sorted(uploads.statuses.items()))
    print(f"answers: {answers}")
    print(f"{judged.lost} receipts lost (no row, no file, given up), {judged.waiting} kept and waiting for scores")
    print(f"{judged.double} runs or scores are there twice")
    print(f"{attempts} uploads and runs used an attempt, {failed} failed")
    print(f"drained after {drained:.1f} s (aim: {DRAINED_SECONDS})" if is_drained else "never drained")
    return {
        "uploads": received,
        "faults": len(done),
        "lost": judged.lost + stage.uploads - received,
        "double": judged.double,
        "waiting": judged.waiting,
        "attempts": attempts,
        "failed": failed,
        "drained_s": round(drained, 1) if is_drained else None,
    }


def _hurt(own: Installation, stage: Stage, done: list[str]) -> None:
    """Inject one fault after another until the last step of the schedule. On a slow machine they may come late."""
    started = time.monotonic()
    for number, (what, fault) in enumerate(cycle(stage.faults.items()), start=1):
        due = number * stage.every
        if due > stage.seconds - stage.every / 2:
            return
        time.sleep(max(0.0, started + due - time.monotonic()))
        own.restart_ended()
        fault(own)
        done.append(what)
        print(f"{time.monotonic() - started:6.1f} s  {what}", flush=True)


def _write_only_if(own: Installation, allowed: bool) -> None:
    with psycopg.connect(own.database.url, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {'off' if allowed else 'on'}")
        connection.execute("SELECT pg_reload_conf()")


def _nothing_waits(own: Installation) -> bool:
    from django.db import DatabaseError, connection

    own.restart_ended()
    try:
        return unfinished() == 0
    except DatabaseError:  # this process lost its connection, too
        connection.close()
        return False


def _attempts_and_failed() -> tuple[int, int]:
    """Return the uploads and runs whose content was blamed for an error, and those that were given up."""
    from portal.models import Run, Submission

    models = (Submission, Run)
    blamed = sum(model.objects.filter(attempts__gt=0).count() for model in models)
    return blamed, sum(model.objects.filter(state="failed").count() for model in models)


def _kill(processes: Sequence[int]) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _limit_files(processes: Sequence[int], limit: int) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
