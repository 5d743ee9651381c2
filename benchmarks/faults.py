"""Fault injection during uploads: checks that everything acknowledged is kept and scored exactly once.

    python benchmarks/faults.py [UPLOADS,SECONDS,EVERY[,WORD] ...] [--bucket] [--hosts] [--busy] [--json]

Each stage sends UPLOADS uploads over SECONDS seconds and injects a fault every EVERY seconds. WORD limits the faults to
those whose name contains it. The default stage is "900,300,8". Several stages run one after another on the same
installation.

The installation runs on this machine: PostgreSQL, Valkey, two Granian web servers, two scoring workers, one worker for
bulk work, one for email, and Celery beat. The mail server is always down. An upload that gets no receipt is retried
with the same key on the other web server, as a proxy or a user would do. The one-minute outage of the database and
broker is injected only if WORD selects it.

--bucket  store data and gold in S3, which also fails; the default is a folder whose disk becomes full and, if this
          process can mount a small disk, nearly full
--hosts   give each web server and scoring worker its own host, sharing only the network; requires root and uses S3
--busy    keep half of the machine's cores busy with another program
--json    also print each stage's result as a line of JSON
"""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

import psycopg  # noqa: E402
import redis  # noqa: E402

from benchmarks.installation import (  # noqa: E402
    HERE,
    Installation,
    Sender,
    Shape,
    bodies,
    installation,
    machine,
    prepare,
)
from benchmarks.uploading import await_scores, judge, send_all, unfinished  # noqa: E402
from portal.evaluation.lanes import Lane  # noqa: E402
from portal.management.programs import worker_command  # noqa: E402
from portal.management.valkey import HOST, free_port  # noqa: E402
from portal.objects.folder import SPARE_BYTES  # noqa: E402
from tests.hosts import Host, separate  # noqa: E402
from tests.services import Program, children, wait_until  # noqa: E402

USUAL = "900,300,8"
DRAINED_SECONDS = 60  # target for scoring everything after the last upload
PATIENCE_SECONDS = 900  # time limit for scoring everything on a slow or busy machine
TRIES = 300  # one attempt per second
TEAMS = 100
FULL_DISK_BYTES = 64 * 1024  # smaller than a run
DISK_BYTES = 1024**3
DOWN_SECONDS = 1.5
OUTAGE_SECONDS = 60
WORK_SECONDS = 5  # maximum wait for work to reach a worker before the worker is killed


def kill_worker(own: Installation) -> None:
    own.scorers[0].kill()
    own.scorers[0].start()


def kill_pool_process(own: Installation) -> None:
    """Kill a pool process. Celery replaces it, and its run can be claimed again once the lease has expired."""
    _kill(children(own.scorers[0].pid)[:1])


def kill_scoring_child(own: Installation) -> None:
    _kill(_confined(own.scorers[0]))


def kill_fork_servers(own: Installation) -> None:
    """Kill the fork servers. Each pool process starts a new one when it next needs a child."""
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


def kill_web_host(own: Installation) -> None:
    _lose_host(own.shape.webs[0], own.webs[0])


def kill_worker_host(own: Installation) -> None:
    """Kill a worker's host while the worker is checking or scoring, if work arrives soon enough."""
    await_scores(lambda: bool(_confined(own.scorers[1])), WORK_SECONDS)
    _lose_host(own.shape.scorers[1], own.scorers[1])


def _lose_host(host: Host, program: Program) -> None:
    """Simulate a power cut on a host, and start its program again.

    A separate host is disconnected from the network first, so that no other host notices that its connections end.
    """
    host.cut_off()
    program.kill()
    time.sleep(DOWN_SECONDS)
    host.reconnect()
    program.start()


def update_worker_host(own: Installation) -> None:
    """Stop a worker as an update does, and start it again."""
    own.scorers[1].stop()
    own.scorers[1].start()


def update_web_host(own: Installation) -> None:
    own.webs[1].stop()
    own.webs[1].start()


def freeze_web(own: Installation, seconds: float) -> None:
    _freeze(own.webs[0], seconds)


def freeze_worker(own: Installation, seconds: float) -> None:
    _freeze(own.scorers[0], seconds)


def _freeze(program: Program, seconds: float) -> None:
    """Stop all processes of a program (SIGSTOP). Kill it if it shows no sign of life, and start it, as systemd does."""
    process = program.process
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGSTOP)
    stopped = time.time()
    time.sleep(seconds)
    is_silent = max(file.stat().st_mtime for file in program.cache.glob("alive-*")) <= stopped
    if is_silent and program.process is process:  # another fault may have restarted it
        program.kill()
        program.start()


def freeze_web_process(own: Installation) -> None:
    """Stop the process that serves pages. Its watchdog must kill it, which ends the program."""
    _stop(children(own.webs[1].pid))


def freeze_pool_process(own: Installation) -> None:
    """Stop a pool process. Its watchdog must kill it, and Celery replaces it."""
    _stop(children(own.scorers[1].pid)[:1])


def _stop(processes: Sequence[int]) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)


def fill_gold_folder(own: Installation, seconds: float) -> None:
    _nearly_fill(own.gold, seconds)


