"""The portal in use, and its stored token: in the system's keyring, or in a file that only its owner can read."""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agon.errors import AgonError, WrongUsage

try:
    import keyring
    from keyring.errors import KeyringError
except ImportError:  # keyring is an optional package
    keyring = None

KEYRING = "the keyring"
_SERVICE = "agon"
_LOCAL = ("localhost", "127.0.0.1", "::1")


def config_folder() -> Path:
    """Return the folder for this user's settings."""
    if os.name == "nt":
        return Path(os.environ["APPDATA"]) / "agon"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "agon"


def portal_address(given: str | None = None) -> str:
    """Return the portal's URL: the given URL, `AGON_URL`, or the portal of the most recent sign-in.

    Raises:
        WrongUsage: no URL is set, or it is not an https URL.
    """
    address = (given or os.environ.get("AGON_URL") or _read().get("portal") or "").rstrip("/")
    if not address:
        raise WrongUsage("No portal is set. Sign in with “agon login https://YOUR-PORTAL”, or set AGON_URL.")
    try:
        scheme, host, _ = _origin(address)
    except ValueError:
        raise WrongUsage(f"{address} is not a URL. The portal’s URL looks like https://YOUR-PORTAL.") from None
    if scheme != "https" and not (scheme == "http" and host in _LOCAL):
        raise WrongUsage(f"{address}: the portal’s URL must begin with https://, so that no one can read your token.")
    if not host or any(character in "?#@" or character.isspace() for character in address):
        raise WrongUsage(f"{address}: use only the portal’s URL, such as https://YOUR-PORTAL.")
    return address


@dataclass(frozen=True)
class Token:
    """A token and where it comes from: an environment variable, the keyring, or a file."""

    text: str
    place: str

    @property
    def is_readable_by_others(self) -> bool:
        """Whether the token is in a file that others can read."""
        return self.place == str(_file()) and os.name != "nt" and bool(_file().stat().st_mode & 0o077)


def token_for(address: str) -> str | None:
    """Return the token for a portal as text, or None if there is none."""
    found = kept_token(address)
    return found.text if found else None


def kept_token(address: str) -> Token | None:
    """Return the token for a portal: `AGON_TOKEN` or the stored token.

    If `AGON_URL` is set, `AGON_TOKEN` is valid only for that portal.
    """
    given, its_portal = os.environ.get("AGON_TOKEN"), os.environ.get("AGON_URL")
    if given and (not its_portal or _origin(portal_address(its_portal)) == _origin(address)):
        return Token(given.strip(), "AGON_TOKEN")
    if keyring is not None:
        with suppress(KeyringError):
            found: str | None = keyring.get_password(_SERVICE, address)
            if found:
                return Token(found, KEYRING)
    kept: str | None = _read().get("tokens", {}).get(address)
    return Token(kept, str(_file())) if kept else None


def _origin(address: str) -> tuple[str, str | None, int]:
    """Return scheme, host and port.

    Raises:
        ValueError: the address is not a URL.
    """
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def keep(address: str, token: str) -> str:
    """Store a token for a portal and make that portal the default. Return where the token is stored."""
    kept = forget(address)
    kept["portal"] = address
    if keyring is not None:
        with suppress(KeyringError):
            keyring.set_password(_SERVICE, address, token)
            _write(kept)
            return KEYRING
    kept["tokens"] = kept.get("tokens", {}) | {address: token}
    _write(kept)
    return str(_file())


def forget(address: str) -> dict[str, Any]:
    """Delete the token for a portal. Return the settings that are still stored."""
    if keyring is not None:
        with suppress(KeyringError):
            keyring.delete_password(_SERVICE, address)
    kept = _read()
    if kept.get("tokens", {}).pop(address, None):
        _write(kept)
    return kept


def _file() -> Path:
    return config_folder() / "credentials.json"


def _read() -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(_file().read_bytes())
        if not isinstance(found.get("tokens", {}), dict):
            raise ValueError
        return found
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise AgonError(f"{_file()}: {error.strerror}.") from None
    except (ValueError, AttributeError):
        raise AgonError(f"{_file()} is damaged. Delete the file and sign in again.") from None


def _write(content: dict[str, Any]) -> None:
    """Write to a new file and rename it, so that the file is always complete and readable only by its owner."""
    file = _file()
    draft = file.with_suffix(".draft")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            json.dump(content, stream, indent=1)
        draft.replace(file)
    except OSError as error:
        raise AgonError(f"{error.filename}: {error.strerror}.") from None
