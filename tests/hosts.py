"""Separate hosts for tests: network namespaces, each with an address on a bridge of this machine.

This requires root.
"""

import ctypes
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from portal.management.valkey import HOST

NETWORK = "10.213.77.0/24"
GATEWAY = "10.213.77.1"  # this machine's address as seen from the hosts
_BRIDGE = "agon-bridge"
_NAMES = "/run/netns"  # where `ip netns` has a file for each host
_CLONE_NEWNS, _CLONE_NEWNET = 0x20000, 0x40000000  # linux/sched.h


@dataclass(frozen=True)
class Host:
    """A machine on which programs run. Commands with `prefix` run there."""

    name: str
    address: str = HOST
    prefix: tuple[str, ...] = ()

    def cut_off(self) -> None:
        """Disconnect the host, as in a power failure: no more packets arrive, not even those that end a connection."""
        if self.prefix:
            _ip("link", "set", self.name, "down")

    def reconnect(self) -> None:
        if self.prefix:
            _ip("link", "set", self.name, "up")


def can_separate() -> bool:
    """Return whether this process may create network namespaces."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    return subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True, check=False).returncode == 0


def separate(names: list[str]) -> list[Host]:
    """Create a host for each name. Names may have up to 15 characters.

    The hosts and the bridge are in a new network, which only this process and its children share from now on. It ends
    with the last of them. So nothing remains if they are killed, and two tests can run at once.
    """
    _enter_new_network()
    _ip("link", "add", _BRIDGE, "type", "bridge")
    _ip("address", "add", f"{GATEWAY}/24", "dev", _BRIDGE)
    for device in ("lo", _BRIDGE):
        _ip("link", "set", device, "up")
    hosts = []
    for number, name in enumerate(names, start=11):
        host = Host(name, f"10.213.77.{number}", ("ip", "netns", "exec", name))
        _ip("netns", "add", name)
        _ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("link", "set", name, "master", _BRIDGE, "up")
        _ip("-n", name, "address", "add", f"{host.address}/24", "dev", "eth0")
        for device in ("eth0", "lo"):
            _ip("-n", name, "link", "set", device, "up")
        hosts.append(host)
    return hosts


def _enter_new_network() -> None:
    """Move this thread into a new network, with an empty folder for the names that `ip netns` gives."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET | _CLONE_NEWNS):  # Python 3.12 has os.unshare
        raise OSError(ctypes.get_errno(), "no network of its own for this process")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    Path(_NAMES).mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "names", _NAMES], check=True)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
