"""Agon from Python, for participants and organizers: built on the engine, without the portal's code.

`agon.load`, `agon.submit` and `agon.leaderboard` speak with the portal that `agon login` signed in to; `agon.Portal` is
all that a portal can do. `agon.compute` and `agon.score_many` need no portal. Each is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agon.many_runs import score_many
    from agon.metrics import compute
    from agon.portal import Portal
    from agon.shortcuts import leaderboard, load, submit

__all__ = ["Portal", "compute", "leaderboard", "load", "score_many", "submit"]

_MODULES = {"Portal": "portal", "compute": "metrics", "score_many": "many_runs"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'agon' has no attribute {name!r}")
    return getattr(import_module(f"agon.{_MODULES.get(name, 'shortcuts')}"), name)
