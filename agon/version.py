"""The version of this client, and whether a portal offers a newer one."""

import re
import warnings
from importlib import metadata

HEADER = "Agon-Version"  # header of every response from a portal


class OldClient(UserWarning):
    """The portal has a newer client."""


def version() -> str:
    """Return the version of the installed package, or an empty string in a checkout."""
    try:
        return metadata.version("agon")
    except metadata.PackageNotFoundError:
        return ""


def is_old(portal: str) -> bool:
    """Return whether `portal` is a newer version than this client's. Return False if either version is unknown."""
    own = version()
    return bool(own) and _order(own) < _order(portal)


def warn_if_old(portal: str, address: str) -> None:
    """Warn if `portal`, the version of the portal at this address, is newer than this client."""
    if is_old(portal):
        versions = f"The portal runs agon {portal}, but you have {version()}."
        warnings.warn(f"{versions} Install the matching version: {address}/client/", OldClient, stacklevel=2)


def _order(text: str) -> tuple[int, ...]:
    """Return a sort key. `0.2.0.dev0` sorts before `0.2.0`, and strings that are not versions sort first."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)(.*)", text)
    return (*map(int, found.groups()[:3]), int(not found[4])) if found else ()
