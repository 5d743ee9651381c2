"""The services in docker-compose.yml as processes on this machine: proxy, two web services and the workers."""

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import psycopg
import pytest

from portal.web.bodies import FORM_BYTES
from scoring.limits import UPLOAD_BYTES
from tests.conftest import ROOT
from tests.deploy.production import ADDRESS, DATASET, HOST, Production, production
from tests.portal.world import GOOD, run_file
from tests.services import children, postgres_programs, wait_until

BOARD = "/tasks/tiny/leaderboard/one/?phase=post&format=json"
DOWNLOAD = "/tasks/tiny/data/sample/"
NGINX_ERROR = re.compile(r"\d{4}/\d\d/\d\d [\d:]{8} \[(warn|error)\] ")  # the format of nginx's own errors
FIRST_OF_MANY = 10  # runs from this number on are sent one after another, as many as time allows
STATES = """SELECT (SELECT count(*) FROM portal_submission), (SELECT count(*) FROM portal_run WHERE kind = 'team'),
    (SELECT count(*) FROM portal_run r JOIN portal_evaluation e ON e.run_id = r.id
     WHERE r.kind = 'team' AND r.state = 'scored')"""
SCORED = """SELECT count(*), count(DISTINCT e.run_id) FROM portal_run r JOIN portal_evaluation e ON e.run_id = r.id
    WHERE r.kind = 'team' AND r.state = 'scored'"""


@pytest.fixture(scope="module")
def services() -> Iterator[Production]:
    if shutil.which("nginx", path="/usr/sbin:/usr/bin") is None:
        pytest.skip("no nginx is installed")
    if postgres_programs() is None:
        pytest.skip("no PostgreSQL server is installed")
    # pytest's own folder is not used, because the user `postgres` cannot read it.
    with tempfile.TemporaryDirectory(prefix="agon-production-") as folder, production(Path(folder)) as services:
        yield services


def states(services: Production, query: str = STATES) -> list[int]:
    """Return the number of uploads, of teams' runs, and of scored runs, or the result of another query."""
    address, password = services.address("postgres"), services.secrets["database_password"]
    with psycopg.connect(host=address, user="agon", password=password, dbname="agon") as connection:
        return list(connection.execute(query).fetchone() or ())


def ask(
    services: Production,
    path: str,
    method: str = "GET",
    body: bytes | None = None,
    source: str = "127.0.0.2",
    **headers: str,
) -> tuple[int, http.client.HTTPMessage, bytes]:
    """Return the proxy's response to one request."""
    connection = services.connection(source)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def test_a_run_goes_from_the_proxy_to_a_score(services: Production) -> None:
    services.captain().upload("tiny", "post", "one_Meltemi_1.json", run_file(GOOD))
    wait_until(lambda: "Meltemi" in services.visitor().get(BOARD), "the run is scored and ranked")


def test_data_are_handed_out_by_the_proxy(services: Production) -> None:
    status, headers, body = ask(services, DOWNLOAD)
    assert (status, body) == (200, DATASET)
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "attachment" in headers["Content-Disposition"]
    for encoding in ("identity", "gzip"):
        part = ask(services, DOWNLOAD, Range="bytes=7-16", Accept_Encoding=encoding)
        assert part[::2] == (206, DATASET[7:17])
    past = services.connection(service="web")
    past.request("GET", DOWNLOAD, headers={"Host": HOST, "X-Forwarded-Proto": "https"})
    answer = past.getresponse()
    assert (answer.headers["X-Accel-Redirect"].split("/")[1], answer.read()) == ("data", b"")


def test_the_folder_of_data_has_no_address(services: Production) -> None:
    stored = next(path for path in (services.folder / "volumes/data/files").rglob("*") if path.is_file())
    inside = stored.relative_to(services.folder / "volumes/data").as_posix()
    for path in ("/data/", f"/data/{inside}", f"/data/../data/{inside}", f"/static/..%2fdata/{inside}", "/media/"):
        for method in ("GET", "HEAD"):
            assert ask(services, path, method, Range="bytes=0-1")[0] in (400, 404), path


def test_what_is_too_large_is_cut_off(services: Production) -> None:
    status, _, body = ask(services, "/tasks/tiny/submit/", "POST", b"", Content_Length="90000000")
    assert status == 413
    assert b"Too large" in body
    chunks = (b"x" * 65536 for _ in range(32))
    connection = services.connection()
    connection.request("POST", "/accounts/login/", chunks, encode_chunked=True)
    assert connection.getresponse().status == 413
    # Below the proxy's limit, so that the portal's own error page is shown.
    assert UPLOAD_BYTES + FORM_BYTES < 80 * 1024**2


