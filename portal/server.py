"""The web server: granian with the portal's settings of it. `python -m portal.server --port 8000`

It answers the requests in work before it ends; who started it says how long that may take. `workers_kill_timeout` would
be no such bound: on a busy machine it takes workers that have ended for some that refuse to, and says so.
"""

import os
import signal
import sys
from argparse import ArgumentParser
from importlib import import_module

import django
from django.db import DatabaseError, connections
from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from portal.environment import Environment
from portal.logs import configuration

APPLICATION = "portal.wsgi:application"
THREADS = 4  # a process: Python runs one at a time, the others wait for the database or a disk


def main() -> None:
    parser = ArgumentParser(description="Starts the portal's web server.")
    parser.add_argument("application", nargs="?", default=APPLICATION)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1, help="processes")
    options = parser.parse_args()
    if options.application == APPLICATION:
        _require_schema()
    # Workers are forked with their parent's handlers: they would take no SIGTERM as long as they load the portal.
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
    """End with a sentence that says what to do; without a database the portal starts, and /readyz says so."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    schema_problems = import_module("portal.models.schema").schema_problems  # what it imports needs Django to be set up
    try:
        problems = schema_problems()
    except DatabaseError:
        problems = []
    finally:
        connections.close_all()  # workers are forked next
    if problems:
        sys.exit("\n- ".join(["Agon does not start with this database:", *problems]))


if __name__ == "__main__":
    main()
