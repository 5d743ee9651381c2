"""Compare the web server's CPU time for a submission through the API and through the upload page.

Both ways are measured in turn, with similar files from the same person, on a server with a single web process, so that
they share its caches. An upload through the page consists of posting the form and loading the page that it leads to,
because together they show what the API returns.

    python benchmarks/api_upload.py [--uploads 240] [--json]
"""

import argparse
import http.client
import json
import sys
from http import HTTPStatus
from itertools import islice
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.engine import TRACK  # noqa: E402
from benchmarks.installation import PHASE, Installation, Sender, Shape, bodies, installation, machine, prepare  # noqa: E402
from benchmarks.uploading import Receipt, send  # noqa: E402
from portal.management.valkey import HOST  # noqa: E402

WAYS = ("page", "form alone", "API")
TURN = 20  # number of uploads in one way before switching to the next
RATIO = 1.0  # maximum CPU time through the API, divided by the CPU time through the page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uploads", type=int, default=240, help="by each way")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    print(machine())
    turns = given.uploads // TURN
    with installation(Shape(web_workers=1)) as own:
        (sender,) = prepare(own, 1)
        token = _token(sender)
        own.start_web()
        content = bodies(own, len(WAYS) * TURN * (turns + 1))
        seconds = dict.fromkeys(WAYS, 0.0)
        for turn in range(turns + 1):  # the first turn is a warm-up
            for way in WAYS if turn % 2 else WAYS[::-1]:
                spent = _spent(own, sender, token, way, [*islice(content, TURN)], turn)
                seconds[way] += spent if turn else 0
    each = {way: 1000 * spent / (turns * TURN) for way, spent in seconds.items()}
    ratio = each["API"] / each["page"]
    for way, milliseconds in each.items():
        print(f"{way:12}{milliseconds:8.2f} ms of CPU a submission")
    print(f"API / page {ratio:.2f}, aim {RATIO}")
    if given.json:
        print(json.dumps({"uploads": turns * TURN, "cpu_ratio": round(ratio, 3)}))


def _token(sender: Sender) -> str:
    from portal.models import AccessToken, User
    from portal.models.clock import database_now

    user = User.objects.get(name=sender.team)
    at, secret = database_now(), "0" * 30
    _token, text = AccessToken.objects.issue(user, secret, at, name="benchmark", scope="submit", task=None, days=1)
    return text


def _spent(own: Installation, sender: Sender, token: str, way: str, content: list[bytes], turn: int) -> float:
    """Return the web server's CPU seconds for these uploads.

    The uploads are then marked as done, so that no work is left waiting.
    """
    from portal.models import Submission

    before = own.cpu_seconds()["web"]
    for number, body in enumerate(content):
        key = f"{way}-{turn}-{number}"
        if way == "API":
            is_sent = _send(own, sender, token, body, key) == HTTPStatus.CREATED
        else:
            _status, receipt = send(own, sender, body, key)
            is_sent = receipt is not None and (way != "page" or _look(own, sender, receipt) == HTTPStatus.OK)
        if not is_sent:
            raise SystemExit(f"an upload by {way} failed; see {own.folder}")
    spent = own.cpu_seconds()["web"] - before
    Submission.objects.filter(state="received").update(state="accepted")
    return spent


def _look(own: Installation, sender: Sender, receipt: Receipt) -> int:
    """Request an upload's page and return the response's status."""
    connection = http.client.HTTPConnection(HOST, own.port, timeout=30)
    try:
        address = f"/tasks/exist2024/submissions/{receipt.submission}/"
        connection.request("GET", address, headers={"Cookie": f"sessionid={sender.session}"})
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def _send(own: Installation, sender: Sender, token: str, body: bytes, key: str) -> int:
    """Upload through the API and return the response's status. The connection is new, as it is for the page."""
    name = "_".join([*TRACK.split("-"), sender.team, "1"]) + ".json"
    connection = http.client.HTTPConnection(HOST, own.port, timeout=30)
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/octet-stream",
        "Idempotency-Key": key,
    }
    address = f"/api/v1/tasks/exist2024/phases/{PHASE}/submissions?file_name={name}"
    try:
        connection.request("POST", address, body, headers)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


if __name__ == "__main__":
    main()