@pytest.mark.parametrize(
    "path", ["/organize/new/", "/tasks/tiny/organize/push/", "/api/v1/pushes", "/api/v1/tasks/tiny/organize/pushes"]
)
def test_the_proxy_accepts_large_task_folders(services: Production, path: str) -> None:
    assert ask(services, path, "POST", bytes(2 * 1024**2))[0] in (302, 401)


@pytest.mark.parametrize(
    ("path", "size", "expected"),
    [
        ("/tasks/tiny/submit/", 20, 302),
        ("/tasks/tiny/validate/", 20, 302),
        ("/tasks/tiny/submit/", 79, 302),  # beyond the portal's limit, but not the proxy's
        ("/api/v1/tasks/tiny/phases/post/submissions", 20, 401),
        ("/tasks/tiny/organize/data/sample/", 200, 302),
        ("/api/v1/tasks/tiny/organize/datasets/sample", 20, 401),
    ],
)
def test_the_response_arrives_although_the_body_is_not_wanted(
    services: Production, path: str, size: int, expected: int
) -> None:
    for _ in range(5):
        assert ask(services, path, "POST", bytes(size * 1024**2), source="127.0.0.9")[0] == expected


def test_a_team_is_shown_why_its_upload_is_too_large(services: Production) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        services.captain("127.0.0.9").upload("tiny", "post", "one_Meltemi_1.json", bytes(70 * 1024**2))
    assert (caught.value.code, b"64 MiB" in caught.value.read()) == (413, True)


def test_a_large_upload_above_the_rate_limit_is_not_called_too_large(services: Production) -> None:
    statuses: list[int] = []
    # On a slow machine, the rate limit lets more requests through.
    while 429 not in statuses and len(statuses) < 20:
        for _ in range(300):  # uploads count as soon as they begin
            begun(services, "127.0.0.4", "/organize/new/").close()
        statuses.append(ask(services, "/organize/new/", "POST", bytes(2 * 1024**2), source="127.0.0.4")[0])
    assert statuses[-1] == 429
    assert 413 not in statuses


def test_a_visitor_has_a_pace(services: Production) -> None:
    statuses: list[int] = []
    # On a slow machine, this takes longer, so the rate limit lets more requests through.
    while 429 not in statuses and len(statuses) < 300:
        status, headers, body = ask(services, "/accounts/login/", source="127.0.0.3")
        statuses.append(status)
    assert statuses == [200] * (len(statuses) - 1) + [429]
    assert len(statuses) > 30
    assert headers["Retry-After"] == "10"
    assert b"Too many requests" in body
    assert ask(services, "/accounts/login/", source="127.0.0.4")[0] == 200


def begun(
    services: Production, source: str, path: str = "/tasks/tiny/organize/data/sample/"
) -> http.client.HTTPConnection:
    """Start an organizer's upload without sending its body yet."""
    connection = services.connection(source)
    connection.putrequest("POST", path, skip_host=True)
    for name, value in {"Host": HOST, "Content-Length": "1000"}.items():
        connection.putheader(name, value)
    connection.endheaders()
    return connection


def test_a_visitor_has_few_large_uploads_at_a_time(services: Production) -> None:
    uploads = [begun(services, "127.0.0.6") for _ in range(4)]
    answers: list[int] = []

    def is_full() -> bool:  # the proxy may not have read all four requests yet
        one_more = begun(services, "127.0.0.6")
        one_more.sock.settimeout(1)
        with suppress(TimeoutError):
            answers.append(one_more.getresponse().status)
        uploads.append(one_more)
        return bool(answers)

    wait_until(is_full, "the proxy rejects one more")
    assert answers == [429]
    assert ask(services, "/tasks/tiny/", source="127.0.0.6")[0] == 200
    other = begun(services, "127.0.0.7")
    other.send(b"x" * 1000)
    assert other.getresponse().status == 302
    for upload in [*uploads, other]:
        upload.close()


def test_only_tls_and_cookies_of_this_host(services: Production) -> None:
    plain = http.client.HTTPConnection(services.address("proxy"), 8080)
    plain.request("GET", "/guide/?a=1", headers={"Host": HOST})
    answer = plain.getresponse()
    assert (answer.status, answer.headers["Location"]) == (301, f"{ADDRESS}/guide/?a=1")
    _, headers, _ = ask(services, "/accounts/login/")
    assert headers["Strict-Transport-Security"].startswith("max-age=31536000")
    assert headers["Set-Cookie"].startswith("__Host-csrf=")
    assert {"Secure", "HttpOnly", "Path=/"} <= set(headers["Set-Cookie"].split("; "))