def _nearly_fill(folder: Path, seconds: float) -> None:
    """Leave less space on the folder's disk than the portal keeps free."""
    filler = folder / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(folder).free - SPARE_BYTES // 2)
    time.sleep(seconds)
    filler.unlink(missing_ok=True)


def fill_broker(own: Installation, seconds: float) -> None:
    """Let the broker run out of memory: it answers, but accepts no messages. Another fault may restart it meanwhile."""
    with suppress(redis.RedisError):
        redis.Redis.from_url(own.environment["REDIS_URL"]).config_set("maxmemory", 1)
    time.sleep(seconds)
    with suppress(redis.RedisError):
        redis.Redis.from_url(own.environment["REDIS_URL"]).config_set("maxmemory", 0)


def fill_disk(own: Installation) -> None:
    processes = [pid for web in own.webs for pid in (web.pid, *children(web.pid))]
    _limit_files(processes, FULL_DISK_BYTES)
    time.sleep(DOWN_SECONDS)
    _limit_files(processes, resource.RLIM_INFINITY)


def nearly_fill_disk(own: Installation) -> None:
    _nearly_fill(own.state, DOWN_SECONDS)


def forbid_writes(own: Installation, seconds: float) -> None:
    """Make the database read-only, like a standby or a database with a full disk."""
    _write_only_if(own, allowed=False)
    time.sleep(seconds)
    _write_only_if(own, allowed=True)


def stop_storage(own: Installation, seconds: float) -> None:
    """Make the bucket's server answer every request with status 503."""
    assert own.bucket is not None
    own.bucket.be_unavailable(True)
    time.sleep(seconds)
    own.bucket.be_unavailable(False)


def add_worker_with_another_clock(own: Installation, seconds: float) -> None:
    """Add a worker whose clock is five minutes ahead."""
    command = ["faketime", "-f", "+5m", *worker_command("ahead", [Lane.SCORING], 1)]
    worker = Program(command, own.environment, own.folder / "ahead.log")
    worker.start()
    time.sleep(seconds)
    worker.stop()


def add_worker_without_data(own: Installation) -> None:
    """Start a worker on a machine without the portal's data and key. It must not claim any work."""
    elsewhere = own.environment | {"AGON_STATE": str(own.folder / "elsewhere")}
    worker = Program(worker_command("elsewhere", [Lane.SCORING]), elsewhere, own.folder / "elsewhere.log")
    worker.start()
    log = own.folder / "elsewhere.log"
    wait_until(lambda: "is not accepting work yet" in log.read_text(), "the worker says that it lacks something")
    worker.kill()
    log.unlink()


def stop_all(own: Installation) -> None:
    """Stop the database and broker while a child is checking or scoring, so that its result cannot be recorded."""
    wait_until(lambda: _confined(own.scorers[0]), "a child is at work")
    own.database.stop(signal.SIGQUIT)
    own.broker.kill()
    time.sleep(OUTAGE_SECONDS)
    own.database.start(fsync=True)
    own.broker.start()


def _confined(worker: Program) -> list[int]:
    """Return the children that are checking or scoring now. Their parents are the pool's fork servers."""
    servers = [server for process in children(worker.pid) for server in children(process)]
    return [child for server in servers for child in children(server)]


@dataclass(frozen=True, slots=True)
class Lasting:
    """A fault that lasts for `seconds`, but at most a quarter of the stage.

    Other faults are injected while it lasts.
    """

    inject: Callable[[Installation, float], None]
    seconds: float


