"""The web server: granian with the portal's settings of it. `python -m portal.server --port 8000`

It answers the requests in work before it ends; who started it says how long that may take. `workers_kill_timeout` would
be no such bound: on a busy machine it takes workers that have ended for some that refuse to, and says so.
"""

import os
import signal
import sys
from argparse import ArgumentParser

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from portal.environment import Environment
from portal.logs import configuration

THREADS = 4  # a process: Python runs one at a time, the others wait for the database or a disk


def main() -> None:
    parser = ArgumentParser(description="Starts the portal's web server.")
    parser.add_argument("application", nargs="?", default="portal.wsgi:application")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1, help="processes")
    options = parser.parse_args()
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


if __name__ == "__main__":
    main()
