"""Agon for Python, for participants and organizers. It uses the scoring engine but not the portal's code.

`agon.load`, `agon.submit` and `agon.leaderboard` use the portal that `agon login` signed in to. `agon.Portal` offers
everything that a participant can do on a portal. `agon.compute` and `agon.score_many` do not need a portal. Each
function is imported on first use.
"""

from importlib import import_module  # noqa: TID251 - by the name of what is used
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agon.many_runs import score_many
    from agon.metrics import compute
    from agon.portal import Portal
    from agon.shortcuts import leaderboard, load, submit

__all__ = ["Portal", "compute", "leaderboard", "load", "score_many", "submit"]

_MODULES = {"Portal": "portal", "compute": "metrics", "score_many": "many_runs"}


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'agon' has no attribute {name!r}")
    return getattr(import_module(f"agon.{_MODULES.get(name, 'shortcuts')}"), name)