def test_a_host_that_is_not_ours_is_rejected(services: Production) -> None:
    for host in ("evil.example", f"{HOST}.evil.example", f"evil.example:{HOST}"):
        connection = services.connection("127.0.0.5")
        connection.request("GET", "/accounts/login/", headers={"Host": host})
        assert connection.getresponse().status == 400
    status, _, body = ask(services, "/", X_Forwarded_Host="evil.example", X_Forwarded_For="198.51.100.1")
    assert status == 200
    assert b"evil.example" not in body
    assert "198.51.100.1" not in services.log("proxy").read_text()


def test_figures_for_prometheus(services: Production) -> None:
    token = services.secrets["metrics_token"]
    status, _, body = ask(services, "/metrics", Authorization=f"Bearer {token}")
    assert (status, b"agon_uploads_total" in body) == (200, True)
    assert ask(services, "/metrics")[0] == 404


def test_static_files_are_kept_by_the_proxy(services: Production) -> None:
    page = services.visitor().get("/")
    sheet = page.split('rel="stylesheet" href="')[2].split('"')[0]
    status, headers, _ = ask(services, sheet, Accept_Encoding="br")
    assert (status, headers["Content-Encoding"]) == (200, "br")
    assert "immutable" in headers["Cache-Control"]
    assert ask(services, sheet, Accept_Encoding="br")[0] == 200

    def asked() -> list[str]:
        """Return which web service received each of the two requests. The log is written after the response."""
        lines = (line for line in services.log("proxy").read_text().splitlines() if f'"path":"{sheet}"' in line)
        return [json.loads(line)["upstream"] for line in lines]

    wait_until(lambda: len(asked()) == 2, "the proxy has logged both")
    assert asked()[1] == ""


def test_the_first_view_of_a_board_weighs_less_than_150_kb(services: Production) -> None:
    address = f"https://{HOST}:8443{BOARD.removesuffix('&format=json')}"
    command = [sys.executable, "-m", "tests.deploy.page_weight", address, HOST, services.address("proxy")]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    sizes = json.loads(done.stdout)
    assert address in sizes
    assert any(name.endswith(".css") for name in sizes)
    assert any(name.endswith(".woff2") for name in sizes)
    assert sum(sizes.values()) < 150_000, sizes


class Repeating(threading.Thread):
    """A thread that repeats an action until it is stopped, and collects the results and errors."""

    def __init__(self, action: Callable[[int], str], pause: float) -> None:
        super().__init__(daemon=True)
        self._action, self._pause, self._ends = action, pause, threading.Event()
        self.results: list[str] = []
        self.problems: list[str] = []

    def run(self) -> None:
        for number in count(FIRST_OF_MANY):
            try:
                self.results.append(self._action(number))
            except Exception as error:
                self.problems.append(repr(error))
            if self._ends.wait(self._pause):
                return

    def stop(self) -> None:
        self._ends.set()
        self.join()


def test_a_rolling_restart_loses_nothing(services: Production) -> None:
    uploads, _, _ = states(services)
    captain, reader = services.captain("127.0.0.6"), services.visitor("127.0.0.8")
    names = "one_Meltemi_{}.json"
    may_send = threading.Semaphore(0)  # only 30 uploads may wait while no worker runs

    def upload(number: int) -> str:
        may_send.acquire()
        return captain.upload("tiny", "post", names.format(number), run_file(GOOD))

    sending = Repeating(upload, 0.2)
    reading = Repeating(lambda _: reader.get("/healthz"), 0.04)
    sending.start()
    reading.start()
    for name in ("web", "web2", "worker", "beat", "hidden", "background", "mailer"):
        may_send.release(4)
        services.restart(name)
        if name == "web2":
            reading.stop()  # the other services answer no requests
    may_send.release()  # the thread may be waiting for it
    sending.stop()
    assert (sending.problems, reading.problems) == ([], [])
    assert len(sending.results) >= 5
    assert all("/submissions/" in receipt for receipt in sending.results)
    expected = uploads + len(sending.results)
    wait_until(lambda: states(services) == [expected] * 3, f"all {expected} are scored")


def freeze(services: Production, name: str) -> Path:
    """Stop all processes of a service (SIGSTOP) and let its watchdog's file look old. Return the file."""
    for pid in (services.pid(name), *children(services.pid(name))):
        os.kill(pid, signal.SIGSTOP)
    (alive,) = (services.folder / name / "tmp/agon-cache").glob("alive-*")
    an_hour_ago = time.time() - 3600
    os.utime(alive, (an_hour_ago, an_hour_ago))
    return alive


