"""The expiry date of the TLS certificate at the portal's URL."""

import ssl
from datetime import datetime
from urllib.parse import urlsplit

import structlog
from cryptography.x509 import load_pem_x509_certificate

log = structlog.get_logger("portal.jobs")

CONNECT_SECONDS = 5


def certificate_expires(url: str) -> datetime | None:
    """Return the expiry date, even if the certificate has expired or is not trusted.

    Return None if the URL does not use TLS or the host does not respond.
    """
    place = urlsplit(url)
    if place.scheme != "https" or place.hostname is None:
        return None
    try:
        shown = ssl.get_server_certificate((place.hostname, place.port or 443), timeout=CONNECT_SECONDS)
    except OSError as error:
        log.warning("the certificate cannot be read", address=url, error=type(error).__name__)
        return None
    return load_pem_x509_certificate(shown.encode()).not_valid_after_utc
