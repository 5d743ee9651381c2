"""`login`, `logout` and `whoami`: the access token that stands for you."""

import argparse
import sys
from getpass import getpass

from agon import credentials
from agon.commands import declare, note, portal_of, show, table
from agon.errors import NotSignedIn
from agon.portal import Portal


def add_options(parser: argparse.ArgumentParser, command: str) -> None:
    """What the command takes."""
    if command == "login":
        parser.add_argument("address", nargs="?", metavar="URL", help="the portal (default: AGON_URL)")
    declare(parser, {"login": login, "logout": logout, "whoami": whoami}[command])


def login(options: argparse.Namespace) -> int:
    """Ask for a token, verify it, keep it."""
    address = credentials.portal_address(options.address or options.portal)
    if sys.stdin.isatty():
        note(f"Create a token with the scope “submit”: {address}/settings/tokens/")
        token = getpass("Token (not shown): ", sys.stderr).strip()
    else:
        token = sys.stdin.readline().strip()
    if not token:
        raise NotSignedIn("No token was given.")
    me = Portal(address, token).me()
    place = credentials.keep(address, token)
    if not options.quiet:
        note(f"Signed in to {address} as {me.name}. The token is kept in {place}.")
        if credentials.token_for(address) != token:
            note("AGON_TOKEN holds another token, which counts as long as it is set.")
    return 0


def logout(options: argparse.Namespace) -> int:
    """Delete the token here; on the portal it stays valid."""
    address = credentials.portal_address(options.portal)
    credentials.forget(address)
    if not options.quiet:
        note(f"The token is deleted from this computer. To revoke it: {address}/settings/tokens/")
    return 0


def whoami(options: argparse.Namespace) -> int:
    """Print whose token it is."""
    portal = portal_of(options)
    me = portal.me()

    def text() -> str:
        until = f"valid until {me.token.expires_at:%Y-%m-%d}"
        only = f", for {me.token.task} only" if me.token.task else ""
        lines = [f"{me.name} <{me.email}> on {portal.address}"]
        lines += [f"Token {me.token.name}: scope {me.token.scope}{only}, {until}"]
        if me.teams:
            lines += ["", table(["task", "team", "state"], [(one.task, one.team, one.state) for one in me.teams])]
        return "\n".join(lines)

    show(options, me, text)
    return 0