def test_a_frozen_web_service_delays_few_requests_and_is_restarted(services: Production) -> None:
    alive = freeze(services, "web")
    assert [ask(services, path)[0] for path in ("/", "/tasks/tiny/", "/guide/") * 3] == [200] * 9
    upstreams = re.findall(r'"upstream":"([^"]+)"', services.log("proxy").read_text())[-9:]
    frozen = services.address("web")
    assert sum(frozen in upstream for upstream in upstreams) < len(upstreams) / 2  # each delays one request
    assert not services.is_healthy("web")  # the health check kills it
    assert services.ended() == "web"
    services.restart("web")
    assert services.is_healthy("web")
    assert alive.read_text() == str(services.pid("web"))


def test_a_frozen_worker_is_restarted(services: Production) -> None:
    freeze(services, "worker")
    uploads, _, _ = states(services)
    services.captain("127.0.0.7").upload("tiny", "post", "one_Meltemi_3.json", run_file(GOOD))
    services.is_healthy("worker")
    wait_until(lambda: services.ended() == "worker", "the health check has killed it")
    services.restart("worker")
    wait_until(lambda: states(services)[2] == uploads + 1, "the run is scored")


def test_without_a_broker_uploads_go_on_and_are_scored_later(services: Production) -> None:
    services.stop("valkey", signal.SIGKILL)
    assert json.loads(ask(services, "/readyz")[2])["status"] == "degraded"
    services.captain("127.0.0.7").upload("tiny", "post", "one_Meltemi_2.json", run_file(GOOD))
    services.start("valkey")
    uploads, _, _ = states(services)
    wait_until(lambda: states(services)[2] == uploads, "the sweep has found it")


def test_without_a_database_the_portal_says_so_and_comes_back(services: Production) -> None:
    services.stop("postgres", signal.SIGQUIT)
    status, _, body = ask(services, "/readyz")
    assert (status, json.loads(body)["status"]) == (503, "unready")
    assert json.loads(body)["parts"]["database"] == "not running, or at another address"
    services.start("postgres")
    wait_until(lambda: ask(services, "/readyz")[0] == 200, "the portal is ready again")


def test_a_page_asks_for_patience_when_no_web_service_answers(services: Production) -> None:
    services.stop("web")
    services.stop("web2")
    status, _, body = ask(services, "/")
    assert (status, b"Temporarily unavailable" in body) == (502, True)
    services.restart("web")
    services.restart("web2")
    wait_until(lambda: ask(services, "/")[0] == 200, "the portal answers again")


def test_logs_are_json_and_hold_no_secret(services: Production) -> None:
    ask(services, "/accounts/password/reset/key/1-s3cret/?s3cret")
    wait_until(lambda: "/reset/key/" in services.log("proxy").read_text(), "the proxy has logged it")
    said = {
        name: services.log(name).read_text()
        for name in ("proxy", "web", "web2", "worker", "hidden", "background", "mailer", "beat")
    }
    for name in ("proxy", "web", "web2", "beat"):  # Celery workers log their shutdown in a different format
        for line in said[name].splitlines():
            assert NGINX_ERROR.match(line) if name == "proxy" and line[:1] != "{" else json.loads(line)
    for secret in ("s3cret", "correct horse battery", *filter(None, services.secrets.values())):
        assert [name for name, text in said.items() if secret in text] == []


def test_the_way_of_a_request_is_one_id(services: Production) -> None:
    _, headers, _ = ask(services, "/nowhere/")
    known_as = headers["X-Request-ID"]
    wait_until(lambda: known_as in services.log("proxy").read_text(), "the proxy has logged it")
    assert known_as in services.log("web").read_text() + services.log("web2").read_text()


def test_only_workers_have_the_key_to_gold(services: Production, root: Path) -> None:
    program = "from portal.sealing import has_private_key; print(has_private_key())"
    assert [services.python(name, program).strip() for name in ("web", "mailer", "worker", "background")] == [
        "False", "False", "True", "True",
    ]  # fmt: skip


def test_four_workers_score_every_run_once_even_if_one_is_killed(services: Production) -> None:
    """`docker compose up --scale worker=4`. This comes last, because the other tests expect a single worker."""
    workers = services.scale("worker", 4)
    assert [name for name in workers if services.is_healthy(name)] == ["worker", "worker-2", "worker-3", "worker-4"]
    scores, runs = states(services, SCORED)
    captain = services.captain("127.0.0.10")
    numbers = range(900, 912)  # no other test sends that many
    for number in numbers:
        captain.upload("tiny", "post", f"one_Meltemi_{number}.json", run_file(GOOD))
        if number == numbers[5]:
            services.stop("worker-3", signal.SIGKILL)
    expected = [scores + len(numbers), runs + len(numbers)]
    wait_until(lambda: states(services, SCORED) == expected, "every run is scored once")
