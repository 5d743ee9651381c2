"""Agon from Python, for participants and organizers: built on the engine, without the portal's code.

`agon.load`, `agon.submit` and `agon.leaderboard` speak with the portal that `agon login` signed in to; `agon.Portal` is
all that a portal can do. Loaded when they are first used: `agon check` needs no network.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agon.portal import Portal
    from agon.shortcuts import leaderboard, load, submit

__all__ = ["Portal", "leaderboard", "load", "submit"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'agon' has no attribute {name!r}")
    return getattr(import_module("agon.portal" if name == "Portal" else "agon.shortcuts"), name)
