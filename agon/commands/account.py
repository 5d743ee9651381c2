"""`login`, `logout` and `whoami`: the access token for your account."""

import argparse
import os
import sys
import webbrowser
from getpass import getpass

from agon import credentials
from agon.commands import declare, note, portal_of, show, table
from agon.device_login import Codes, sign_in
from agon.errors import NotSignedIn
from agon.portal import Portal

SCOPES = ("read", "submit", "organize")


def add_options(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "login":
        parser.add_argument("address", nargs="?", metavar="URL", help="portal to sign in to (default: AGON_URL)")
        parser.add_argument("--scope", choices=SCOPES, default="submit", help="scope of the token (default: submit)")
        parser.add_argument(
            "-t", "--task", dest="slug", default="", metavar="TASK", help="limit the token to this task"
        )
        parser.add_argument(
            "--with-token", action="store_true", help="read an existing access token from the prompt or standard input"
        )
        parser.add_argument("--no-browser", action="store_true", help="print the link without opening a browser")
    declare(parser, {"login": login, "logout": logout, "whoami": whoami}[command])


def login(options: argparse.Namespace) -> int:
    """Verify and store a token that a person allows in a browser or passes to the command."""
    address = credentials.portal_address(options.address or options.portal)
    if sys.stdin.isatty() and not options.with_token:
        token = sign_in(address, options.scope, options.slug, lambda codes: _show(codes, opens=not options.no_browser))
    elif sys.stdin.isatty():
        only = f" for the task {options.slug}" if options.slug else ""
        note(f"Create a token with the “{options.scope}” scope{only}: {address}/settings/tokens/")
        token = getpass("Token (hidden): ", sys.stderr).strip()
    else:
        token = sys.stdin.readline().strip()
    if not token:
        why = (
            "No token was given."
            if sys.stdin.isatty()
            else "Without a terminal, “agon login” reads an access token from standard input, which was empty. "
            "Run it in a terminal to sign in with your browser."
        )
        raise NotSignedIn(
            f"{why} Create a token at {address}/settings/tokens/ and pass it through standard input "
            '(echo "$TOKEN" | agon login --with-token), or set AGON_TOKEN instead.'
        )
    me = Portal(address, token).me()
    place = credentials.keep(address, token)
    if not options.quiet:
        note(f"Signed in to {address} as {me.name}. The token is stored in {place}.")
        if credentials.token_for(address) != token:
            note("The environment variable AGON_TOKEN contains a different token, which takes precedence.")
    return 0


def _show(codes: Codes, *, opens: bool) -> None:
    """Show the code and the link, and open the link if there is a browser."""
    link = codes.verification_uri_complete or codes.verification_uri
    note(f"Your code: {codes.user_code}\nAllow the login in your browser: {link}")
    if opens and _has_desktop() and link.startswith(("https://", "http://")):
        webbrowser.open(link)


def _has_desktop() -> bool:
    """Return whether a browser would open its own window instead of using this terminal."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def logout(options: argparse.Namespace) -> int:
    """Delete the token on this computer. On the portal, it remains valid."""
    address = credentials.portal_address(options.portal)
    credentials.forget(address)
    if not options.quiet:
        note(f"The token was deleted from this computer. To revoke it, visit {address}/settings/tokens/")
    return 0


def whoami(options: argparse.Namespace) -> int:
    """Print the token's owner."""
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
