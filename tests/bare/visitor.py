"""A visitor who signs in, downloads and uploads using only HTTP."""

import re
import urllib.request
import uuid
from http.client import HTTPResponse
from http.cookiejar import CookieJar
from urllib.parse import urlencode, urljoin

from tests.services import PATIENCE


class Visitor:
    def __init__(self, address: str, *handlers: urllib.request.BaseHandler) -> None:
        self._address = address
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()), *handlers)

    def get(self, path: str) -> str:
        return self._open(path).read().decode()

    def sign_in(self, email: str, password: str) -> None:
        self.post("/accounts/login/", login=email, password=password)

    def post(self, path: str, **fields: str) -> str:
        """Submit the form on the page at `path` with `fields`, and return the resulting page."""
        content = urlencode(fields | {"csrfmiddlewaretoken": self._token(path)}).encode()
        return self._open(path, content).read().decode()

    def upload(self, shared_task: str, phase: str, name: str, body: bytes) -> str:
        """Upload a run file and return the address of the submission's page."""
        path = f"/tasks/{shared_task}/submit/"
        fields = {"phase": phase, "csrfmiddlewaretoken": self._token(path)}
        boundary = uuid.uuid4().hex
        parts = [f'Content-Disposition: form-data; name="{key}"\r\n\r\n{value}' for key, value in fields.items()]
        parts.append(f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n{body.decode()}')
        content = "".join(f"--{boundary}\r\n{part}\r\n" for part in parts) + f"--{boundary}--\r\n"
        answer = self._open(path, content.encode(), f"multipart/form-data; boundary={boundary}")
        return answer.geturl()

    def _token(self, path: str) -> str:
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.get(path))
        assert found, f"{path} has no form"
        return found[1]

    def _open(
        self, path: str, body: bytes | None = None, kind: str = "application/x-www-form-urlencoded"
    ) -> HTTPResponse:
        request = urllib.request.Request(urljoin(self._address, path), body)
        if body is not None:
            request.add_header("Content-Type", kind)
            request.add_header("Referer", request.full_url)
        answer = self._opener.open(request, timeout=PATIENCE)
        assert isinstance(answer, HTTPResponse)
        return answer