Fault = Callable[[Installation], None] | Lasting
FAULTS: dict[str, Fault] = {
    "the storage answers 503": Lasting(stop_storage, 60),
    "a worker killed, all its processes": kill_worker,
    "the database stopped at once": stop_database,
    "the child that scores killed": kill_scoring_child,
    "a worker whose clock is 5 minutes ahead": Lasting(add_worker_with_another_clock, 30),
    "the parents of such children killed": kill_fork_servers,
    "a web server frozen": Lasting(freeze_web, 60),
    "a web host killed": kill_web_host,
    "the broker emptied": flush_broker,
    "the database read-only": Lasting(forbid_writes, 30),
    "the gold folder full": Lasting(fill_gold_folder, 30),
    "a process of the worker frozen": freeze_pool_process,
    "the disk full": fill_disk,
    "the disk nearly full": nearly_fill_disk,
    "a worker host killed": kill_worker_host,
    "a process of the worker killed": kill_pool_process,
    "the broker out of memory": Lasting(fill_broker, 30),
    "the broker killed": kill_broker,
    "a worker host updated": update_worker_host,
    "a worker frozen, all its processes": Lasting(freeze_worker, 60),
    "a worker without data": add_worker_without_data,
    "a process of a web server frozen": freeze_web_process,
    "a web host updated": update_web_host,
}
# What an installation must have for a fault.
NEEDED: dict[str, Callable[[Installation], bool]] = {
    "the storage answers 503": lambda own: own.bucket is not None,
    "the disk full": lambda own: own.bucket is None,
    "the disk nearly full": lambda own: own.has_own_disk,
    "the gold folder full": lambda own: own.has_own_disk,
}
OUTAGES: dict[str, Fault] = {"an outage of a minute": stop_all}


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of `uploads` uploads in `seconds` seconds. Every `every` seconds, the next of `faults` is injected."""

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

    def possible(self, own: Installation) -> dict[str, Fault]:
        """Return the stage's faults, except those that need a different kind of storage."""
        return {what: fault for what, fault in self.faults.items() if what not in NEEDED or NEEDED[what](own)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", type=Stage.of, default=[Stage.of(USUAL)], metavar="STAGE")
    parser.add_argument("--bucket", action="store_true", help="data and gold are in S3")
    parser.add_argument("--hosts", action="store_true", help="web servers and workers share only the network")
    parser.add_argument("--busy", action="store_true", help="another program uses half of the machine")
    parser.add_argument("--json", action="store_true", help="each stage's result as a line of JSON, too")
    given = parser.parse_args()
    if shutil.which("faketime") is None:
        parser.error("faketime is missing. On Debian: apt-get install faketime")
    print(machine())
    with ExitStack() as stack:
        hosts = [HERE] * 4
        if given.hosts:
            hosts = separate(["agon-web-1", "agon-web-2", "agon-work-1", "agon-work-2"])
        no_mail_server = {"AGON_DEMO": "false", "EMAIL_HOST": HOST, "EMAIL_PORT": str(free_port())}
        has_bucket = given.bucket or given.hosts
        shape = Shape(
            webs=hosts[:2],
            web_workers=1,
            scorers=hosts[2:],
            processes=1,
            has_bucket=has_bucket,
            disk_bytes=0 if has_bucket else DISK_BYTES,
            environment=no_mail_server,
        )
        own = stack.enter_context(installation(shape))
        senders = prepare(own, TEAMS)
        own.start_all()
        if given.busy:
            stack.enter_context(_half_of_the_machine())
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
    with ThreadPoolExecutor() as pool:
        hurting = pool.submit(_hurt, own, stage, done, pool)
        uploads = send_all(own, senders, files, stage.uploads, stage.seconds, TRIES, name)
        for lasting in hurting.result():
            lasting.result()
    ended = time.monotonic()
    is_drained = await_scores(lambda: _nothing_waits(own), PATIENCE_SECONDS)
    drained = time.monotonic() - ended
    judged = judge(uploads.receipts)
    attempts, failed = _attempts_and_failed()
    if judged.lost or judged.double or not is_drained:
        print(own.logs(), file=sys.stderr)
    received = len(set(uploads.receipts))
    print(f"{received} of {stage.uploads} uploads got their receipt, {uploads.retried} further tries")
    answers = ", ".join(f"{n} × {status or 'none'}" for status, n in sorted(uploads.statuses.items()))
    print(f"answers: {answers}")
    print(f"{judged.lost} receipts lost (no row, no file, given up), {judged.waiting} kept and waiting for scores")
    print(f"{judged.double} runs or scores are there twice")
    print(f"{attempts} uploads and runs used an attempt; {failed} uploads, runs and emails failed")
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


def _hurt(own: Installation, stage: Stage, done: list[str], pool: ThreadPoolExecutor) -> list[Future[None]]:
    """Inject one fault after another, as scheduled. On a slow machine, faults may come late.

    Return the lasting faults, some of which may not have ended yet.
    """
    started, lasting = time.monotonic(), []
    for number, (what, fault) in enumerate(cycle(stage.possible(own).items()), start=1):
        due = number * stage.every
        if due > stage.seconds - stage.every / 2:
            break
        time.sleep(max(0.0, started + due - time.monotonic()))
        own.restart_ended()
        if isinstance(fault, Lasting):
            lasting.append(pool.submit(fault.inject, own, min(fault.seconds, stage.seconds / 4)))
        else:
            fault(own)
        done.append(what)
        print(f"{time.monotonic() - started:6.1f} s  {what}", flush=True)
    return lasting


@contextmanager
def _half_of_the_machine() -> Iterator[None]:
    """Keep half of the cores busy."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range((os.cpu_count() or 1) // 2)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def _write_only_if(own: Installation, allowed: bool) -> None:
    """Allow or forbid writes to the database. Keep trying while the server is down because of another fault."""
    while True:
        with suppress(psycopg.OperationalError), psycopg.connect(own.database.url, autocommit=True) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {'off' if allowed else 'on'}")
            connection.execute("SELECT pg_reload_conf()")
            return
        time.sleep(0.1)


def _nothing_waits(own: Installation) -> bool:
    from django.db import DatabaseError, connection

    own.restart_ended()
    try:
        return unfinished() == 0
    except DatabaseError:  # this process also lost its connection
        connection.close()
        return False


def _attempts_and_failed() -> tuple[int, int]:
    """Count uploads and runs whose content was blamed for an error, and uploads, runs and emails that failed."""
    from portal.models import OutgoingMail, Run, Submission

    models = (Submission, Run)
    blamed = sum(model.objects.filter(attempts__gt=0).count() for model in models)
    return blamed, sum(model.objects.filter(state="failed").count() for model in (*models, OutgoingMail))


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
