"""moto's S3 server with checks that moto lacks: the signature of every request (AWS V4) and the expiry of links.

python -m tests.signed_s3 HOST PORT

After SIGUSR1, it answers every request with status 503 until it receives SIGUSR2.
"""

import hashlib
import hmac
import io
import re
import signal
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.server import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple

KEY, SECRET, REGION = "agon", "known to the portal alone", "us-east-1"
CLOCKS = timedelta(minutes=15)  # how far clocks may differ
_HEADER = re.compile(r"AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)")
_CREDENTIALS = Credentials(KEY, SECRET)

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class Outage:
    """An outage that SIGUSR1 begins and SIGUSR2 ends. While it lasts, every request gets status 503."""

    def __init__(self, application: Application) -> None:
        self._application, self._lasts = application, False
        signal.signal(signal.SIGUSR1, lambda *_: self._set(True))
        signal.signal(signal.SIGUSR2, lambda *_: self._set(False))

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if not self._lasts:
            return self._application(environ, start_response)
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        start_response("503 Service Unavailable", [("Content-Type", "application/xml")])
        return [b"<Error><Code>SlowDown</Code></Error>"]

    def _set(self, lasts: bool) -> None:
        self._lasts = lasts


def only_signed(application: Application) -> Application:
    """Wrap the application so that only requests with a valid signature reach it."""

    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        error_code = _error_code(environ, datetime.now(UTC))
        if error_code is None:
            return application(environ, start_response)
        start_response("403 Forbidden", [("Content-Type", "application/xml")])
        return [f"<Error><Code>{error_code}</Code></Error>".encode()]

    return answer


def _error_code(environ: dict[str, Any], now: datetime) -> str | None:
    """Return S3's error code for a request with an invalid signature, or None."""
    url = f"http://{environ['HTTP_HOST']}{environ['REQUEST_URI']}"
    query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    is_link = "X-Amz-Signature" in query
    if is_link:
        given = query["X-Amz-Credential"], query["X-Amz-SignedHeaders"], query["X-Amz-Signature"]
        stamp, seconds = query["X-Amz-Date"], int(query["X-Amz-Expires"])
        signer: S3SigV4Auth = S3SigV4QueryAuth(_CREDENTIALS, "s3", REGION, seconds)
        url = re.sub(r"&X-Amz-Signature=\w+", "", url)
        lasts = timedelta(seconds=seconds)
    else:
        found = _HEADER.fullmatch(environ.get("HTTP_AUTHORIZATION", ""))
        if found is None:
            return "AccessDenied"
        given, stamp, lasts = found.groups(), environ["HTTP_X_AMZ_DATE"], CLOCKS
        signer = S3SigV4Auth(_CREDENTIALS, "s3", REGION)
    credential, names, signature = given
    headers = {name: _header(environ, name) for name in names.split(";")}
    request = AWSRequest(environ["REQUEST_METHOD"], url, headers)
    request.context["timestamp"] = stamp
    expected = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    if credential != signer.scope(request) or not hmac.compare_digest(expected, signature):
        return "SignatureDoesNotMatch"
    signed_at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    if not -CLOCKS <= now - signed_at <= lasts:
        return "AccessDenied" if is_link else "RequestTimeTooSkewed"
    return None if is_link else _error_of_body(environ)


def _error_of_body(environ: dict[str, Any]) -> str | None:
    """Return the error code for a body that does not match its signed hash, or None. Chunked bodies have none."""
    expected = environ["HTTP_X_AMZ_CONTENT_SHA256"]
    if not re.fullmatch("[0-9a-f]{64}", expected):
        return None
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    return None if hashlib.sha256(body).hexdigest() == expected else "XAmzContentSHA256Mismatch"


def _header(environ: dict[str, Any], name: str) -> str:
    variable = name.upper().replace("-", "_")
    return str(environ.get(f"HTTP_{variable}", environ.get(variable, "")))


if __name__ == "__main__":
    moto = DomainDispatcherApplication(create_backend_app)
    portal_s3 = Outage(only_signed(moto))
    run_simple(sys.argv[1], int(sys.argv[2]), portal_s3, threaded=True, request_handler=MotoRequestHandler)
