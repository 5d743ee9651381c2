"""The web server: Granian with the portal's settings. Start it with `python -m portal.server --port 8000`.

Before the server ends, it finishes requests in progress. The program that started it limits how long this may take.
`workers_kill_timeout` is not used because, on a busy machine, it mistakes workers that have ended for workers that
hang.
"""

import os
import signal
import sys
from argparse import ArgumentParser

import django
from django.conf import settings
from django.db import DatabaseError, connections
from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from portal.environment import Environment
from portal.logs import configuration
from portal.watchdog import Probe, Watchdog

APPLICATION = "portal.wsgi:application"
THREADS = 4  # per process; Python runs one thread at a time while the others wait for the database or a disk


def main() -> None:
    parser = ArgumentParser(description="Starts the portal's web server.")
    parser.add_argument("application", nargs="?", default=APPLICATION)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1, help="processes")
    options = parser.parse_args()
    if options.application == APPLICATION:
        _require_schema()
        host = "127.0.0.1" if options.host == "0.0.0.0" else options.host
        alive = settings.CACHE_ROOT / "alive-web"
        Watchdog(alive, Probe(host, options.port).seconds_waiting).start()
    # Forked workers would inherit the parent's handlers, which ignore SIGTERM while the workers load the portal.
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    as_json = Environment().bool("LOG_JSON", default=False)
    Granian(
        options.application,
        address=options.host,
        port=options.port,
        interface=Interfaces.WSGI,
        workers=options.workers,
        blocking_threads=THREADS,
        websockets=False,
        log_level=LogLevels.warning,
        log_dictconfig=configuration(as_json, level="WARNING", colours=sys.stderr.isatty()),
    ).serve()


def _require_schema() -> None:
    """Exit with an explanation if tables are missing.

    If the database cannot be reached, the portal starts anyway, and /readyz reports the problem.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from portal.models.schema import schema_problems  # noqa: PLC0415 - requires that Django is set up

    try:
        problems = schema_problems()
    except DatabaseError:
        problems = []
    finally:
        connections.close_all()  # must happen before workers are forked
    if problems:
        sys.exit("\n- ".join(["Agon can’t start with this database:", *problems]))


if __name__ == "__main__":
    main()
