"""A client that keeps connections busy, in a separate process: `python -m benchmarks.load PORT PATH SECONDS [N]`.

It uses plain sockets and one selector, so it takes little CPU time from the measured server. It prints JSON.
"""

import json
import selectors
import socket
import sys
import time
from dataclasses import dataclass
from statistics import median

WARM_UP = 0.3  # share of the time at the start that is not counted
_PIECE = 1 << 18


@dataclass
class LoadConnection:
    """A connection that sends one request after another.

    `left` is the number of bytes still missing from the current response.
    """

    socket: socket.socket
    sent_at: float = 0.0
    head: bytes = b""
    left: int = -1


def main() -> None:
    """Request the path over N connections, and print the rate of responses."""
    port, path, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 16
    print(json.dumps(run(port, path, seconds, count)))


def run(port: int, path: str, seconds: float, count: int) -> dict[str, float]:
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    selector = selectors.DefaultSelector()
    for _ in range(count):
        connection = LoadConnection(socket.create_connection(("127.0.0.1", port)))
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(connection.socket, selectors.EVENT_READ, connection)
        _send(connection, request)
    start = time.perf_counter()
    counted_from, end = start + WARM_UP * seconds, start + (1 + WARM_UP) * seconds
    took: list[float] = []
    while (now := time.perf_counter()) < end:
        for key, _events in selector.select(end - now):
            if _is_done(key.data):
                arrived = time.perf_counter()
                if arrived > counted_from:
                    took.append(arrived - key.data.sent_at)
                _send(key.data, request)
    return {"requests_per_s": len(took) / seconds, "p50_ms": 1000 * median(took), "p95_ms": 1000 * _p95(took)}


def _p95(took: list[float]) -> float:
    return sorted(took)[int(0.95 * len(took))]


def _send(connection: LoadConnection, request: bytes) -> None:
    connection.head, connection.left, connection.sent_at = b"", -1, time.perf_counter()
    connection.socket.sendall(request)


def _is_done(connection: LoadConnection) -> bool:
    """Read the available bytes and return whether the response is complete."""
    piece = connection.socket.recv(_PIECE)
    if not piece:
        raise SystemExit("the server hung up")
    if connection.left < 0:
        connection.head += piece
        head, found, body = connection.head.partition(b"\r\n\r\n")
        if not found:
            return False
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(head.decode())
        connection.left = _length(head) - len(body)
    else:
        connection.left -= len(piece)
    return connection.left <= 0


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    raise SystemExit("an answer without its length")


if __name__ == "__main__":
    main()
