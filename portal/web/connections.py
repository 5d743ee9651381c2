"""Closing the database connections of threads that have ended."""

import os
import threading
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

_local = threading.local()


class _Closer:
    """Closes a connection when its thread's local data is deleted."""

    def __init__(self, opened: Any) -> None:
        self._opened, self._process = opened, os.getpid()

    def __del__(self) -> None:
        if self._process == os.getpid():  # a forked process must leave the connection to its parent
            self._opened.close()


def close_with_thread(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Close this new connection when its thread ends. Connect this to `connection_created`.

    The web server ends threads that have been idle for 30 seconds, and starts others later. Django has a connection for
    each thread, in objects with reference cycles. So without this, a connection would stay open after its thread ended
    until the garbage collector found it, and the database could run out of connections first.
    """
    _local.closer = _Closer(connection.connection)
