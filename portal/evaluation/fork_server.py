"""The parent of confined children: a small program that runs next to each evaluating worker process.

`python -m portal.evaluation.fork_server DESCRIPTOR` imports the engine and `evaluation.confined`, then forks and ends
children when its worker orders it to. It does not load Django, has no keys or secrets in its environment, and never
receives gold. Therefore a child that reads an upload has no gold until the worker sends it. The program ends with its
worker.

Orders and replies have a fixed size and are sent over a socket. An order to fork also passes the child's own socket.
Over that socket the worker sends pickles: first the object and its limits, then method calls with their arguments. Each
answer is a line of JSON. Data from a child is never unpickled.
"""

import errno
import gc
import json
import os
import pickle
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module  # noqa: TID251 - names of optional packages
from typing import Any, NoReturn

from portal.evaluation.confined import compare, gold, items, runs  # noqa: F401 - loaded before children need them
from portal.evaluation.confinement import confine
from portal.evaluation.errors import HostError, description
from scoring.extras import METRIC_MODULES

ORDER = struct.Struct("=i")  # FORK, or the id of a child to end
REPLY = struct.Struct("=iid")  # id of the child or a negative error number, exit status, CPU seconds
FORK = 0

_STORAGE_ERRORS = {
    errno.EACCES,
    errno.EHOSTDOWN,
    errno.EIO,
    errno.ENODEV,
    errno.ENOENT,
    errno.ENOTCONN,
    errno.ENOTDIR,
    errno.ENXIO,
    errno.ESTALE,
    errno.ETIMEDOUT,
}


def main() -> None:
    """Serve the worker at the other end of the socket whose descriptor is the command-line argument."""
    # Signals are sent to the whole process group, but the worker decides when this process ends.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    load_libraries_of_metrics()
    serve(socket.socket(fileno=int(sys.argv[1])))


def load_libraries_of_metrics() -> None:
    """Import the optional packages here, because some search for a writable folder, which fails in a confined child."""
    for module in METRIC_MODULES:
        with suppress(ImportError):  # tasks whose metrics do not use the package can still be scored
            import_module(module)


def serve(worker: socket.socket) -> None:
    """Fork and end children until the worker closes the socket."""
    gc.collect()
    gc.freeze()  # otherwise, the garbage collector would touch all modules and copy their memory pages in each child
    while True:
        order, descriptors, _flags, _address = socket.recv_fds(worker, ORDER.size, 1)
        if not order:
            return
        (child,) = ORDER.unpack(order)
        worker.sendall(_end(child) if child != FORK else _fork(descriptors[0]))


def _fork(descriptor: int) -> bytes:
    parent = os.getpid()
    try:
        child = os.fork()
    except OSError as error:
        child = -(error.errno or errno.EAGAIN)
    if child == 0:
        _be_child(parent, descriptor)
    os.close(descriptor)
    return REPLY.pack(child, 0, 0.0)


def _end(child: int) -> bytes:
    """End a child that has either answered or never will.

    Its PID cannot be reused before this function reaps it.
    """
    os.kill(child, signal.SIGKILL)
    _pid, status, usage = os.wait4(child, 0)
    return REPLY.pack(child, status, usage.ru_utime + usage.ru_stime)


def _be_child(parent: int, descriptor: int) -> NoReturn:
    """Run the child and always exit here, so that nothing from the parent is flushed or closed twice."""
    try:
        with open(descriptor, "rb") as orders, open(descriptor, "wb", closefd=False) as answers:
            work, broken = _confined_work(orders, parent, descriptor)
            while True:
                method, arguments = pickle.load(orders)  # noqa: S301 - from the worker
                answers.write((broken or answer(getattr(work, method), *arguments)) + b"\n")
                answers.flush()
    except (EOFError, OSError):
        pass  # the worker closed the socket
    finally:
        os._exit(0)


def _confined_work(orders: Any, parent: int, descriptor: int) -> tuple[Any, bytes | None]:
    """Return the object in the child, or an error if the limits cannot be set.

    In the latter case, the child reads nothing.
    """
    try:
        work, limits = pickle.load(orders)  # noqa: S301 - from the worker
        confine(parent, descriptor, *limits)
    except Exception as error:
        return None, _line(host_error=description(error))
    return work, None


def answer(method: Callable[..., Any], *arguments: Any) -> bytes:
    """Return the method's value or failure as JSON, with the CPU seconds used by the process so far."""
    try:
        return _line(value=method(*arguments))
    except HostError as error:
        return _line(host_error=str(error))
    except BaseException as error:
        is_storage = isinstance(error, OSError) and error.errno in _STORAGE_ERRORS
        is_ours = is_storage or isinstance(error, ImportError)  # a package that a metric needs is missing
        return _line(**{"host_error" if is_ours else "error": description(error)})


def _line(**content: Any) -> bytes:
    return json.dumps(content | {"cpu_seconds": time.process_time()}, allow_nan=False).encode()


if __name__ == "__main__":
    with suppress(ConnectionError):
        main()
