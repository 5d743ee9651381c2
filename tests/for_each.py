"""Tests of many similar cases in a single test, because Pytest needs longer for a test than most of these cases."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def for_each(names: Iterable[str], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like `@pytest.mark.parametrize(names, cases)`, but all cases are one test, which lists all that fail.

    Each case is a `pytest.param` with an id. Fixtures are the same for all cases.
    """
    names, cases = list(names), list(cases)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def run(**fixtures: Any) -> None:
            failed = []
            for case in cases:
                try:
                    test(**dict(zip(names, case.values, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(case.id)
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(cases)} cases", failed)

        parameters = inspect.signature(test).parameters
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [parameter for name, parameter in parameters.items() if name not in names]
        )
        run.__name__, run.__qualname__, run.__doc__ = test.__name__, test.__qualname__, test.__doc__
        run.__module__ = test.__module__
        return run

    return decorate
