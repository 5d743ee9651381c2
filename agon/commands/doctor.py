"""`doctor`: find problems that keep you from submitting, and how to fix them."""

import argparse
import os
import platform
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TypeVar

from agon import credentials
from agon.answer import Answer
from agon.commands import declare, show
from agon.connection import Connection
from agon.errors import AgonError
from agon.portal import Portal
from agon.version import HEADER, is_old, version

Kind = TypeVar("Kind")

_CLOCK_OFF = 60  # differences of up to this many seconds are ignored
_SOON = timedelta(days=7)


class Finding(Answer, frozen=True, kw_only=True):
    check: str
    ok: bool
    detail: str


def add_options(parser: argparse.ArgumentParser, _command: str) -> None:
    declare(parser, run)


def run(options: argparse.Namespace) -> int:
    """Print all findings. Return 1 if something must be fixed."""
    found = list(_findings(options.portal))
    lines = [f"{'ok' if one.ok else 'FIX':3}  {one.check}: {one.detail}" for one in found]
    show(options, found, lambda: "\n".join(lines))
    return 0 if all(one.ok for one in found) else AgonError.exit_code


def _findings(given: str | None) -> Iterator[Finding]:
    python = f"Python {platform.python_version()} on {platform.system()}"
    yield Finding(check="version", ok=True, detail=f"agon {version() or 'from a checkout'}, {python}")
    try:
        address = credentials.portal_address(given)
        connection = Connection(address, None)
        answer = connection.ask("GET", "/tasks", query={"limit": 1})
    except AgonError as error:
        yield Finding(check="portal", ok=False, detail=str(error))
        return
    theirs = answer.headers.get(HEADER, "")
    fits = f"It has {f'agon {theirs}' if theirs else 'an unknown version of agon'}."
    if is_old(theirs):
        fits += f" Install the matching version: {address}/client/"
    yield Finding(check="portal", ok=not is_old(theirs), detail=f"{address} is available. {fits}")
    yield _clock(answer.headers.get("Date", ""), datetime.now(UTC))
    yield from _account(address, datetime.now(UTC))


def _clock(date: str, now: datetime) -> Finding:
    """Compare this computer's clock with the portal's, which decides deadlines."""
    try:
        offset = (now - parsedate_to_datetime(date)).total_seconds()
    except ValueError:
        return Finding(check="clock", ok=True, detail="The portal did not report the time.")
    if abs(offset) <= _CLOCK_OFF:
        return Finding(check="clock", ok=True, detail="Your clock and the portal’s clock agree.")
    way = "ahead of" if offset > 0 else "behind"
    why = f"Your clock is {abs(offset):.0f} seconds {way} the portal’s clock."
    return Finding(check="clock", ok=False, detail=f"{why} Deadlines follow the portal’s clock, so correct your clock.")


def _account(address: str, now: datetime) -> Iterator[Finding]:
    kept = _asked("token", lambda: credentials.kept_token(address))
    if isinstance(kept, Finding):
        yield kept
        return
    if kept is None:
        yield Finding(check="token", ok=False, detail="No token found. Sign in with “agon login”.")
        return
    portal = Portal(address, kept.text)
    me = _asked("token", portal.me)
    if isinstance(me, Finding):
        yield Finding(check="token", ok=False, detail=f"Stored in {kept.place}. {me.detail}")
        return
    ends = me.token.expires_at
    detail = (
        f"Stored in {kept.place}. It belongs to {me.name}, has the {me.token.scope} scope and is valid until "
        f"{ends:%Y-%m-%d}."
    )
    fix = " Renew it with “agon login”." if ends - now < _SOON else ""
    if not fix and kept.is_readable_by_others:
        fix = f" Others can read the file. Run: chmod 600 {kept.place}"
    yield Finding(check="token", ok=not fix, detail=detail + fix)
    yield _default_task(portal)


def _default_task(portal: Portal) -> Finding:
    name, finding = os.environ.get("AGON_TASK"), partial(Finding, check="default task")
    if not name:
        return finding(ok=True, detail="Not set. To set a default task, use AGON_TASK. “agon tasks” lists all tasks.")
    task = _asked("default task", lambda: portal.task(name))
    if isinstance(task, Finding):
        return finding(ok=False, detail=f"AGON_TASK is {name}. {task.detail}")
    page = f"{portal.address}/tasks/{name}"
    if not task.your_team:
        return finding(ok=False, detail=f"{name}. Create a team or join one (“agon team --help”): {page}/team/")
    if task.has_agreement and not portal.agreement(name).is_signed:
        return finding(ok=False, detail=f"{name}. Sign the data agreement (“agon sign --help”): {page}/agreement/")
    return finding(ok=True, detail=f"{name}. Your team is {task.your_team}.")


def _asked(check: str, ask: Callable[[], Kind]) -> Kind | Finding:
    try:
        return ask()
    except AgonError as error:
        return Finding(check=check, ok=False, detail=str(error))
