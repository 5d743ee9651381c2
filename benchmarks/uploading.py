"""Send uploads as a browser does, on a schedule or one at a time, and check that the acknowledged ones are kept."""

import hashlib
import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import islice
from typing import Any

from benchmarks.engine import TRACK
from benchmarks.installation import PHASE, Installation, Sender
from portal.management.valkey import HOST

ADDRESS = "/tasks/exist2024/submit/"
_TOKEN = "a" * 32  # CSRF token, the same in the cookie and the form
_BOUNDARY = "agon-benchmark-boundary"
_SECONDS = 30  # time limit for a response


@dataclass(frozen=True)
class Receipt:
    """An acknowledged upload."""

    submission: str
    sha256: str


@dataclass
class Uploads:
    """The results of all uploads so far."""

    receipts: list[Receipt] = field(default_factory=list)
    # Seconds from the planned time to the receipt, for first attempts.
    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)  # status codes; 0 means no response
    retried: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, status: int, receipt: Receipt | None, seconds: float | None) -> None:
        with self._lock:
            self.statuses[status] += 1
            if receipt:
                self.receipts.append(receipt)
            if seconds is not None:
                self.seconds.append(seconds)
            else:
                self.retried += 1

    @property
    def errors_5xx(self) -> int:
        return sum(count for status, count in self.statuses.items() if status >= 500)


def send(own: Installation, sender: Sender, body: bytes, key: str, attempt: int = 0) -> tuple[int, Receipt | None]:
    """Send an upload over a new connection. Return the status (0 if there is no response) and the receipt.

    Each attempt goes to the next web server, as a proxy would send it if a server did not answer.
    """
    host, port = own.addresses[attempt % len(own.addresses)]
    response = post(port, ADDRESS, sender, body, key, host)
    if response is None:
        return 0, None
    if response.status != HTTPStatus.SEE_OTHER:
        return response.status, None
    place = response.headers["Location"].rstrip("/").rsplit("/", 1)[-1]
    return response.status, Receipt(place, hashlib.sha256(body).hexdigest())


def post(
    port: int, address: str, sender: Sender, body: bytes, key: str, host: str = HOST
) -> http.client.HTTPResponse | None:
    """Send a form as a browser does. Return the complete response, or None if there is none."""
    name = "_".join([*TRACK.split("-"), sender.team, "1"]) + ".json"
    fields = {"csrfmiddlewaretoken": _TOKEN, "phase": PHASE, "key": key}
    parts = [f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n' for n, v in fields.items()]
    parts.append(f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n')
    form = "".join(parts).encode() + body + f"\r\n--{_BOUNDARY}--\r\n".encode()
    headers = {
        "Host": f"{HOST}:{port}",  # the portal's public address
        "Content-Type": f"multipart/form-data; boundary={_BOUNDARY}",
        "Cookie": f"sessionid={sender.session}; csrftoken={_TOKEN}",
    }
    connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)
    try:
        connection.request("POST", address, form, headers)
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return response


def look(own: Installation, sender: Sender) -> None:
    """Load the upload page, as teams do before uploading. After a few calls, all web processes have read the rules."""
    connection = http.client.HTTPConnection(HOST, own.port, timeout=_SECONDS)
    connection.request("GET", ADDRESS, headers={"Cookie": f"sessionid={sender.session}"})
    connection.getresponse().read()
    connection.close()


def send_all(
    own: Installation,
    senders: Sequence[Sender],
    bodies: Iterator[bytes],
    count: int,
    seconds: float,
    tries: int = 1,
    name: str = "upload",
) -> Uploads:
    """Send all uploads evenly over the given time, without waiting for responses.

    Uploads without a receipt are retried with the same key. Keys begin with `name`.
    """
    uploads = Uploads()
    started = time.monotonic()

    def one(number: int, body: bytes) -> None:
        due = started + seconds * number / count
        for attempt in range(tries):
            sender = senders[number % len(senders)]
            status, receipt = send(own, sender, body, f"{name}-{number}", number + attempt)
            uploads.add(status, receipt, time.monotonic() - due if attempt == 0 else None)
            if receipt or 400 <= status < 500:
                return
            time.sleep(1)

    with ThreadPoolExecutor(64) as pool:
        for number, body in enumerate(islice(bodies, count)):
            time.sleep(max(0.0, started + seconds * number / count - time.monotonic()))
            pool.submit(one, number, body)
    return uploads


def await_scores(done: Callable[[], bool], seconds: float) -> bool:
    """Wait for a condition. Return whether it holds in time."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def unfinished() -> int:
    """Count acknowledged runs and uploads that are not yet scored, rejected or failed."""
    from portal.models import Run, Submission

    waiting = Submission.objects.filter(state__in=Submission.UNCHECKED).count()
    return waiting + Run.objects.unfinished().count()


@dataclass(frozen=True)
class Judgment:
    """The result of checking acknowledged uploads."""

    lost: int  # uploads that failed, or whose row, file or bytes are missing
    waiting: int  # uploads that are kept but not evaluated yet
    double: int  # number of duplicate runs or scores


def judge(receipts: Sequence[Receipt]) -> Judgment:
    """Check all receipts. An upload that is kept and still waiting is late, not lost."""
    from portal.models import Evaluation, Run, Submission

    submissions: dict[str, Any] = {str(one.pk): one for one in Submission.objects.all()}
    runs = {str(run.submission_id): run for run in Run.objects.filter(submission__isnull=False)}
    scores = Counter(Evaluation.objects.values_list("run_id", "gold_id", "scorer"))
    scored = {run for run, _, _ in scores}
    lost = waiting = 0
    for receipt in set(receipts):
        row, run = submissions.get(receipt.submission), runs.get(receipt.submission)
        is_kept = row is not None and row.sha256 == receipt.sha256 and _is_whole(receipt.sha256)
        is_scored = run is not None and run.state == "scored" and run.pk in scored
        is_waiting = is_kept and run is not None and run.state in Run.UNFINISHED
        waiting += is_waiting
        lost += not (is_waiting or (is_kept and is_scored))
    keys = Counter((one.team_id, one.idempotency_key) for one in submissions.values())
    double = sum(count - 1 for counts in (scores, keys) for count in counts.values())
    return Judgment(lost, waiting, double)


def _is_whole(sha256: str) -> bool:
    """Return whether the file is stored with exactly this content."""
    from portal.objects.interface import data_objects
    from portal.storage import stored_name

    try:
        with data_objects().open(stored_name(sha256)) as file:
            return hashlib.sha256(file.read()).hexdigest() == sha256
    except FileNotFoundError:
        return False


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
