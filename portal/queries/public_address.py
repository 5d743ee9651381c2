"""What browsers get at the portal's URL: whether the proxy and the certificate work."""

import http.client
import ssl
from collections.abc import Iterator
from contextlib import closing
from http import HTTPStatus
from urllib.parse import SplitResult, urlsplit

from portal.models.worker_host import running_version

CONNECT_SECONDS = 10
_MISMATCH = 62  # OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH


def address_problems(url: str) -> Iterator[str]:
    """Request the portal's URL as a browser does, and yield sentences about what is wrong, each with its fix."""
    place = urlsplit(url)
    context = ssl.create_default_context()
    try:
        yield from _response_problems(url, place, context)
    except ssl.SSLCertVerificationError as error:
        yield _certificate_problem(url, place, error)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        yield from _response_problems(url, place, context)


def _response_problems(url: str, place: SplitResult, context: ssl.SSLContext) -> Iterator[str]:
    connection = http.client.HTTPSConnection(
        place.hostname or "", place.port or 443, timeout=CONNECT_SECONDS, context=context
    )
    try:
        with closing(connection):
            connection.request("GET", "/healthz")
            response = connection.getresponse()
            status, body = response.status, response.read(200).decode(errors="replace")
    except ssl.SSLCertVerificationError:
        raise
    except (OSError, http.client.HTTPException) as error:
        yield (
            f"{url} does not respond ({error or type(error).__name__}). Start nginx (systemctl status nginx, or docker "
            "compose ps proxy), and check AGON_URL, the DNS entry and the firewall."
        )
        return
    if status == HTTPStatus.BAD_REQUEST:
        yield f"{url} answers 400. Make the proxy pass the Host header on, and check AGON_URL and ALLOWED_HOSTS."
    elif status in (HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT):
        yield f"{url} answers {status:d}: nginx runs but finds no web service. Start web (agon-web@8001 and 8002)."
    elif status == HTTPStatus.OK and not body.startswith("ok "):
        yield f"At {url}, another website answers. Check AGON_URL, the DNS entry and the sites of nginx."
    elif status != HTTPStatus.OK:
        yield f"{url}/healthz answers {status:d} instead of 200. The logs of web and nginx say why."
    elif (version := body.partition(" agon ")[2].strip()) != running_version():
        yield f"{url} is served by version {version}, but {running_version()} is installed. Restart the web services."


def _certificate_problem(url: str, place: SplitResult, error: ssl.SSLCertVerificationError) -> str:
    renew = (
        "Get a certificate with certbot, copy it to the proxy's folder and reload nginx (docker compose restart proxy)."
    )
    if error.verify_code == _MISMATCH:
        return f"The certificate at {url} is for another host name than {place.hostname}. {renew}"
    return f"Browsers do not trust the certificate at {url} ({error.verify_message}). {renew}"
